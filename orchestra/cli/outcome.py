"""How a command ends that has answered a task: what it prints, where, and its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestra.cli.group import FAILED, INTERRUPTED, PARTIAL, WAITING
from orchestra.cli.report import answer_text, waiting_text
from orchestra.cli.terminal import as_json, print_answer, say, say_error

if TYPE_CHECKING:
    from orchestra.result import Result

EXIT_CODES = {"completed": 0, "partial": PARTIAL, "failed": FAILED, "waiting": WAITING}

output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write there instead.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")


def check_output(output: Path | None) -> None:
    """Raise a usage error for a file that could not be written in the end."""
    if output and not output.absolute().parent.is_dir():
        raise click.UsageError(f"there is no folder to write {str(output)!r} in")


def tell(result: Result, *, is_json: bool, output: Path | None, is_quiet: bool) -> int:
    """Print the answer, and on standard error what failed or waits, and the run in a line; the exit code."""
    from orchestra.result.words import capsule, layer_lines

    _print(as_json(result.model_dump(mode="json")) if is_json else answer_text(result), output)
    _say_errors(result)
    if result.waiting:
        say(waiting_text(result, click.get_current_context().params.get("store")))
    if not is_quiet:
        say("\n".join((capsule(result), *layer_lines(result))))
    is_interrupted = any(error.code == "CANCELLED" for error in result.errors)
    return INTERRUPTED if result.status == "failed" and is_interrupted else EXIT_CODES[result.status]


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
