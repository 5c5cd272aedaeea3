"""What reaches a terminal. Names, documents and models' texts are untrusted: a terminal must not obey them."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import click

# ESC sequences whole, so that no "[31m" is left behind; then other controls but tab and line feed, then bidi overrides
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` without anything that a terminal would obey; tabs and line feeds stay."""
    return _SEQUENCE.sub("", text.replace("\r\n", "\n"))


def print_answer(text: str, *, end: str = "\n") -> None:
    """Standard output: as it is into a pipe or a file, cleaned on a terminal."""
    click.echo((clean(text) if sys.stdout.isatty() else text) + end, nl=False)


def as_json(value: Any) -> str:
    """Indented JSON; controls are escaped, so that it is valid and safe wherever it is shown."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str = "") -> None:
    """Standard error, always cleaned."""
    click.echo(clean(text), err=True)


def say_error(what: str, suggestion: str) -> None:
    """An error in two lines: what happened, what to do."""
    say(f"orchestra: {one_line(what)}")
    say(f"  {one_line(suggestion)}")


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns, the second wrapped to the terminal's width."""
    import shutil

    formatter = click.HelpFormatter(width=min(shutil.get_terminal_size().columns, 120))
    formatter.write_dl(rows, col_max=40)
    return formatter.getvalue().rstrip("\n")
