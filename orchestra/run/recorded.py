"""What is on record of a run, as a run that is carried out again from it finds it. Nothing is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orchestra.errors import ModelBadRequest, ModelReplyInvalid, OrchestraError
from orchestra.run.journal import EffectKey, EffectKind, EffectRecord, Ledger
from orchestra.runtime.events import CallFailed
from orchestra.runtime.node import Node, Status
from orchestra.runtime.replaying import Outcome

if TYPE_CHECKING:
    from orchestra.store import ApprovalRecord, CallRecord, NodeRecord, Store

_ASKED_OTHERWISE = ("ASKED_ALONE", "TOOLS_NOT_TAKEN")
"""Warnings after which a node asks otherwise: what it had asked at first failed, and has no reply on record."""


class RecordedNodes:
    """What became of the nodes of a run, and of calls that have no reply on record."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._nodes = {node.node_id: node for node in store.nodes(run_id)}
        self._warnings: dict[str, list[str]] = {}
        self._failed: dict[str, frozenset[str]] = {}

    def has_begun(self, node_id: str) -> bool:
        node = self._nodes.get(node_id)
        return node is not None and (node.timing or {}).get("started_at") is not None

    def check(self, node_id: str) -> None:
        """Raise the error of a node that failed."""
        record = self._nodes.get(node_id)
        if record is not None and record.status == Status.FAILED:
            raise _error(record)

    def asked_otherwise(self, node_id: str) -> list[str]:
        """Why a node asked otherwise, in order; whoever takes a reason into account removes it."""
        self._read(node_id)
        return self._warnings[node_id]

    def asked_in_vain(self, node_id: str) -> frozenset[str]:
        """The hashes of the requests of a node that failed."""
        self._read(node_id)
        return self._failed[node_id]

    def _read(self, node_id: str) -> None:
        """What the events of a node tell of its calls."""
        if node_id in self._warnings:
            return
        told = tuple(self._store.node_events(self._run_id, node_id)) if node_id in self._nodes else ()
        self._warnings[node_id] = [event["code"] for event in told if event.get("code") in _ASKED_OTHERWISE]
        failed = (event.get("request_sha256") for event in told if event.get("type") == CallFailed.type)
        self._failed[node_id] = frozenset(hash_ for hash_ in failed if isinstance(hash_, str))

    def came_to(self, node: Node, is_of_model: bool) -> Outcome:
        """What a call came to that has no reply on record: its node's error, or one that the node got over."""
        record = self._nodes.get(node.id)
        if is_of_model and self.asked_otherwise(node.id):
            return Outcome(True, error=_failure(self.asked_otherwise(node.id).pop(0)))
        if record is None or record.status not in (Status.COMPLETED, Status.FAILED):
            return Outcome()
        if record.status == Status.FAILED:
            return Outcome(True, error=_error(record))
        if node.kind == "guarantee" and not is_of_model:  # it held, and what else it said is kept nowhere
            return Outcome(True, value={"ok": True})
        return Outcome(True, error=_failure("it went on without"))


def _failure(reason: str) -> OrchestraError:
    if reason == "TOOLS_NOT_TAKEN":
        return ModelBadRequest("the first request was refused", cause="the model takes no tools", is_retryable=False)
    return ModelReplyInvalid("nothing is on record of this call", cause=reason, is_retryable=False)


def _error(record: NodeRecord) -> OrchestraError:
    told: Mapping[str, Any] = record.error or {}
    code = str(told.get("code") or OrchestraError.code)
    kind = next((kind for kind in _kinds(OrchestraError) if kind.code == code), OrchestraError)
    return kind(str(told.get("message") or ""), cause=str(told.get("cause") or ""), is_retryable=False)


def _kinds(kind: type[OrchestraError]) -> Iterator[type[OrchestraError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


class RecordedEffects:
    """The journal of a run, to be read only.

    A node that does something else than what is on record, as after a change of its skill, gets what it got next in
    its run: what follows can be rebuilt all the same, and is held to its own hash.
    """

    def __init__(self, calls: Sequence[CallRecord], nodes: RecordedNodes) -> None:
        payloads = {EffectKey(call.node_id, call.kind, call.fingerprint, call.ordinal): call.payload for call in calls}
        self._nodes = nodes
        self._ledger = Ledger({key: EffectRecord(payload) for key, payload in payloads.items()})
        self._known = {(key.node_id, key.kind, key.fingerprint) for key in payloads}
        self._unclaimed: dict[tuple[str, EffectKind], list[EffectKey]] = defaultdict(list)
        for key, payload in payloads.items():
            if payload is not None and (key.kind != "code" or "output" in payload):
                self._unclaimed[key.node_id, key.kind].append(key)

    def key(self, node_id: str, kind: EffectKind, fingerprint: str) -> EffectKey:
        key, unclaimed = self._ledger.key(node_id, kind, fingerprint), self._unclaimed[node_id, kind]
        if key in unclaimed:
            unclaimed.remove(key)
        if not unclaimed or self._is_itself(node_id, kind, fingerprint):
            return key
        return unclaimed.pop(0)

    def _is_itself(self, node_id: str, kind: EffectKind, fingerprint: str) -> bool:
        """Whether nothing else may stand for an effect: it is on record, or is known to have no reply there."""
        if (node_id, kind, fingerprint) in self._known or (kind == "model" and self.proves(node_id, fingerprint)):
            return True
        is_of_lessons = kind == "code" and " " in fingerprint
        return is_of_lessons or (kind == "model" and bool(self._nodes.asked_otherwise(node_id)))

    def find(self, key: EffectKey) -> EffectRecord | None:
        record = self._ledger.find(key)
        return None if record is None or record.payload is None else record

    def begin(self, key: EffectKey) -> None:
        return None

    def finish(self, key: EffectKey, payload: Mapping[str, Any]) -> None:
        return None

    def abandon(self, key: EffectKey) -> None:
        return None

    def unclaimed(self, node_id: str, kind: EffectKind) -> int:
        return 0

    def proves(self, node_id: str, fingerprint: str) -> bool:
        """Whether a request of this hash is on record for the node."""
        is_known = (node_id, "model", fingerprint) in self._known
        return is_known or fingerprint in self._nodes.asked_in_vain(node_id)


class NothingKept:
    """In the store's place: whatever is to be kept is dropped, and nothing is there that the journal does not have."""

    def __init__(self, nodes: RecordedNodes) -> None:
        self._nodes = nodes

    def derived(self, digest: str, kind: str) -> bytes | None:
        return None

    def put_derived(self, digest: str, kind: str, payload: bytes) -> None:
        return None

    def ask(self, record: ApprovalRecord, /) -> None:
        """Nobody is asked. Raises the error of a node that failed for want of an answer that fits."""
        self._nodes.check(record.node_id)

    def answer(self, run_id: str, node_id: str, digest: str, **_: Any) -> bool:
        return True

    def approvals(self, run_id: str, status: Any = None) -> Sequence[ApprovalRecord]:
        return ()
