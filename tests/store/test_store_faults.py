"""What a caller is told when the database fails, and that the next call works once it does not."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from databases import PostgresServer, new_schema
from records_for_tests import a_run
from sqlalchemy import Connection

from orchestra.errors import StoreDamaged, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from orchestra.store import Store


def test_a_full_disk_loses_only_what_did_not_fit(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        store.begin_run(a_run())
        store.database.run(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 60").close())

        with pytest.raises(StoreFull, match="disk is full") as caught:
            store.put_document("d1", "name", "text" * 100_000)

        assert "orchestra runs rm" in caught.value.suggestion
        assert store.document("d1") is None
        assert store.run("r1") is not None
        store.end_run("r1", "completed")


def test_a_transaction_that_did_not_fit_is_undone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        store.begin_run(a_run())
        store.database.run(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 60").close())
        too_much = [{"type": "warning", "sequence": number, "message": "m" * 3000} for number in range(1, 200)]

        with pytest.raises(StoreFull):
            store.append_events("r1", too_much)

        assert store.last_sequence("r1") == 0
        store.append_events("r1", too_much[:1])


def test_a_lock_that_another_process_holds_is_waited_for_and_then_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(f"sqlite:///{path}?timeout=0.05") as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(StoreUnavailable, match="another process has locked it"):
            store.begin_run(a_run())
        with pytest.raises(StoreUnavailable, match="another process has locked it"):
            store.put_document("d1", "name", "text")
        other.execute("ROLLBACK")
        other.close()

        store.begin_run(a_run())
        assert store.run("r1") is not None


def test_a_table_that_another_process_holds_is_told(postgres_url: str) -> None:
    with new_schema(postgres_url) as url, Store.open(url) as store, psycopg.connect(url) as other:
        store.database.run(lambda c: c.exec_driver_sql("SET lock_timeout = '50ms'"))
        other.execute("LOCK TABLE runs")

        with pytest.raises(StoreUnavailable, match="lock timeout"):
            store.begin_run(a_run())
        other.rollback()

        store.begin_run(a_run())


@pytest.mark.parametrize("content", [b"no database at all" * 1000, b"SQLite format 3\x00" + b"\xff" * 8000])
def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)

    with pytest.raises(StoreDamaged):
        Store.open(path)

    assert path.read_bytes() == content


def test_a_file_that_is_damaged_meanwhile_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        for number in range(200):
            store.begin_run(a_run(f"r{number}", task="task " * 200))
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(os.urandom(path.stat().st_size // 2))

    with Store.open(path) as store, pytest.raises(StoreDamaged):
        store.runs()


def test_a_table_that_is_missing_is_told(store: Store) -> None:
    store.database.run(lambda c: c.exec_driver_sql("DROP TABLE cache"))

    with pytest.raises(StoreDamaged, match="cache"):
        store.cached("key")


def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="it is a folder"):
        Store.open(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreUnavailable):
        Store.open(tmp_path / "file" / "store.db")


def test_a_file_that_may_not_be_written_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        store.begin_run(a_run())
    path.chmod(0o444)

    said = _without_privileges(
        "with Store.open(place) as store:\n"
        "    print([run.id for run in store.runs()])\n"
        "    store.begin_run(RunRecord('r2', 'task'))\n",
        path,
    )

    assert said == "['r1']\nSTORE_READ_ONLY"


def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)

    said = _without_privileges("Store.open(place)", tmp_path / "store.db")
    deeper = _without_privileges("Store.open(place)", tmp_path / "new" / "store.db")
    tmp_path.chmod(0o755)

    assert (said, deeper) == ("STORE_READ_ONLY", "STORE_READ_ONLY")


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Store.open(path).close()
    path.chmod(0o000)

    assert _without_privileges("Store.open(place)", path) == "STORE_UNAVAILABLE"


def test_a_server_that_is_not_there_is_told_at_once_and_without_the_password() -> None:
    url = "postgresql://me:topsecret@127.0.0.1:9/name"

    with pytest.raises(StoreUnavailable) as caught:
        Store.open(url)

    told = "".join(traceback.format_exception(caught.value))
    assert "refused" in caught.value.cause
    assert "topsecret" not in told + repr(caught.value.to_dict())


@pytest.mark.parametrize(
    ("change", "suggestion"),
    [
        (lambda url: url.replace("/postgres?", "/nowhere?"), "createdb"),
        (lambda url: url.replace("//tests@", "//nobody-known:topsecret@"), "Correct the user"),
    ],
)
def test_a_server_that_refuses_says_what_to_do(
    postgres_url: str, change: Callable[[str], str], suggestion: str
) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        Store.open(change(postgres_url))

    assert suggestion in caught.value.suggestion
    assert "topsecret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ("53100", StoreFull),
        ("25006", StoreReadOnly),
        ("42501", StoreReadOnly),
        ("XX001", StoreDamaged),
        ("53200", StoreUnavailable),
        ("58030", StoreUnavailable),
        ("22012", StoreError),
    ],
)
def test_what_a_server_reports_becomes_an_error_of_ours(postgres_url: str, state: str, error: type[StoreError]) -> None:
    with new_schema(postgres_url) as url, Store.open(url) as store:
        store.database.run(
            lambda c: c.exec_driver_sql(
                "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION 'as a server would' USING ERRCODE = '{state}'; END $$"
            )
        )
        store.database.run(
            lambda c: c.exec_driver_sql("CREATE TRIGGER fail BEFORE INSERT ON runs EXECUTE FUNCTION fail()")
        )

        private = a_run(task="a private task")

        with pytest.raises(error, match="as a server would") as caught:
            store.begin_run(private)

        assert type(caught.value) is error
        assert "a private task" not in "".join(traceback.format_exception(caught.value))
        assert store.runs() == []


def test_a_server_that_starts_again_is_used_again(postgres_server: PostgresServer) -> None:
    with Store.open(postgres_server.url) as store:
        store.begin_run(a_run())
        store.begin_call("r1", "run/1", "model", "f")

        for end in (postgres_server.stop, postgres_server.kill):
            end()
            postgres_server.start()
            store.finish_call("r1", "run/1", "model", "f", 1, {"text": "Prices."})
            store.append_events("r1", [{"type": "warning", "sequence": store.last_sequence("r1") + 1}])

        assert [call.payload for call in store.calls("r1")] == [{"text": "Prices."}]
        assert store.last_sequence("r1") == 2


def test_a_server_that_is_gone_for_good_is_told(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestra.store.database.RECONNECT_S", 0.2)
    with Store.open(postgres_server.url) as store:
        postgres_server.kill()

        with pytest.raises(StoreUnavailable):
            store.begin_run(a_run())

        postgres_server.start()
        store.begin_run(a_run())
        assert store.run("r1") is not None


def test_a_database_that_cannot_hold_every_text_is_refused(postgres_url: str) -> None:
    name = f"narrow_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")

        with pytest.raises(StoreUnavailable, match="LATIN1"):
            Store.open(postgres_url.replace("/postgres?", f"/{name}?"))

        connection.execute(f"DROP DATABASE {name}")


def test_a_driver_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(StoreUnavailable, match="driver is not installed") as caught:
        Store.open("postgresql://host/name")

    assert "orchestra[postgres]" in caught.value.suggestion


def test_an_interrupted_transaction_is_undone(store: Store) -> None:
    def interrupted(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO sessions VALUES ('s1', '', 0)")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.database.transact(interrupted)

    assert store.sessions() == []
    store.begin_run(a_run())


def _without_privileges(script: str, place: Path) -> str:
    """What a process prints that may do no more with files than their permissions say, and the code of its error."""
    lines = "".join(f"    {line}\n" for line in script.splitlines())
    whole = (
        "import sys\nfrom orchestra.errors import OrchestraError\nfrom orchestra.store import RunRecord, Store\n"
        f"place = sys.argv[1]\ntry:\n{lines}except OrchestraError as error:\n    print(error.code)\n"
    )
    restricted = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.getuid() == 0 else []
    ended = subprocess.run(
        [*restricted, sys.executable, "-c", whole, str(place)], capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()
