"""What servers turned out to lack, so that each is asked in vain once only."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orchestra.errors import ModelBadRequest

JSON_SCHEMA = "json_schema"
_ABOUT_A_VALUE = re.compile(r"too (large|big|high)|at most|exceed|greater than|less than|m(ax|in)imum value", re.I)
_ABOUT_ONE_SCHEMA = re.compile(
    r"invalid schema|format\.schema|json_schema\.schema|schema is too|recursi|in context=", re.I
)


@dataclass(frozen=True, slots=True)
class Trait:
    """A feature that not every server has: the field of the body that asks for it, and how refusals name it.

    `kind` is the field's "type" where one field asks for different features. A field that is always there,
    like `messages`, does not name the feature: `is_own_field` is False.
    """

    feature: str
    field: str
    named_by: re.Pattern[str]
    kind: str = ""
    is_own_field: bool = True

    def is_used_by(self, body: Mapping[str, Any]) -> bool:
        value = body.get(self.field)
        return value is not None and (not self.kind or value.get("type") == self.kind)


class Capabilities:
    """A memory of refused features per (base URL, model). Thread-safe; reading takes no lock."""

    def __init__(self) -> None:
        self._lacking: dict[tuple[str, str], frozenset[str]] = {}
        self._lock = threading.Lock()

    def lacking(self, base_url: str, model: str) -> frozenset[str]:
        return self._lacking.get((base_url, model), frozenset())

    def learn(self, base_url: str, model: str, feature: str) -> None:
        """`feature` was refused: later requests leave it out."""
        with self._lock:
            self._lacking[base_url, model] = self.lacking(base_url, model) | {feature}


def refused_feature(
    error: ModelBadRequest, body: Mapping[str, Any], traits: Iterable[Trait], schema: Mapping[str, Any] | None
) -> str | None:
    """Which of the traits that `body` uses the server refused with status 400 or 422; None for another complaint."""
    if error.details.get("status") not in (400, 422):
        return None
    param, words = str(error.details.get("provider_param", "")), error.cause
    sent = [trait for trait in traits if trait.is_used_by(body)]
    by_param = [trait for trait in sent if trait.is_own_field and trait.field == param.partition(".")[0]]
    for trait in by_param or [trait for trait in sent if trait.named_by.search(words)]:
        if trait.field.startswith("max_") and _ABOUT_A_VALUE.search(words):
            return None
        if trait.feature == JSON_SCHEMA and schema is not None and _ABOUT_ONE_SCHEMA.search(words):
            return for_schema(schema)
        return trait.feature
    return None


def for_schema(schema: Mapping[str, Any]) -> str:
    """The feature of holding a model to this very schema: one that a server refuses says nothing about others."""
    digest = hashlib.sha256(json.dumps(schema, sort_keys=True, default=str).encode()).hexdigest()
    return f"{JSON_SCHEMA}:{digest[:16]}"
