"""`orchestra resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from orchestra.cli.group import debug_option
from orchestra.cli.json_log import log_option, logged_as_json
from orchestra.cli.options import config_option, is_discovering, json_option, load_skills, model_options, skills_option
from orchestra.cli.outcome import check_output, output_option, quiet_option, tell
from orchestra.cli.progress import progress
from orchestra.cli.prompting import approve_option, prompting
from orchestra.cli.store_choice import open_store, store_option
from orchestra.cli.tools import load_tools, tool_option


@click.command(epilog="\b\nExamples:\n  orchestra resume 3f9a1c\n  orchestra resume 3f9a1c --json > result.json")
@click.argument("run_id", metavar="RUN")
@model_options
@skills_option
@tool_option
@store_option
@config_option
@approve_option
@json_option
@output_option
@log_option
@quiet_option
@debug_option
def resume(
    run_id: str,
    skill_folders: tuple[Path, ...],
    tool_names: tuple[str, ...],
    store: str | None,
    config: Path | None,
    approve: str,
    is_json: bool,
    output: Path | None,
    log_place: str | None,
    quiet: bool,
    **models: Any,
) -> int:
    """Go on with a run that was interrupted, waits, or has failed in part.

    RUN is its id or the beginning of it. What is finished is taken from the
    store and not paid for again; documents, task and settings are the run's.
    Give the tools that are Python functions again. Exit codes as of `run`.
    """
    check_output(output)
    library = load_skills(skill_folders, is_quiet=quiet) if skill_folders or is_discovering() else None
    tools = load_tools(tool_names)

    from orchestra.pipeline import resume as go_on

    is_quiet = quiet or log_place == "-"  # lines of JSON only
    with (
        open_store(store, config) as opened,
        logged_as_json(log_place),
        progress(is_quiet=is_quiet) as shown,
        prompting(shown, approve) as (listener, on_approval),
    ):
        result = go_on(
            run_id,
            store=opened,
            skills=library,
            tools=tools,
            on_event=listener,
            on_approval=on_approval,
            config=config,
            **models,
        )
    return tell(result, is_json=is_json, output=output, is_quiet=is_quiet)
