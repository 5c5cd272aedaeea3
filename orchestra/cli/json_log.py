"""`--log-json`: what happens in a run, a JSON object per line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import click

from orchestra.cli.terminal import say

log_option = click.option(
    "--log-json",
    "log_place",
    metavar="FILE",
    help="Append what happens to FILE, as lines of JSON without any text of the documents; - for standard error.",
)
_LOG = logging.getLogger("orchestra")


@contextmanager
def logged_as_json(place: str | None) -> Iterator[None]:
    """Log to the file `place` as long as this lasts; "-" is standard error, None nowhere."""
    if place is None:
        yield
    elif place == "-":
        with _logged_to(sys.stderr):
            yield
    else:
        stream = open(place, "a", encoding="utf-8")  # noqa: SIM115 - closed below, where a full disk is no news
        try:
            with _logged_to(stream):
                yield
        finally:
            with suppress(OSError):  # it was told when the line could not be written
                stream.close()


@contextmanager
def _logged_to(stream: TextIO) -> Iterator[None]:
    from orchestra.runtime.logs import JsonFormatter

    handler = _Lines(stream)
    handler.setFormatter(JsonFormatter())
    level = _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.setLevel(level)
        _LOG.removeHandler(handler)


class _Lines(logging.StreamHandler[TextIO]):
    """Ends with the first line that cannot be written: the run matters more than its log."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        _LOG.removeHandler(self)
        say(f"warning: the log is not written any more: {sys.exc_info()[1]}")
