"""The store: everything that outlives a run, in one database."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from orchestra.errors import StoreUnavailable
from orchestra.store.approvals import Approvals, Leases
from orchestra.store.database import Database
from orchestra.store.documents import Cache, Documents
from orchestra.store.faults import of_system
from orchestra.store.journal import Calls, Events
from orchestra.store.location import Location
from orchestra.store.runs import Runs
from orchestra.store.sessions import Sessions

T = TypeVar("T")


class Store(Runs, Events, Calls, Approvals, Leases, Documents, Cache, Sessions):
    """An open store. Thread-safe; a forked child may go on using it.

    Any method may raise `StoreUnavailable`, `StoreReadOnly`, `StoreFull` or `StoreDamaged`. Values that are kept as
    JSON come back equal; others raise `InputInvalid`.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, place: str | Path, *, create: bool = True) -> Store:
        """Open a file of SQLite (a path, `sqlite:///runs.db`) or a database of PostgreSQL (`postgresql://host/name`).

        Brings an older schema up to date. Without `create` a file that does not exist is `StoreUnavailable`.
        A schema of a later version is `StoreTooNew`; a name that is none, `InputInvalid`.
        """
        location = Location.of(place)
        path = location.path
        if path is not None and not path.exists():
            if not create:
                raise StoreUnavailable(
                    f"there is no store {location.shown}",
                    suggestion="It is made by the first run that is kept there; or name another store.",
                )
            _make_file(path, location)
        store = cls(Database(location))
        try:
            store.database.open()
        except BaseException:
            store.close()
            raise
        return store

    def together(self, work: Callable[[], T]) -> T:
        """What `work` does on this store from this thread, in one transaction: all of it or nothing.

        It is not to catch errors of the store: after one of them nothing else can be done.
        """
        return self.database.together(work)

    @property
    def url(self) -> str:
        """Where it is; a password is masked."""
        return self.database.location.shown

    @property
    def is_closed(self) -> bool:
        return self.database.is_closed

    def close(self) -> None:
        """Idempotent."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.url!r})"


_shared: dict[str, tuple[Store, tuple[int, int] | None]] = {}
_sharing = threading.Lock()


def shared_store(place: str | Path) -> Store:
    """The one open store of this process at `place`; opened on first demand, again when its file was replaced."""
    location = Location.of(place)
    with _sharing:
        store, identity = _shared.get(location.key, (None, None))
        if store is not None and not store.is_closed and identity == _identity(location.path):
            return store
        if store is not None:
            store.close()
        store = Store.open(place)
        _shared[location.key] = (store, _identity(location.path))
        return store


def close_shared_stores() -> None:
    """Close what `shared_store` opened; a later call opens it again."""
    with _sharing:
        while _shared:
            _shared.popitem()[1][0].close()


def _begin_sharing_anew() -> None:
    global _sharing
    _sharing = threading.Lock()


atexit.register(close_shared_stores)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_sharing_anew)


def _identity(path: Path | None) -> tuple[int, int] | None:
    if path is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _make_file(path: Path, location: Location) -> None:
    """Nobody else may read it: documents and answers stand in it. SQLite gives its log the same permissions."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise of_system(error, location) from error
