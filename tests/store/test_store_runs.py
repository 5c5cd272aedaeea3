"""Runs on record: begun, ended, found, listed and removed."""

from __future__ import annotations

from orchestra.store import DocumentRef, RunRecord, Store


def test_a_run_comes_back_as_it_was_begun(store: Store) -> None:
    run = RunRecord(
        id="r1",
        task="What drove the margin?",
        session_id="s1",
        request={"strategy": "outline", "max_tokens": 2048, "models": ["a", None], "ratio": 0.25},
        documents=(DocumentRef("b.md", "d2"), DocumentRef("a.md", "d1")),
        models={"planner": "test:model"},
        started_at=1_700_000_000.125,
        version="0.1.0",
    )

    store.begin_run(run)

    assert store.run("r1") == run
