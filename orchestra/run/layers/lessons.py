"""What a skill keeps with a document, for the next run on the same one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestra.errors import OrchestraError
from orchestra.run.loading import digest_of
from orchestra.run.state import Run
from orchestra.runtime.node import Node

MOST_LESSONS = 100
LARGEST_BYTES = 256 * 1024


async def recalled(run: Run, node: Node, skill: str) -> list[Mapping[str, Any]]:
    """What `skill` kept of the run's documents, the oldest first; nothing without a store.

    A run that goes on recalls what it did when it began, and not what it has kept itself since.
    """
    store, journal = run.store, run.journal
    if store is None:
        return []
    key = journal.key(node.id, "code", _kind(skill))
    known = journal.find(key)
    if known is not None and known.payload is not None:
        return _read(json.dumps(known.payload.get("lessons")).encode())
    digests = [digest_of(document) for document in run.documents]
    found = await run.scheduler.call_apart(lambda: [store.derived(digest, _kind(skill)) for digest in digests])
    lessons: dict[str, Mapping[str, Any]] = {}
    for payload in found:
        for lesson in _read(payload):
            lessons.setdefault(json.dumps(lesson, sort_keys=True), lesson)
    payload = {"lessons": list(lessons.values())}

    def put() -> None:
        journal.begin(key)
        journal.finish(key, payload)

    await run.scheduler.call_apart(put)
    return payload["lessons"]


async def keep(run: Run, skill: str, output: Any) -> None:
    """Keep the `keep` of an output, a list of objects, with each of the run's documents, or tell why not."""
    store = run.store
    lessons = output.get("keep") if isinstance(output, Mapping) else None
    if store is None or not isinstance(lessons, list):
        return
    payload = json.dumps([each for each in lessons if isinstance(each, Mapping)][-MOST_LESSONS:]).encode()
    if len(payload) > LARGEST_BYTES:
        run.warn("LESSONS_NOT_KEPT", f"{skill} wants to keep {len(payload):,} bytes; {LARGEST_BYTES:,} are the most")
        return
    digests = [digest_of(document) for document in run.documents]

    def put() -> None:
        for digest in digests:
            store.put_derived(digest, _kind(skill), payload)

    try:
        await run.scheduler.call_apart(put)
    except OrchestraError as error:
        run.warn("LESSONS_NOT_KEPT", f"{skill}: {error.what}")


def _kind(skill: str) -> str:
    return f"lessons {skill}"


def _read(payload: bytes | None) -> list[Mapping[str, Any]]:
    try:
        kept = json.loads(payload or b"[]")
    except ValueError:
        return []
    return [each for each in kept if isinstance(each, dict)] if isinstance(kept, list) else []
