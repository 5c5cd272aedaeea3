"""PostgreSQL for tests: servers of our own in a folder, and a schema for each test.

`ORCHESTRA_TEST_POSTGRES` names a server to use instead. As a script it serves until a process has ended.
"""

from __future__ import annotations

import fcntl
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

MISSING = (
    "PostgreSQL is not installed: every test of the store runs on SQLite alone. "
    "Install it (apt-get install postgresql), or name a server in ORCHESTRA_TEST_POSTGRES"
)
STARTS_WITHIN_S = 60


class PostgresServer:
    """A server in `folder`, reached by a socket there. `start`, `stop`, `kill` and `start` again, as a test wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgresql://tests@/postgres?host={quote(str(folder))}"
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> PostgresServer:
        """The files of a new database."""
        if os.getuid() == 0:
            os.chown(self.folder, self._account.pw_uid, self._account.pw_gid)
        options = ["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=tests"]
        self._as_account([_program("initdb"), *options, "--pgdata", self._cluster], stdout=subprocess.DEVNULL).wait(60)
        return self

    def start(self) -> PostgresServer:
        """Returns when the server takes connections."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "fsync": "off",  # what a machine's crash would lose; ours only ends processes
            "max_connections": "200",
            "shared_buffers": "16MB",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "server.log").open("ab") as log:
            self._process = self._as_account(
                [_program("postgres"), "-D", self._cluster, *options], stdout=log, stderr=log, start_new_session=True
            )
        last = time.monotonic() + STARTS_WITHIN_S
        while not self._takes_connections():
            if self._process.poll() is not None or time.monotonic() > last:
                raise RuntimeError(f"PostgreSQL did not start:\n{(self.folder / 'server.log').read_text()[-2000:]}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """At once, but in order: connections are ended. Idempotent."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """As a crash of the server would: it recovers at the next `start`."""
        self._end(signal.SIGQUIT)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def _cluster(self) -> str:
        return str(self.folder / "cluster")

    @property
    def _account(self) -> pwd.struct_passwd:
        """PostgreSQL refuses to run as root."""
        names = {entry.pw_name: entry for entry in pwd.getpwall()}
        return names.get("postgres") or names["nobody"]

    def _as_account(self, command: list[str], **options: object) -> subprocess.Popen[bytes]:
        if os.getuid() == 0:
            options |= {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        return subprocess.Popen(command, cwd="/", **options)  # type: ignore[call-overload]

    def _takes_connections(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None


def is_installed() -> bool:
    return bool(_program("initdb"))


@contextmanager
def new_server() -> Iterator[PostgresServer]:
    """A server that belongs to one test, which may end it; its folder's name is short, as a socket's must be."""
    folder = Path(tempfile.mkdtemp(prefix="orchestra-pg-"))
    server = PostgresServer(folder)
    try:
        yield server.make().start()
    finally:
        server.stop()
        shutil.rmtree(folder)


def session_server_url(folders: pytest.TempPathFactory) -> str:
    """The URL of the one server of a test session, started by whichever worker asks first; ends with the session.

    Empty when PostgreSQL is not installed.
    """
    named = os.environ.get("ORCHESTRA_TEST_POSTGRES", "")
    if named or not is_installed():
        return named
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    own = folders.getbasetemp()
    with ((own.parent if is_worker else own) / "postgres.url").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        url = file.read()
        if not url:
            url = _serve_apart(os.getppid() if is_worker else os.getpid())
            file.write(url)
    return url


@contextmanager
def new_schema(url: str) -> Iterator[str]:
    """The URL of an empty schema of its own at `url`."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    try:
        yield f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {name} CASCADE")


def _program(name: str) -> str:
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else shutil.which(name) or ""


def _serve_apart(owner: int) -> str:
    """Start this file as a process of its own, which outlives the worker that asked for it."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(owner)], stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    process.stdout.close()
    process.returncode = 0  # nobody waits for it: it ends after us
    assert url, "PostgreSQL did not start"
    return url


def _serve_until_ended(owner: int) -> None:
    with new_server() as server:
        print(server.url, flush=True)
        while server.is_running and _is_alive(owner):
            time.sleep(0.5)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    _serve_until_ended(int(sys.argv[1]))
