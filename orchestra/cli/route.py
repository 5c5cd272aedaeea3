"""`orchestra route`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from orchestra.cli.group import debug_option
from orchestra.cli.json_log import log_option, logged_as_json
from orchestra.cli.options import (
    config_option,
    given,
    json_option,
    load_skills,
    mode_option,
    model_options,
    skills_option,
    timeout_option,
)
from orchestra.cli.outcome import check_output, output_option, quiet_option, tell
from orchestra.cli.progress import progress
from orchestra.cli.prompting import approve_option, prompting
from orchestra.cli.store_choice import no_store_option, store_option, store_place
from orchestra.cli.tools import load_tools, tool_option


@click.command(
    epilog="\b\nExamples:\n"
    '  orchestra route "Organize my inbox and reply to urgent mail" mailbox.md\n'
    '  orchestra route "Review this" report.md --skills my_skills --json',
)
@click.argument("query")
@click.argument("documents", nargs=-1, metavar="[DOC]...", type=click.Path(path_type=Path))
@model_options
@skills_option
@tool_option
@mode_option
@click.option("--max-depth", type=click.IntRange(2, 8), default=4, metavar="N", show_default=True, help="Of skills.")
@timeout_option
@store_option
@no_store_option
@click.option("--session", "session_id", default="", metavar="ID", help="The run belongs to this session.")
@config_option
@approve_option
@json_option
@output_option
@log_option
@quiet_option
@debug_option
def route(
    query: str,
    documents: tuple[Path, ...],
    skill_folders: tuple[Path, ...],
    tool_names: tuple[str, ...],
    store: str | None,
    is_unkept: bool,
    session_id: str,
    config: Path | None,
    is_json: bool,
    output: Path | None,
    log_place: str | None,
    quiet: bool,
    approve: str,
    **choices: Any,
) -> int:
    """Do QUERY by trees of skills, over documents if there are any.

    Code decides which skills, steps and values, and a model where it cannot.
    With --skills those are chosen from, else the shipped ones. Exit codes as
    of `run`.
    """
    check_output(output)
    library = load_skills(skill_folders, is_quiet=quiet)
    tools = load_tools(tool_names)

    from orchestra.pipeline import route as route_query

    is_quiet = quiet or log_place == "-"  # lines of JSON only
    with (
        logged_as_json(log_place),
        progress(is_quiet=is_quiet) as shown,
        prompting(shown, approve) as (listener, on_approval),
    ):
        result = route_query(
            query,
            library,
            context=list(documents) or None,
            on_event=listener,
            on_approval=on_approval,
            tools=tools,
            config=config,
            store=False if is_unkept else store_place(store, config),
            session_id=session_id,
            **given(choices),
        )
    return tell(result, is_json=is_json, output=output, is_quiet=is_quiet)
