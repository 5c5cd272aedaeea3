"""`orchestra run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from orchestra.cli.cache_option import BareCache, CacheAge
from orchestra.cli.group import debug_option
from orchestra.cli.json_log import log_option, logged_as_json
from orchestra.cli.options import (
    config_option,
    documents_and_task,
    given,
    json_option,
    load_skills,
    mode_option,
    model_options,
    on_unresolved_option,
    skills_option,
    split_task,
    strategy_options,
    timeout_option,
)
from orchestra.cli.outcome import check_output, output_option, quiet_option, tell
from orchestra.cli.progress import progress
from orchestra.cli.prompting import approve_option, prompting
from orchestra.cli.store_choice import no_store_option, store_option, store_place
from orchestra.cli.tools import load_tools, tool_option


@click.command(
    cls=BareCache,
    epilog="\b\nExamples:\n"
    '  orchestra run report.md "Who audits the company, and what drove the margin?"\n'
    '  cat notes.txt | orchestra run - "What is missing?" --model ollama:llama3.2',
)
@documents_and_task
@model_options
@skills_option
@tool_option
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Use this plan (JSON) and ask no planner.",
)
@strategy_options
@mode_option
@on_unresolved_option
@click.option(
    "--answer-schema",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="A JSON schema that the answer's data must fit.",
)
@click.option(
    "--max-workers",
    type=click.IntRange(1),
    default=5,
    metavar="N",
    show_default=True,
    help="Calls under way at a time.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=2048,
    metavar="N",
    show_default=True,
    help="Longest reply to a subtask.",
)
@click.option(
    "--synthesis-max-tokens",
    type=click.IntRange(1),
    default=4096,
    metavar="N",
    show_default=True,
    help="Longest answer.",
)
@click.option(
    "--max-followups",
    type=click.IntRange(0, 3),
    default=1,
    metavar="N",
    show_default=True,
    help="How often a subtask whose slice lacks its answer is asked over more.",
)
@click.option(
    "--max-tokens-total",
    type=click.IntRange(1),
    metavar="N",
    help="No call that would pass this many tokens in all is made.",
)
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(0),
    metavar="USD",
    help="No call that would pass this price in all is made.",
)
@timeout_option
@click.option(
    "--retries",
    type=click.IntRange(0, 2),
    default=0,
    metavar="N",
    show_default=True,
    help="How often a subtask that failed is done again.",
)
@click.option(
    "--max-depth",
    type=click.IntRange(2, 8),
    default=4,
    metavar="N",
    show_default=True,
    help="How deep skills may call skills.",
)
@store_option
@no_store_option
@click.option(
    "--cache",
    type=CacheAge(),
    metavar="[=SECONDS]",
    help="Use replies of earlier runs again, where the same is asked; none older than SECONDS.",
)
@click.option(
    "--session",
    "session_id",
    default="",
    metavar="ID",
    help="What was asked and answered in this session goes along; the run belongs to it.",
)
@config_option
@approve_option
@json_option
@output_option
@log_option
@quiet_option
@debug_option
def run(
    words: tuple[str, ...],
    skill_folders: tuple[Path, ...],
    tool_names: tuple[str, ...],
    answer_schema: Any,
    store: str | None,
    is_unkept: bool,
    cache: bool | float | None,
    session_id: str,
    config: Path | None,
    is_json: bool,
    output: Path | None,
    log_place: str | None,
    quiet: bool,
    approve: str,
    **choices: Any,
) -> int:
    """Answer TASK over one or more documents.

    The last argument is the task. DOC is a text, markdown, PDF, DOCX or HTML
    file, or - for standard input. Exit codes: 0 completed, 1 failed, 2 usage,
    3 partial (something is missing, and the answer says what), 4 waiting (for
    a person: `orchestra approve` answers, `orchestra resume` goes on).
    """
    paths, task = split_task(words)
    schema = _schema(answer_schema)
    check_output(output)
    if is_unkept and (store is not None or cache is not None):
        raise click.UsageError("--no-store excludes --store and --cache")
    library = load_skills(skill_folders, is_quiet=quiet)
    tools = load_tools(tool_names)

    from orchestra.pipeline import orchestrate

    quiet = quiet or log_place == "-"  # lines of JSON only
    with (
        logged_as_json(log_place),
        progress(is_quiet=quiet) as shown,
        prompting(shown, approve) as (listener, on_approval),
    ):
        result = orchestrate(
            paths,
            task,
            library,
            answer_schema=schema,
            on_event=listener,
            on_approval=on_approval,
            tools=tools,
            config=config,
            store=False if is_unkept else store_place(store, config),
            cache=False if cache is None else cache,
            session_id=session_id,
            **given(choices),
        )
    return tell(result, is_json=is_json, output=output, is_quiet=quiet)


def _schema(file: Any) -> dict[str, Any] | None:
    if file is None:
        return None
    try:
        schema = json.load(file)
    except ValueError as error:
        raise click.UsageError(f"{file.name} is not JSON: {error}") from error
    if not isinstance(schema, dict):
        raise click.UsageError(f"{file.name} holds no JSON object, as a schema is")
    return schema
