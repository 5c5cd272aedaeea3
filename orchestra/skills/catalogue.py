"""What a planner is shown of a library: everything, or what fits the task best where that would be too much."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import SHIPPED

CATALOGUE_TOKENS = 1_500

_AROUND_TOKENS = 6  # of the dash, the colon and the line feed of an entry, and of the catalogue's head


class Shelf:
    """The listed skills of a library in its order. Thread-safe; the search is prepared when it is first needed."""

    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self._listed = tuple(one for one in manifests if one.is_listed and one.layer == "execution" and not one.applies)
        self._lock = threading.Lock()
        self._search = None
        self._chosen: dict[tuple[str, int], tuple[tuple[str, str], ...]] = {}

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        return tuple((one.name, one.description) for one in self._listed)

    def fitting(self, task: str, tokens: int) -> tuple[tuple[str, str], ...]:
        """(name, description) of all skills, or of as many as `tokens` hold.

        Then the shipped ones stay as long as half of the budget holds them, and the rest goes to the best matches for
        the task by name, triggers and description (BM25). What is chosen keeps the library's order: equal input, equal
        bytes.
        """
        key = (task, tokens)
        if key not in self._chosen:
            self._chosen = {key: self._choose(task, tokens)}  # a run asks for the same one several times
        return self._chosen.get(key) or self._choose(task, tokens)

    def _choose(self, task: str, tokens: int) -> tuple[tuple[str, str], ...]:
        if self._fits(tokens):
            return self.all
        chosen: set[int] = set()
        left = tokens - _AROUND_TOKENS
        shipped = [row for row, one in enumerate(self._listed) if one.source == SHIPPED]
        needed = sum(map(self._cost, shipped))
        if needed <= tokens // 2:
            chosen.update(shipped)
            left -= needed
        for row in (*self._matches(task), *range(len(self._listed))):
            if row in chosen:
                continue
            cost = self._cost(row)
            if cost <= left:
                chosen.add(row)
                left -= cost
            if left < 2 * _AROUND_TOKENS:
                break
        return tuple((self._listed[row].name, self._listed[row].description) for row in sorted(chosen))

    def _fits(self, tokens: int) -> bool:
        """Bytes are never fewer than tokens, so most libraries need no count."""
        if sum(len(name.encode()) + len(text.encode()) + _AROUND_TOKENS for name, text in self.all) <= tokens:
            return True
        left = tokens - _AROUND_TOKENS
        for row in range(len(self._listed)):
            left -= self._cost(row)
            if left < 0:
                return False
        return True

    def _cost(self, row: int) -> int:
        from orchestra.document import count_tokens

        one = self._listed[row]
        return count_tokens(f"- {one.name}: {one.description}\n")

    def _matches(self, task: str) -> list[int]:
        with self._lock:
            if self._search is None:
                from orchestra.document.search import LexicalIndex

                self._search = LexicalIndex(
                    (f"{one.name} {' '.join(one.triggers)}", one.description) for one in self._listed
                )
            return [hit.row for hit in self._search.search(task, limit=len(self._listed))]
