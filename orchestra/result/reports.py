"""Errors and notices of a run as data, and the base of everything that a run gives back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from orchestra.errors import OrchestraError


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ErrorReport(Frozen):
    """An error of the tree in `orchestra.errors`, as data."""

    code: str
    message: str
    cause: str = ""
    suggestion: str = ""

    @classmethod
    def of(cls, error: OrchestraError) -> ErrorReport:
        return cls(**error.to_dict())


class Notice(Frozen):
    """Something that was mended, dropped or doubted. `code` is stable."""

    code: str
    message: str
    node_id: str = ""


class WaitingFor(Frozen):
    """A question that nobody has answered yet. An answer is bound to `digest`, the SHA-256 of all that is shown."""

    node_id: str
    kind: Literal["approval", "ask_user", "permission"]
    title: str
    shown: Mapping[str, Any] = {}
    digest: str
