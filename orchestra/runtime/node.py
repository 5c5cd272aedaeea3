"""A node: one unit of work in a run's call graph."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from orchestra.errors import OrchestraError
from orchestra.models.protocol import Usage


class Status(StrEnum):
    """`routing` until work on it starts; the last three are final."""

    ROUTING = "routing"
    EXECUTING = "executing"
    WAITING_USER = "waiting_user"
    CONFIRM_REQUIRED = "confirm_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
WAITING = frozenset({Status.WAITING_USER, Status.CONFIRM_REQUIRED})
"""A person is asked."""


@dataclass(slots=True)
class Node:
    """`id` is a path that is the same in every run of the same plan, such as `run/subtask-2`.

    `attempt` counts the tries of the call under way, `earlier_attempts` those of the calls before it, and
    `failed_attempts` those of all its calls that came to nothing, which `max_attempts` caps. `permissions`
    is what it may do, as the `permission_snapshot` of its events.
    """

    id: str
    kind: str
    parent: Node | None = None
    skill: str = ""
    title: str = ""
    status: Status = Status.ROUTING
    attempt: int = 1
    earlier_attempts: int = 0
    failed_attempts: int = 0
    usage: Usage | None = None
    error: OrchestraError | None = None
    permissions: Mapping[str, Any] | None = None
    started_at: float | None = None
    duration_ms: float | None = None
    _clock: float = field(default=0.0, repr=False)

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    def child(self, name: str, kind: str, *, skill: str = "", title: str = "") -> Node:
        return Node(
            id=f"{self.id}/{name}", kind=kind, parent=self, skill=skill, title=title, permissions=self.permissions
        )

    def start(self, started_at: float | None = None, clock: float | None = None) -> None:
        """Now, or at the given readings of `time.time` and `time.monotonic`."""
        self.status = Status.EXECUTING
        self.started_at = time.time() if started_at is None else started_at
        self._clock = time.monotonic() if clock is None else clock

    def end(self, status: Status, error: OrchestraError | None = None) -> None:
        self.status = status
        self.error = error
        if self.started_at is not None:
            self.duration_ms = round((time.monotonic() - self._clock) * 1000, 3)

    def snapshot(self) -> dict[str, Any]:
        """The fields of a `NodeEvent`."""
        usage = self.usage
        return {
            "node_id": self.id,
            "parent_node_id": self.parent.id if self.parent else None,
            "kind": self.kind,
            "skill_name": self.skill,
            "title": self.title,
            "depth": self.depth,
            "status": self.status.value,
            "attempt": self.attempt,
            "timing": {"started_at": self.started_at, "duration_ms": self.duration_ms},
            "usage": None
            if usage is None
            else {
                "input_tokens": usage.input_tokens,
                "cached_input_tokens": usage.cached_input_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
                "output_tokens": usage.output_tokens,
                "is_estimated": usage.is_estimated,
            },
            "error": self.error.to_dict() if self.error else None,
            "permission_snapshot": self.permissions,
        }
