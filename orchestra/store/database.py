"""One database: its connections, transactions, and what happens when it fails."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError, StatementError
from sqlalchemy.pool import QueuePool, StaticPool

from orchestra.errors import InputInvalid, StoreUnavailable
from orchestra.store.combining import Combined
from orchestra.store.faults import as_store_error, raised_by_us
from orchestra.store.location import Location
from orchestra.store.migrating import migrate
from orchestra.store.statements import Row, Written

T = TypeVar("T")

BUSY_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 5
_STILL_S = 1.0  # how long a fork waits for what is under way
RECONNECT_S = 5.0  # how long a call waits for a server that is being restarted
_PAUSES_S = (0.0, 0.1, 0.2, 0.4, 0.8, 1.0)
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",  # a commit outlives the process; the machine's crash may cost the last ones
    "wal_autocheckpoint = 4000",  # pages: the disk is waited for every 16 MB
    "foreign_keys = ON",
    "secure_delete = ON",
)
_AGAIN = frozenset({"40001", "40P01"})  # a transaction that lost against another one: the same can be tried again


class _Thread(threading.local):
    """`connection` is that of the transaction that a thread is in."""

    connection: Connection | None = None


class Database:
    """Runs work on a connection. Thread-safe and fork-safe.

    SQLite has one connection, which threads take in turns; PostgreSQL a pool. Work may be done twice, when the
    connection is lost: what it writes must be the same the second time.
    """

    def __init__(self, location: Location) -> None:
        self.location = location
        self._is_closed = False
        self._was_reached = False
        self._begin()
        _databases.add(self)

    def _begin(self) -> None:
        self._lock = threading.RLock()
        self._engine: Engine | None = None
        self._held: Connection | None = None
        self._lost_at: float | None = None
        self._combined = Combined(self.run, self.transact)
        self._thread = _Thread()

    def run(self, work: Callable[[Connection], T]) -> T:
        """`work(connection)`, each of whose statements is committed by itself, unless it is done `together`."""
        if (joined := self._thread.connection) is not None:
            return _joining(work, joined)
        pauses = None
        while True:
            try:
                done = self._on_the_one(work) if self.location.is_sqlite else self._on_one_of_many(work)
                self._lost_at = None
                return done
            except (SQLAlchemyError, sqlite3.Error, OSError) as error:
                pauses = pauses or iter(_PAUSES_S)
                pause = self._pause(error, pauses)
                if pause is None:
                    raise as_store_error(error, self.location) from _bare(error)
                time.sleep(pause)

    def transact(self, work: Callable[[Connection], T]) -> T:
        """`work(connection)` in one transaction, which takes the write lock at once."""
        if (joined := self._thread.connection) is not None:
            return _joining(work, joined)
        begin = "BEGIN IMMEDIATE" if self.location.is_sqlite else "BEGIN"

        def whole(connection: Connection) -> T:
            try:
                _say(connection, begin)
                done = work(connection)
                _say(connection, "COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            return done

        return self.run(whole)

    def together(self, work: Callable[[], T]) -> T:
        """What `work` does on the store from this thread, in one transaction: all of it or nothing."""
        if self._thread.connection is not None:
            return work()

        def joining(connection: Connection) -> T:
            self._thread.connection = connection
            try:
                return work()
            finally:
                self._thread.connection = None

        return self.transact(joining)

    def write(self, statement: Written, row: Row) -> None:
        """One row, committed by itself or, on SQLite, together with what other threads write meanwhile."""
        if self.location.is_sqlite and self._thread.connection is None:
            self._combined.write(statement, row)
        else:
            self.run(lambda connection: statement.execute(connection, row))

    def open(self) -> None:
        """Connect, and bring the schema up to date."""
        self.run(_prepare)
        self._was_reached = True

    def sweep(self) -> bool:
        """Overwrite what was deleted. True when nothing of it is left in SQLite's files, the log included.

        PostgreSQL marks the space as free, and writes over it as it goes.
        """
        if self.location.is_sqlite:
            return self.run(_sweep_sqlite)
        self.run(lambda connection: connection.exec_driver_sql("VACUUM"))
        return True

    def close(self) -> None:
        """Idempotent. Whoever calls afterwards gets `StoreUnavailable`."""
        with self._lock:
            self._is_closed = True
            held, self._held = self._held, None
            engine, self._engine = self._engine, None
        if held is not None:
            held.close()
        if engine is not None:
            engine.dispose()

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def hold_still(self) -> bool:
        """Before a fork: wait until nobody is at work on SQLite, because the child would hold its locks for good.

        False where there is nothing to wait for, or no end of it.
        """
        return self.location.is_sqlite and self._lock.acquire(timeout=_STILL_S)

    def go_on(self) -> None:
        """After a fork, in the parent: what waits because of `hold_still` goes on."""
        self._lock.release()

    def begin_anew(self) -> None:
        """In a forked child: leave the parent's connections alone, and make our own on demand."""
        _left_to_the_parent.append((self._engine, self._held))
        self._begin()

    def _on_the_one(self, work: Callable[[Connection], T]) -> T:
        with self._lock:
            if self._held is None:
                self._held = self._started().connect()
            return work(self._held)

    def _on_one_of_many(self, work: Callable[[Connection], T]) -> T:
        with self._started().connect() as connection:
            return work(connection)

    def _started(self) -> Engine:
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable(f"the store {self.location.shown} is closed", suggestion="Open it again.")
            if self._engine is None:
                self._engine = _engine(self.location)
            return self._engine

    def _pause(self, error: Exception, pauses: Iterator[float]) -> float | None:
        """How long to wait before the same work is done once more; None when that is no use."""
        if not isinstance(error, DBAPIError) or self.location.is_sqlite:
            return None
        if getattr(error.orig, "sqlstate", None) in _AGAIN:
            return next(pauses, None)
        if not _is_lost(error) or not self._was_reached:
            return None
        now = time.monotonic()
        if self._lost_at is None:
            self._lost_at = now
        return next(pauses, 1.0) if now - self._lost_at < RECONNECT_S else None


_databases: weakref.WeakSet[Database] = weakref.WeakSet()
_left_to_the_parent: list[Any] = []  # kept, because collecting them would close what the parent uses


_forking = threading.local()


def _before_fork() -> None:
    _forking.still = list[Database]()
    for database in list(_databases):
        if database.hold_still():
            _forking.still.append(database)


def _after_fork_in_parent() -> None:
    for database in _forking.still:
        database.go_on()


def _after_fork_in_child() -> None:
    for database in list(_databases):
        database.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


def _engine(location: Location) -> Engine:
    if location.is_sqlite:
        engine = create_engine(
            location.url,
            poolclass=StaticPool,
            connect_args={"check_same_thread": False, "isolation_level": None, "timeout": _busy_timeout(location)},
            hide_parameters=True,
        )
        event.listen(engine, "connect", _prepare_sqlite)
        return engine
    try:
        engine = create_engine(
            location.url,
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=12,
            isolation_level="AUTOCOMMIT",
            connect_args=_server_arguments(location),
            hide_parameters=True,
        )
    except (ImportError, NoSuchModuleError) as error:
        raise StoreUnavailable(
            "PostgreSQL cannot be used",
            cause="the driver is not installed",
            suggestion="Install it: pip install 'orchestra[postgres]'.",
        ) from error
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _busy_timeout(location: Location) -> float:
    text = location.url.query.get("timeout", str(BUSY_TIMEOUT_S))
    try:
        return float(str(text))
    except ValueError as error:
        raise InputInvalid(f"the store's timeout {text!r} is no number of seconds") from error


def _server_arguments(location: Location) -> dict[str, Any]:
    wanted = {"connect_timeout": CONNECT_TIMEOUT_S, "keepalives_idle": 30, "tcp_user_timeout": 15_000}
    return {key: value for key, value in wanted.items() if key not in location.url.query}


def _prepare(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
        if encoding != "UTF8":
            raise StoreUnavailable(
                "the store cannot be used",
                cause=f"its database is encoded in {encoding}, which cannot hold every text",
                suggestion="Create one with `createdb --encoding=UTF8 --template=template0 NAME`.",
            )
    migrate(connection)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.create_function("lower", 1, _lower, deterministic=True)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()


def _sweep_sqlite(connection: Connection) -> bool:
    """Secure deletion leaves copies behind where pages were rearranged, so the file is written anew if it can be."""
    try:
        connection.exec_driver_sql("VACUUM")
        is_rewritten = True
    except OperationalError:
        is_rewritten = False  # locked, or no room on the disk
    is_busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()
    return is_rewritten and not is_busy


def _lower(text: Any) -> Any:
    """SQLite's own knows ASCII only."""
    return text.lower() if isinstance(text, str) else text


def _prepare_postgresql(connection: Any, _: Any) -> None:
    connection.execute("SET lock_timeout = '10s'")


def _say(connection: Connection, command: str) -> None:
    """A command without values; to SQLite directly, which takes a tenth of the time."""
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        driver.execute(command).close()
    else:
        connection.exec_driver_sql(command)


def _joining(work: Callable[[Connection], T], connection: Connection) -> T:
    """Do a part of a transaction. Whatever has no form in the store can be left out of it; other errors end it."""
    try:
        return work(connection)
    except StatementError as error:
        ours = raised_by_us(error)
        if ours is None:
            raise
        raise ours from None


def _roll_back(connection: Connection) -> None:
    """Best effort: SQLite rolls back by itself on some errors, and so does a server whose connection is lost."""
    try:
        _say(connection, "ROLLBACK")
    except (SQLAlchemyError, sqlite3.Error):
        if connection.dialect.name != "sqlite":
            connection.invalidate()


def _is_lost(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None) or ""
    if error.connection_invalidated or state.startswith(("08", "57P")):
        return True
    return not state and type(error.orig).__name__ == "OperationalError" and _is_refused(str(error.orig))


def _is_refused(message: str) -> bool:
    """Whether a connection was refused by a server that may come back, not by its judgement on the user."""
    signs = ("refused", "starting up", "shutting down", "closed", "reset", "No such file")
    return any(sign in message for sign in signs)


def _bare(error: Exception) -> BaseException | None:
    """The driver's own error: SQLAlchemy's quotes the statement."""
    if raised_by_us(error) is not None:
        return None
    return (error.orig if isinstance(error, DBAPIError) else None) or error
