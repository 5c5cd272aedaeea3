"""Opening a store: where it is, its schema, and who else uses it."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from records_for_tests import a_run
from sqlalchemy import create_engine, inspect

from orchestra.errors import InputInvalid, StoreDamaged, StoreTooNew, StoreUnavailable
from orchestra.store import Store, shared_store
from orchestra.store.database import Database
from orchestra.store.location import Location
from orchestra.store.migrating import Migration, known_migrations, migrate
from orchestra.store.tables import metadata


def test_a_path_and_its_url_are_the_same_store(tmp_path: Path) -> None:
    with Store.open(tmp_path / "new" / "folder" / "store.db") as store:
        store.begin_run(a_run())

    for place in (str(tmp_path / "new/folder/store.db"), f"sqlite:///{tmp_path}/new/folder/store.db"):
        with Store.open(place) as store:
            assert store.run("r1") is not None


def test_a_store_that_must_exist_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no store"):
        Store.open(tmp_path / "store.db", create=False)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "place", ["", "mysql://host/name", "postgresql://user:secret@host:port/name", "://", "sqlite:///x.db?timeout=soon"]
)
def test_what_names_no_store_is_refused(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputInvalid) as caught:
        Store.open(place)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("postgresql://me:secret@host/name", "postgresql://me:***@host/name"),
        ("postgres://me@host/name?password=secret", "postgresql://me@host/name?password=%2A%2A%2A"),
        ("sqlite:////folder/runs.db", "sqlite:////folder/runs.db"),
    ],
)
def test_a_password_is_never_shown(place: str, shown: str) -> None:
    location = Location.of(place)

    assert location.shown == shown
    assert "secret" not in repr(Store(Database(location)))


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()

    with pytest.raises(StoreUnavailable, match="is closed"):
        store.runs()


def test_the_migrations_make_what_the_statements_use(store_url: str) -> None:
    Store.open(store_url).close()
    engine = create_engine(Location.of(store_url).url)
    made = inspect(engine)

    assert set(made.get_table_names()) == set(metadata.tables)
    for name, table in metadata.tables.items():
        assert {(c["name"], c["nullable"]) for c in made.get_columns(name)} == {
            (c.name, c.nullable) for c in table.columns
        }
        assert made.get_pk_constraint(name)["constrained_columns"] == [column.name for column in table.primary_key]
        wanted = {(key.parent.name, key.column.table.name) for key in table.foreign_keys}
        assert {(key["constrained_columns"][0], key["referred_table"]) for key in made.get_foreign_keys(name)} == wanted
    engine.dispose()


def test_an_older_schema_is_brought_up_to_date_step_by_step(store_url: str) -> None:
    database = Database(Location.of(store_url))
    second = Migration(2, "ALTER TABLE runs ADD COLUMN colour TEXT;\nUPDATE runs SET colour = 'blue';\n")
    third = Migration(3, "CREATE TABLE more (id INTEGER);\n")
    database.open()
    store = Store(database)
    store.begin_run(a_run())

    taken = database.run(lambda connection: migrate(connection, (*known_migrations(), second, third)))
    again = database.run(lambda connection: migrate(connection, (*known_migrations(), second, third)))

    assert (taken, again) == (2, 0)
    assert _all(database, "SELECT colour FROM runs") == [("blue",)]
    assert _all(database, "SELECT version FROM schema_version ORDER BY version") == [(1,), (2,), (3,)]
    store.close()


def test_a_step_that_fails_leaves_the_schema_as_it_was(store_url: str) -> None:
    database = Database(Location.of(store_url))
    database.open()
    broken = Migration(2, "CREATE TABLE half (id INTEGER);\nCREATE TABLE runs (id INTEGER);\n")

    with pytest.raises(Exception, match="already exists"):
        database.run(lambda connection: migrate(connection, (*known_migrations(), broken)))

    assert _all(database, "SELECT version FROM schema_version") == [(1,)]
    mended = Migration(2, "CREATE TABLE half (id INTEGER);\n")
    assert database.run(lambda connection: migrate(connection, (*known_migrations(), mended))) == 1
    database.close()


def test_a_schema_of_a_later_version_is_left_alone(store_url: str) -> None:
    with Store.open(store_url) as store:
        store.begin_run(a_run())
        store.database.run(lambda c: c.exec_driver_sql("INSERT INTO schema_version VALUES (99, 0)"))

    with pytest.raises(StoreTooNew, match="99"):
        Store.open(store_url)


def test_processes_that_open_a_new_store_at_once_make_it_once(store_url: str) -> None:
    script = "import sys; from orchestra.store import Store; sys.stdin.read(1); Store.open(sys.argv[1]).close()"
    opening = [
        subprocess.Popen([sys.executable, "-c", script, store_url], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    errors = []
    for process in opening:
        assert process.stdin is not None
        process.stdin.write(b".")
        process.stdin.flush()
    for process in opening:
        errors.append(process.communicate()[1].decode())

    assert errors == [""] * 3
    with Store.open(store_url) as store:
        assert _all(store.database, "SELECT version FROM schema_version") == [(1,)]


def test_threads_that_open_a_new_store_at_once_make_it_once(store_url: str) -> None:
    together = threading.Barrier(6)

    def open_it(_: int) -> None:
        together.wait()
        Store.open(store_url).close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_it, range(6)))

    with Store.open(store_url) as store:
        assert _all(store.database, "SELECT version FROM schema_version") == [(1,)]


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.commit()
    other.close()

    with pytest.raises(StoreDamaged, match="another program"):
        Store.open(tmp_path / "other.db")

    other = sqlite3.connect(tmp_path / "other.db")
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    other.close()


def test_a_process_shares_one_open_store(store_url: str) -> None:
    first = shared_store(store_url)

    assert shared_store(store_url) is first
    first.close()
    second = shared_store(store_url)
    assert second is not first
    assert second.runs() == []
    second.close()


def test_a_shared_store_whose_file_was_replaced_is_opened_again(tmp_path: Path) -> None:
    first = shared_store(tmp_path / "store.db")
    first.begin_run(a_run())
    for path in tmp_path.iterdir():
        path.unlink()

    second = shared_store(tmp_path / "store.db")

    assert second.runs() == []
    second.begin_run(a_run())
    assert (tmp_path / "store.db").exists()
    second.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_and_its_parent_both_go_on(store: Store) -> None:
    store.begin_run(a_run("parent 1"))
    is_held, is_forked = threading.Event(), threading.Event()
    at_work = threading.Thread(target=_hold, args=(store, is_held, is_forked))
    at_work.start()
    is_held.wait()

    child = multiprocessing.get_context("fork").Process(target=_begin_in_child, args=(store,))
    child.start()
    is_forked.set()
    at_work.join()
    child.join(30)
    if child.exitcode is None:
        child.kill()
    store.begin_run(a_run("parent 2"))

    assert child.exitcode == 0
    assert {run.id for run in store.runs()} == {"parent 1", "child", "parent 2"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_child_that_is_forked_in_the_middle_of_a_transaction_can_write(store: Store) -> None:
    is_midway = threading.Event()

    def begin() -> None:
        store.begin_run(a_run("parent"))
        is_midway.set()
        time.sleep(0.2)

    at_work = threading.Thread(target=store.together, args=(begin,))
    at_work.start()
    is_midway.wait()

    child = multiprocessing.get_context("fork").Process(target=_begin_in_child, args=(store,))
    child.start()
    child.join(30)
    at_work.join()
    if child.exitcode is None:
        child.kill()

    assert child.exitcode == 0
    assert {run.id for run in store.runs()} == {"parent", "child"}


def _hold(store: Store, is_held: threading.Event, is_forked: threading.Event) -> None:
    """As a thread of the parent that is at work on the store while another forks."""
    with store.database._lock:
        is_held.set()
        is_forked.wait()


def _begin_in_child(store: Store) -> None:
    store.begin_run(a_run("child"))
    store.close()


def _all(database: Database, statement: str) -> list[tuple[object, ...]]:
    return database.run(lambda connection: [tuple(row) for row in connection.exec_driver_sql(statement)])
