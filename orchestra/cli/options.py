"""Options and arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from orchestra.cli.terminal import say

if TYPE_CHECKING:
    from orchestra.document import DocumentSet
    from orchestra.skills import Diagnostic, SkillLibrary

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "is_json", is_flag=True, help="Print JSON.")


def _remember_discovery(context: click.Context, _: click.Parameter, is_on: bool) -> None:
    context.meta["orchestra.discover"] = is_on


def skills_option(command: F) -> F:
    """`--skills`, and `--discover`, which `load_skills` asks for by itself."""
    discover = click.option(
        "--discover",
        is_flag=True,
        expose_value=False,
        callback=_remember_discovery,
        help="Use skills of .agents/skills and .claude/skills, here and in your home, too.",
    )
    folders = click.option(
        "--skills",
        "skill_folders",
        multiple=True,
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="A skill, or a folder of skills, to use besides the shipped ones. Repeatable.",
    )
    return folders(discover(command))


on_unresolved_option = click.option(
    "--on-unresolved",
    type=click.Choice(["full", "search", "error"]),
    help="When no pointer of a subtask resolves: send everything, the best parts (what `outline` does), or fail it.",
)


def config_here(given: Path | None = None) -> Path | None:
    """The file that was named, else the one of the folder that the command was started in, if it has one."""
    if given is not None or os.environ.get("ORCHESTRA_CONFIG", "").strip():
        return given
    here = Path("orchestra.toml")
    return here if here.exists() else None


def _config_here(_: click.Context, __: click.Parameter, given: Path | None) -> Path | None:
    return config_here(given)


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    callback=_config_here,
    metavar="FILE",
    help="Settings to use instead of those in ./orchestra.toml; `orchestra config` shows them.",
)
timeout_option = click.option(
    "--timeout", "timeout_s", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="For each try of a call."
)
mode_option = click.option(
    "--mode",
    default="eco",
    metavar="MODE",
    show_default=True,
    help="Around the task: eco (gates), standard (enhancements too), deep-work (a reflection too), or yours.",
)
documents_and_task = click.argument("words", nargs=-1, metavar='DOC... "TASK"')


def split_task(words: tuple[str, ...]) -> tuple[list[Path], str]:
    """Documents and the task, which stands last. Raises a usage error when either is missing."""
    if len(words) < 2:
        missing = "document and the task are" if not words else "task is"
        raise click.UsageError(f'the {missing} missing: DOC... "TASK"')
    *documents, task = words
    if not task.strip():
        raise click.UsageError("the task is empty")
    if Path(task).is_file():
        raise click.UsageError(f"the last argument is the task, and {task!r} is a file: the task is missing")
    if documents.count("-") > 1:
        raise click.UsageError("standard input (-) can be read once")
    return [Path(document) for document in documents], task


def strategy_options(command: F) -> F:
    """`--strategy`, and what it rests on."""
    for option in (
        click.option(
            "--document-cached",
            "is_document_cached",
            is_flag=True,
            help="Keep the document in the provider's cache, and count on it: for several tasks in a row.",
        ),
        click.option(
            "--outline-tokens",
            type=click.IntRange(1),
            default=3000,
            metavar="N",
            show_default=True,
            help="Most that the planner reads by `outline`.",
        ),
        click.option(
            "--strategy",
            type=click.Choice(["auto", "direct", "full", "outline"]),
            default="auto",
            show_default=True,
            help="One call, a planner that reads everything, one that reads an outline, or what costs least.",
        ),
    ):
        command = option(command)
    return command


def given(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, not those that stand at a default: these are for the configuration to say."""
    context = click.get_current_context()
    return {
        name: value
        for name, value in choices.items()
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }


def model_options(command: F) -> F:
    """`--model`, and another one for the planner or the synthesis."""
    for name, text in (
        ("--synthesis-model", "For the synthesis only."),
        ("--planner-model", "For the planner only."),
        ("--model", "Such as anthropic:claude-sonnet-5-5; `orchestra models` says what the default is."),
    ):
        command = click.option(name, metavar="NAME", help=text)(command)
    return command


def load_documents(paths: Iterable[Path]) -> DocumentSet:
    from orchestra.document import DocumentSet

    return DocumentSet.of(list(paths))


def is_discovering() -> bool:
    """Whether `--discover` was given to the command that runs."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("orchestra.discover"))


def load_skills(folders: tuple[Path, ...], *, is_quiet: bool = False) -> SkillLibrary:
    """The shipped skills, those that are discovered if that was asked for, and those of `folders` over them.

    What is wrong with these is said on standard error; what was read as it was meant is not.
    """
    from orchestra.skills import SkillLibrary

    if not folders and not is_discovering():
        return SkillLibrary.builtin()
    library = SkillLibrary.discover() if is_discovering() else SkillLibrary()
    if folders:
        library = library.merged(SkillLibrary.from_path(*folders))
    for diagnostic in () if is_quiet else library.diagnostics:
        if diagnostic.severity != "note":
            say(diagnostic_line(diagnostic))
    return SkillLibrary.builtin().merged(library)


def diagnostic_line(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.path}:{diagnostic.line}" if diagnostic.line else diagnostic.path
    return f"{diagnostic.severity}: {where} {diagnostic.message}"
