"""A journal in memory, for runs that go on in the same process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestra.run.journal import EffectKey, EffectRecord, Ledger


class MemoryJournal(Ledger):
    """What a store would hold of one run. `resumed` is the journal that the next process has."""

    def __init__(self, records: Mapping[EffectKey, EffectRecord] | None = None) -> None:
        super().__init__(records)
        self.records: dict[EffectKey, EffectRecord] = dict(records or {})

    def resumed(self) -> MemoryJournal:
        return MemoryJournal(self.records)

    def begin(self, key: EffectKey) -> None:
        self.records[key] = EffectRecord(None)

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        self.records[key] = EffectRecord(payload)

    def abandon(self, key: EffectKey) -> None:
        self.records.pop(key, None)
