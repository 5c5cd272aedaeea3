"""Runs on record: begun, ended, found, listed and removed."""

from __future__ import annotations

import random
import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest
from records_for_tests import a_run, node_event

from orchestra.errors import InputInvalid, RunBusy, RunNotFound, StoreDamaged
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
    assert store.run("r2") is None


def test_a_run_ends_with_its_result(store: Store) -> None:
    store.begin_run(a_run())

    store.end_run("r1", "partial", result={"answer": "Prices."}, error={"code": "TIMEOUT"})

    run = store.find_run("r1")
    assert (run.status, run.result, run.error) == ("partial", {"answer": "Prices."}, {"code": "TIMEOUT"})
    assert run.ended_at is not None


def test_a_waiting_run_has_not_ended(store: Store) -> None:
    store.begin_run(a_run())

    store.end_run("r1", "waiting")

    assert store.find_run("r1").ended_at is None


def test_a_run_that_is_begun_again_keeps_its_start_and_what_came_of_it(store: Store) -> None:
    store.begin_run(a_run(started_at=5.0, documents=(DocumentRef("a", "d1"),)))
    store.end_run("r1", "failed", result={"answer": ""})

    store.begin_run(a_run(started_at=9.0, documents=(DocumentRef("a", "d1"),), version="2"))

    run = store.find_run("r1")
    assert (run.status, run.started_at, run.ended_at, run.version) == ("running", 5.0, None, "2")
    assert run.result == {"answer": ""}


def test_a_run_that_was_never_begun_cannot_end(store: Store) -> None:
    with pytest.raises(RunNotFound):
        store.end_run("r1", "completed")


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    store.begin_run(a_run("abc1"))
    store.begin_run(a_run("abd2"))

    assert store.find_run("abc").id == "abc1"


def test_a_whole_id_wins_over_a_longer_one_that_begins_with_it(store: Store) -> None:
    store.begin_run(a_run("abc"))
    store.begin_run(a_run("abcd"))

    assert store.find_run("abc").id == "abc"


@pytest.mark.parametrize(
    ("prefix", "error"), [("ab", InputInvalid), ("x", RunNotFound), ("", InputInvalid), ("a%", RunNotFound)]
)
def test_a_beginning_of_no_run_or_of_several_is_refused(store: Store, prefix: str, error: type[Exception]) -> None:
    store.begin_run(a_run("abc1"))
    store.begin_run(a_run("abd2"))

    with pytest.raises(error):
        store.find_run(prefix)


def test_runs_are_listed_newest_first(store: Store) -> None:
    for started_at, run_id in enumerate(("old", "middle", "new"), start=1):
        store.begin_run(a_run(run_id, started_at=float(started_at)))

    assert [run.id for run in store.runs()] == ["new", "middle", "old"]
    assert [run.id for run in store.runs(limit=1)] == ["new"]


def test_a_line_of_the_list_names_documents_and_skills(store: Store) -> None:
    store.begin_run(a_run(documents=(DocumentRef("b.md", "d2"), DocumentRef("a.md", "d1"))))
    store.append_events("r1", [node_event(1, "run"), node_event(2, "run/1", skill_name="lookup")])

    summary = store.runs()[0]

    assert summary.documents == ("b.md", "a.md")
    assert summary.skills == ("lookup",)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"status": "failed"}, ["second"]),
        ({"skill": "lookup"}, ["first"]),
        ({"skill": "look"}, []),
        ({"text": "MARGIN"}, ["first"]),
        ({"text": "über"}, ["second"]),
        ({"text": 'said "no"\nand'}, ["second"]),
        ({"text": "100%"}, []),
        ({"since": 20.0}, ["second"]),
        ({"until": 20.0}, ["first"]),
        ({"session_id": "s1"}, ["first"]),
        ({"status": "failed", "skill": "lookup"}, []),
    ],
)
def test_the_list_is_narrowed(store: Store, choice: dict[str, object], expected: list[str]) -> None:
    store.begin_run(a_run("first", started_at=10.0, session_id="s1", task="What drove the margin?"))
    store.append_events("first", [node_event(1, "run/1", skill_name="lookup")])
    store.begin_run(a_run("second", started_at=20.0, task="ÜBER wen?"))
    store.end_run("second", "failed", result={"answer": 'He said "no"\nand left 1000.'})

    assert [run.id for run in store.runs(**choice)] == expected  # type: ignore[arg-type]


def test_a_removed_run_takes_everything_of_it_along(store: Store) -> None:
    store.begin_run(a_run(documents=(DocumentRef("a", "d1"),)))
    store.put_document("d1", "a", "text")
    store.put_derived("d1", "outline", b"made")
    store.append_events("r1", [node_event(1, "run")])
    store.begin_call("r1", "run", "model", "f")
    store.keep("key", {"text": "reply"}, run_id="r1")

    store.remove_run("r1")

    assert store.run("r1") is None
    assert (list(store.events("r1")), store.nodes("r1"), store.calls("r1")) == ([], [], [])
    assert (store.document("d1"), store.derived("d1", "outline"), store.cached("key")) == (None, None, None)


def test_a_document_stays_while_another_run_uses_it(store: Store) -> None:
    for run_id in ("r1", "r2"):
        store.begin_run(a_run(run_id, documents=(DocumentRef("a", "d1"),)))
        store.put_document("d1", "a", "text")

    store.remove_run("r1")
    kept = store.document("d1")
    store.remove_run("r2")

    assert kept == "text"
    assert store.document("d1") is None


def test_a_run_that_somebody_works_on_is_not_removed(store: Store) -> None:
    store.begin_run(a_run("idle"))
    store.begin_run(a_run("busy"))
    store.lease("busy", "somebody", 60)

    with pytest.raises(RunBusy):
        store.remove_runs(["idle", "busy"])

    assert {run.id for run in store.runs()} == {"idle", "busy"}


def test_what_is_removed_is_in_no_file_of_the_database(tmp_path: Path) -> None:
    secret = "A sentence that nobody is to find again."
    with Store.open(tmp_path / "store.db") as store:
        for number in range(20):
            store.begin_run(
                a_run(f"r{number}", task=f"{secret} {number}", documents=(DocumentRef(secret, f"d{number}"),))
            )
            store.put_document(f"d{number}", secret, f"{secret}\n" * 500)
            store.append_events(f"r{number}", [node_event(1, "run", title=secret)])
            store.finish_call(f"r{number}", "run", "model", "f", 1, {"text": secret * 50})
            store.end_run(f"r{number}", "completed", result={"answer": secret})
        assert secret.encode() in _bytes(tmp_path)

        is_gone = store.remove_runs([f"r{number}" for number in range(20)])

        assert is_gone
        assert secret.encode() not in _bytes(tmp_path)


def test_what_is_removed_from_among_others_is_in_no_file_of_the_database(tmp_path: Path) -> None:
    """Where rows of many sizes were moved about, deleting securely alone leaves copies of some behind."""
    chance = random.Random(5)
    with Store.open(tmp_path / "store.db") as store:
        for number in range(60):
            run_id, secret = f"{chance.getrandbits(64):016x}{number:02d}", f"SECRET{number:02d}"
            store.begin_run(a_run(run_id, task=secret * chance.randint(1, 40), documents=(DocumentRef("a", run_id),)))
            store.put_document(run_id, "a", secret * chance.randint(1, 3000))
            for step in range(chance.randint(1, 30)):
                title = secret * chance.randint(1, 60)
                store.append_events(run_id, [node_event(step + 1, f"run/{step % 5}", title=title)])
                store.finish_call(run_id, f"run/{step}", "model", "f", 1, {"text": secret * chance.randint(1, 300)})
            store.end_run(run_id, "completed", result={"answer": secret * 100})
        removed = chance.sample([run.id for run in store.runs()], 30)

        for run_id in removed:
            store.remove_run(run_id)

        left = _bytes(tmp_path)
        assert [run_id for run_id in removed if f"SECRET{run_id[-2:]}".encode() in left] == []


def test_a_removal_says_when_another_process_keeps_the_log(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}?timeout=0.05") as store:
        store.begin_run(a_run())
        reader = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM runs").fetchall()

        is_gone = store.remove_run("r1")
        reader.close()

        assert not is_gone
        assert store.run("r1") is None


def test_a_record_that_no_longer_is_one_says_which(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.begin_run(a_run())
        store.database.run(
            lambda connection: connection.exec_driver_sql("UPDATE runs SET status = 'odd', models = '[]'")
        )

        with pytest.raises(StoreDamaged, match="run r1 cannot be read") as caught:
            store.run("r1")

    assert "status" in caught.value.cause


def test_a_record_that_is_no_json_says_so(store: Store) -> None:
    store.begin_run(a_run())
    store.database.run(lambda connection: connection.exec_driver_sql("UPDATE runs SET request = '{'"))

    with pytest.raises(StoreDamaged):
        store.run("r1")


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_the_status_of_a_run_is_read_alone(store: Store) -> None:
    store.begin_run(a_run())

    assert store.run_status("r1") == "running"
    store.end_run("r1", "partial")
    assert store.run_status("r1") == "partial"
    assert store.run_status("r2") is None


def test_the_revision_changes_with_every_change_of_the_lists(store: Store) -> None:
    seen = [store.revision()]

    for change in (
        lambda: store.begin_session("s1", "Costs"),
        lambda: store.rename_session("s1", "Margins"),
        lambda: store.begin_run(a_run(session_id="s1")),
        lambda: store.end_run("r1", "waiting"),
        lambda: store.begin_run(a_run(session_id="s1")),
        lambda: store.end_run("r1", "completed"),
        lambda: store.remove_run("r1"),
        lambda: store.remove_session("s1"),
    ):
        change()
        seen.append(store.revision())

    assert all(before != after for before, after in pairwise(seen))
    assert seen[0] == seen[-1] == store.revision()
