"""Errors of a record as a viewer is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from orchestra import errors
from orchestra.errors import OrchestraError
from orchestra.panel.view.visible import visible

_LONGEST = 4_000  # characters of one text


@dataclass(frozen=True, slots=True)
class Fault:
    """`meaning` and `causes` are what `orchestra explain` says of the code; empty for a code that is not ours."""

    code: str
    message: str
    cause: str
    suggestion: str
    meaning: str
    causes: str


def fault_of(error: object) -> Fault | None:
    """From the `error` of a node or an event; None where there is none."""
    if not isinstance(error, Mapping) or not error:
        return None
    code = _text(error, "code")
    kind = _kinds().get(code)
    return Fault(
        code,
        _text(error, "message"),
        _text(error, "cause"),
        _text(error, "suggestion") or (kind.default_suggestion if kind else ""),
        " ".join((kind.__doc__ or "").split()) if kind else "",
        kind.causes if kind else "",
    )


def _text(error: Mapping[Any, Any], name: str) -> str:
    return visible(str(error.get(name) or "")[:_LONGEST])


@cache
def _kinds() -> dict[str, type[OrchestraError]]:
    """By code; of those that share one, the first."""
    found: dict[str, type[OrchestraError]] = {}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, OrchestraError):
            found.setdefault(kind.code, kind)
    return found
