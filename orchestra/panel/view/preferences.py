"""What a person has set for his runs: kept in a cookie of his browser, and checked each time it comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestra.configuration import Configuration
from orchestra.errors import InputInvalid
from orchestra.settings import RANGES, SUBTASK_TIMEOUT_S

COOKIE = "orchestra-settings"
_LONGEST = 400  # characters of the cookie
_NAMES = ("max_depth", "timeout_s", "retries")


class Preferences(BaseModel):
    """What differs from what is configured; None where nothing does. `timeout_s` are seconds for a node's attempt."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    max_depth: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    is_panel_kept: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """As options of a run."""
        return {name: value for name in _NAMES if (value := getattr(self, name)) is not None}

    def cookie(self) -> str:
        return quote(self.model_dump_json(exclude_none=True), safe="")


@dataclass(frozen=True, slots=True)
class Default:
    """What holds where nothing is set. `source` says where that comes from."""

    value: float
    source: str


def read_preferences(cookie: str | None) -> Preferences:
    """What a cookie says; what is none of ours, or out of range, says nothing."""
    if not cookie or len(cookie) > _LONGEST:
        return Preferences()
    try:
        preferences = Preferences.model_validate_json(unquote(cookie))
        for name, value in preferences.options.items():
            RANGES[name].check(name, value)
    except (ValidationError, InputInvalid, ValueError):
        return Preferences()
    return preferences


def defaults_of(configuration: Configuration) -> dict[str, Default]:
    """By setting: what is configured, and where."""
    found: dict[str, Default] = {}
    for name in _NAMES:
        value = configuration.values[name]
        number = SUBTASK_TIMEOUT_S if value.value is None else value.value
        source = "the default" if value.source == "default" else f"set in {value.place}"
        found[name] = Default(number, source)
    return found


def preferences_of_form(form: Mapping[str, str], defaults: Mapping[str, Default]) -> Preferences:
    """What a form sets; what is left empty, or as it is configured, is not set. Raises `InputInvalid`."""
    values: dict[str, Any] = {}
    for name, words in (("max_depth", "Max call depth"), ("timeout_s", "Node timeout"), ("retries", "Retries")):
        text = form.get(name, "").strip()
        if not text:
            continue
        number = _number(text, words, is_whole=name != "timeout_s")
        if not RANGES[name].holds(number):
            raise InputInvalid(f"{words} is {text[:40]}", cause=f"it is {RANGES[name].words.removesuffix(', or None')}")
        if number != defaults[name].value:
            values[name] = number
    return Preferences(**values, is_panel_kept=form.get("is_panel_kept") == "yes")


def _number(text: str, words: str, *, is_whole: bool) -> float:
    try:
        return int(text) if is_whole else float(text)
    except ValueError:
        kind = "whole number" if is_whole else "number"
        raise InputInvalid(f"{words} is {text[:40]!r}", cause=f"it is a {kind}") from None
