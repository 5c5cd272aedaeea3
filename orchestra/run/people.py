"""What a run knows of the people it asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from orchestra.result import WaitingFor
from orchestra.runtime.questions import OnApproval
from orchestra.runtime.scheduler import Milestone

if TYPE_CHECKING:
    from orchestra.store import ApprovalRecord


class ApprovalStore(Protocol):
    """What is needed of a store to be answered later, in another process. From any thread."""

    def ask(self, record: ApprovalRecord, /) -> None:
        """Keep a question as open. One that is there already, answered or not, stays as it is."""
        ...

    def answer(
        self,
        run_id: str,
        node_id: str,
        digest: str,
        *,
        outcome: Any,
        edited: Mapping[str, Any] | None = None,
        reason: str = "",
        text: str = "",
    ) -> bool:
        """Keep the answer to an open question; False when somebody else answered first."""
        ...

    def approvals(self, run_id: str, status: Any = None) -> Sequence[ApprovalRecord]: ...


@dataclass(slots=True)
class People:
    """Who answers (`on_approval`), where questions are kept that nobody answers yet, and which those are.

    Unless `on_approval` is `AtOnce` one person is asked at a time: `turn` is reached when he has answered. `used` holds
    (node id, digest) of the answers that were used, or told to be stale, in this process.
    """

    on_approval: OnApproval | None = None
    store: ApprovalStore | None = None
    turn: Milestone | None = None
    waiting: list[WaitingFor] = field(default_factory=list[WaitingFor])
    used: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
