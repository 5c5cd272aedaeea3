"""What must not happen twice in a run: done once, on record before its result is used, and replayed from there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from orchestra.errors import RunCancelled, ToolFailed
from orchestra.models.deadline import Deadline
from orchestra.run.journal import EffectKind
from orchestra.run.state import Run
from orchestra.runtime.events import EffectReplayed
from orchestra.runtime.node import Node


async def once(
    run: Run,
    node: Node,
    kind: EffectKind,
    fingerprint: str,
    work: Callable[[Deadline, int], Mapping[str, Any]],
    *,
    timeout_s: float | None = None,
    is_idempotent: bool = False,
    before_repeat: Callable[[], Awaitable[None]] | None = None,
) -> Mapping[str, Any]:
    """What `work(deadline, attempt)` gave for `node`, as JSON: now, on a worker, or in an earlier process of this run.

    `fingerprint` says what is done, and is the same whenever it is. `work` that raises leaves nothing on record, and is
    tried again when the run is resumed, unless it was cancelled; a failure that is to be kept is returned. Where an
    earlier process began it and nobody saw it end, it is done again if it `is_idempotent`; else `before_repeat` is
    awaited first, and raises if it must not be. Without one, that raises `ToolFailed`.
    """
    journal = run.journal
    key = journal.key(node.id, kind, fingerprint)
    record = journal.find(key)
    if record is not None and record.payload is not None:
        run.stream.emit(EffectReplayed, node_id=node.id, kind=kind, source="journal")
        return record.payload
    if record is not None and not is_idempotent:
        if before_repeat is None:
            raise ToolFailed(
                f"{node.id} was begun by an earlier process, and nobody saw it end",
                cause="it is not declared idempotent, so it is not done again unasked",
            )
        await before_repeat()

    def do(deadline: Deadline, attempt: int) -> Mapping[str, Any]:
        journal.begin(key)
        try:
            payload: Mapping[str, Any] = json.loads(json.dumps(work(deadline, attempt)))  # as a replay would give it
        except RunCancelled:  # what was begun may go on by itself: nobody saw it end
            raise
        except BaseException:
            journal.abandon(key)
            raise
        journal.finish(key, payload)
        return payload

    return await run.scheduler.call(do, node=node, timeout_s=timeout_s)
