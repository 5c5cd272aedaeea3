"""`orchestra run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.group import FAILED, INTERRUPTED, PARTIAL, WAITING, debug_option
from orchestra.cli.json_log import log_option, logged_as_json
from orchestra.cli.options import (
    config_option,
    documents_and_task,
    given,
    json_option,
    load_documents,
    load_skills,
    model_options,
    on_unresolved_option,
    skills_option,
    split_task,
    strategy_options,
    timeout_option,
)
from orchestra.cli.progress import progress
from orchestra.cli.prompting import approve_option, prompting
from orchestra.cli.report import answer_text, capsule, waiting_text
from orchestra.cli.terminal import as_json, print_answer, say, say_error
from orchestra.cli.tools import load_tools, tool_option

if TYPE_CHECKING:
    from orchestra.result import Result

EXIT_CODES = {"completed": 0, "partial": PARTIAL, "failed": FAILED, "waiting": WAITING}


@click.command(
    epilog="\b\nExamples:\n"
    '  orchestra run report.md "Who audits the company, and what drove the margin?"\n'
    '  cat notes.txt | orchestra run - "What is missing?" --model ollama:llama3.2'
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
@config_option
@approve_option
@json_option
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write there instead.",
)
@log_option
@click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")
@debug_option
def run(
    words: tuple[str, ...],
    skill_folders: tuple[Path, ...],
    tool_names: tuple[str, ...],
    answer_schema: Any,
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
    if output and not output.absolute().parent.is_dir():
        raise click.UsageError(f"there is no folder to write {str(output)!r} in")
    documents = load_documents(paths)
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
            documents,
            task,
            library,
            answer_schema=schema,
            on_event=listener,
            on_approval=on_approval,
            tools=tools,
            config=config,
            **given(choices),
        )
    _print(_rendered(result, is_json=is_json), output)
    _say_errors(result)
    if result.waiting:
        say(waiting_text(result))
    if not quiet:
        say(capsule(result))
    return _exit_code(result)


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


def _rendered(result: Result, *, is_json: bool) -> str:
    return as_json(result.model_dump(mode="json")) if is_json else answer_text(result)


def _print(text: str, output: Path | None) -> None:
    """To `output`, or to standard output; what cannot be written there is printed rather than lost."""
    if output is None:
        if text:
            print_answer(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError:
        print_answer(text)
        raise


def _say_errors(result: Result) -> None:
    of_subtasks = [(f"subtask {subtask.id}: ", subtask.error) for subtask in result.subtasks if subtask.error]
    known = [error for _, error in of_subtasks]
    for prefix, error in (*of_subtasks, *(("", error) for error in result.errors if error not in known)):
        cause = f" ({error.cause})" if error.cause else ""
        say_error(f"{prefix}{error.code}: {error.message}{cause}", error.suggestion)


def _exit_code(result: Result) -> int:
    is_interrupted = any(error.code == "CANCELLED" for error in result.errors)
    return INTERRUPTED if result.status == "failed" and is_interrupted else EXIT_CODES[result.status]
