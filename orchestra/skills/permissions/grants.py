"""One kind of permission: what is allowed, what of it a person is asked for, what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from orchestra.skills.permissions.entries import Entry

E = TypeVar("E", bound=Entry[Any])

Outcome = Literal["allow", "ask", "deny"]
OUTCOMES: tuple[Outcome, ...] = ("deny", "ask", "allow")
"""From the narrowest to the widest."""


@dataclass(frozen=True)
class Grants(Generic[E]):
    """`allowed` None is everything. What is `refused` is not allowed, what is `asked` only if a person says so.

    Always in the one form that says it shortest, so that equal permissions are equal: no entry is covered by another,
    and nothing is asked or refused that is not allowed anyway. Made by `of` and `intersect`.
    """

    allowed: frozenset[E] | None = None
    asked: frozenset[E] = frozenset()
    refused: frozenset[E] = frozenset()

    @classmethod
    def of(cls, allowed: Iterable[E] | None = None, asked: Iterable[E] = (), refused: Iterable[E] = ()) -> Grants[E]:
        asked, refused = frozenset(asked), frozenset(refused)
        if allowed is None:
            return cls(None, asked, refused)
        entries = frozenset(allowed)
        kept = frozenset(
            entry
            for entry in entries
            if not any(each != entry and each.covers(entry) for each in entries)
            and not any(each.takes_all(entry) for each in refused)
        )
        return cls(kept, _concerning(asked, kept), _concerning(refused, kept))

    def outcome(self, what: Any) -> Outcome:
        """Refused beats asked beats allowed; what nothing allows is denied."""
        if self.allowed is not None and not any(entry.allows(what) for entry in self.allowed):
            return "deny"
        if any(entry.refuses(what) for entry in self.refused):
            return "deny"
        return "ask" if any(entry.refuses(what) for entry in self.asked) else "allow"

    def intersect(self, other: Grants[E]) -> Grants[E]:
        """For each thing the narrower outcome of the two."""
        asked, refused = self.asked | other.asked, self.refused | other.refused
        if self.allowed is None or other.allowed is None:
            return Grants.of(other.allowed if self.allowed is None else self.allowed, asked, refused)
        met = (one.meet(another) for one in self.allowed for another in other.allowed)
        return Grants.of((entry for entry in met if entry is not None), asked, refused)

    @property
    def is_nothing(self) -> bool:
        return self.allowed is not None and not self.allowed

    def holds(self, entry: E) -> bool:
        """Whether all that `entry` allows is allowed unasked."""
        is_allowed = self.allowed is None or any(each.covers(entry) for each in self.allowed)
        return is_allowed and not any(each.concerns(entry) for each in self.asked | self.refused)


def _concerning(entries: frozenset[E], allowed: frozenset[E]) -> frozenset[E]:
    return frozenset(entry for entry in entries if any(entry.concerns(each) for each in allowed))
