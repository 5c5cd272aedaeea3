"""The group behind `orchestra`: imports commands on demand, and turns every error into two lines."""

from __future__ import annotations

import errno
import importlib
import io
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from orchestra.cli.ending import leave
from orchestra.cli.terminal import say, say_error
from orchestra.errors import InputInvalid, OrchestraError, RunCancelled, RunWaiting, UnexpectedFailure

FAILED, USAGE, PARTIAL, WAITING, INTERRUPTED = 1, 2, 3, 4, 130
EXIT_WORDS = {
    0: "completed",
    FAILED: "failed",
    USAGE: "called wrongly: an argument, an option or a setting",
    PARTIAL: "partial: something is missing, and the answer says what",
    WAITING: "waiting for a person, who answers with `orchestra approve`",
    INTERRUPTED: "interrupted with nothing finished",
}

F = TypeVar("F", bound=Callable[..., Any])


def debug_option(command: F) -> F:
    """`--debug`, for the group and for each command: an error shows its traceback."""

    def remember(context: click.Context, _: click.Parameter, is_on: bool) -> None:
        context.meta["debug"] = is_on or context.meta.get("debug", False)

    option = click.option(
        "--debug", is_flag=True, expose_value=False, callback=remember, help="Show the traceback of an error."
    )
    return option(command)


class LazyGroup(click.Group):
    """Commands by name as `{"run": ("module:attribute", "Help in one line.")}`.

    A command returns its exit code, or None for 0.
    """

    def __init__(self, *args: Any, entries: Mapping[str, tuple[str, str]], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._entries = dict(entries)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._entries:
            return None
        module, _, attribute = self._entries[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._entries.items()])

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show stops nothing
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except OrchestraError as error:
            return _report(error, ctx)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever read our output has had enough
            _trace(ctx)
            say_error(str(error), "Check the place of the file, its permissions and the space on the disk.")
            return FAILED
        except Exception as error:  # noqa: BLE001 - the last place that can turn a defect into two lines
            return _report(UnexpectedFailure(f"{type(error).__name__}: {error}"), ctx)

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """The program, as the shell calls it; `main` is the same for whoever goes on afterwards."""
        try:
            return self.main(*args, **extra)
        except SystemExit as end:
            leave(end.code)
            raise

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)
        try:
            code = super().main(*args, **{**extra, "prog_name": "orchestra"}, standalone_mode=False)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = USAGE
        except click.ClickException as error:
            _report_usage(error)
            code = error.exit_code
        except click.Abort:
            say("orchestra: interrupted; nothing had finished")
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def _report(error: OrchestraError, context: click.Context) -> int:
    _trace(context)
    if context.meta.get("debug") and error.details.get("raw"):
        say(f"what the model replied:\n{error.details['raw']}")
    cause = f" ({error.cause})" if error.cause else ""
    say_error(f"{error.code}: {error.what}{cause}", error.suggestion)
    return exit_code_of(type(error))


def exit_code_of(error: type[OrchestraError]) -> int:
    """What a command ends with that such an error ends."""
    codes = ((RunCancelled, INTERRUPTED), (RunWaiting, WAITING), (InputInvalid, USAGE))
    return next((code for kind, code in codes if issubclass(error, kind)), FAILED)


def _trace(context: click.Context) -> None:
    if context.meta.get("debug"):
        say(traceback.format_exc().rstrip())


def _report_usage(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "orchestra"
    say_error(error.format_message(), f"`{command} --help` shows how it is called.")
