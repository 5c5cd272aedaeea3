"""What a run has finished and need not do again: model calls, tool results, answers of people.

A finished effect is on record before its result is used. A run without a store has no records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

EffectKind = Literal["model", "tool", "code", "person"]


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Which effect: the same in every process that works on the run. `ordinal` counts equal ones of a node from 1."""

    node_id: str
    kind: EffectKind
    fingerprint: str
    ordinal: int = 1


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """What is on record. `payload` is None where the effect was begun, and nobody saw it end."""

    payload: Mapping[str, Any] | None


class Journal(Protocol):
    """Every method may be called from any thread, and returns after what it says is committed."""

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        """The key of a node's next effect with this fingerprint: asking twice counts as two effects."""
        ...

    def find(self, key: EffectKey) -> EffectRecord | None: ...

    def begin(self, key: EffectKey) -> None:
        """Put on record that the effect starts now."""
        ...

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        """Put on record what came of it, JSON-ready, so that no process does it again."""
        ...

    def abandon(self, key: EffectKey) -> None:
        """It failed, and is known to have: nothing of it needs to be remembered."""
        ...


class NoJournal:
    """For a run without a store."""

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        return EffectKey(node_id, kind, fingerprint)

    def find(self, key: EffectKey) -> EffectRecord | None:
        return None

    def begin(self, key: EffectKey) -> None:
        return None

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        return None

    def abandon(self, key: EffectKey) -> None:
        return None
