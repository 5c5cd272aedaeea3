"""From what a database driver raises to an error of the one tree. Passwords and stored texts never pass."""

from __future__ import annotations

import errno
import os
import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from orchestra.errors import (
    OrchestraError,
    RunNotFound,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from orchestra.store.location import Location

_CREATE = "Make the folder, or name another store."
_BUSY = "Wait until the other process lets go of it, and call again; or name another store."
_ACCOUNT = "Correct the user, the password (PGPASSWORD or ~/.pgpass) and the database in the store's URL."

# SQLite's result codes by the beginning of their names, the longer first
_SQLITE: tuple[tuple[str, type[StoreError], str, str], ...] = (
    ("SQLITE_FULL", StoreFull, "the disk is full, or the database has reached its limit", ""),
    ("SQLITE_READONLY", StoreReadOnly, "the file or its folder may not be written", ""),
    ("SQLITE_PERM", StoreReadOnly, "the file may not be opened for writing", ""),
    ("SQLITE_BUSY", StoreUnavailable, "another process has locked it", _BUSY),
    ("SQLITE_LOCKED", StoreUnavailable, "another process has locked it", _BUSY),
    ("SQLITE_PROTOCOL", StoreUnavailable, "another process has locked it", _BUSY),
    ("SQLITE_CORRUPT", StoreDamaged, "the file is damaged", ""),
    ("SQLITE_NOTADB", StoreDamaged, "the file is no database", ""),
    ("SQLITE_CANTOPEN", StoreUnavailable, "the file cannot be opened", _CREATE),
    ("SQLITE_IOERR", StoreUnavailable, "the disk failed to read or write it", "Check the disk, or name another store."),
    ("SQLITE_NOMEM", StoreUnavailable, "there is not enough memory", ""),
)
# PostgreSQL's SQLSTATEs by their beginnings, the longer first
_POSTGRES: tuple[tuple[str, type[StoreError], str], ...] = (
    ("53100", StoreFull, ""),
    ("25006", StoreReadOnly, "The server takes no changes now (it may be a replica); name one that does."),
    ("42501", StoreReadOnly, "Grant the user the right to create and change tables, or name another store."),
    ("42P07", StoreDamaged, "Use a database, or a schema (?options=-csearch_path%3Dname), of its own."),
    ("55P03", StoreUnavailable, _BUSY),
    ("57014", StoreUnavailable, _BUSY),
    ("28", StoreUnavailable, _ACCOUNT),
    ("3D000", StoreUnavailable, "Create it (`createdb NAME`), or correct the store's URL."),
    ("3F000", StoreUnavailable, "Create the schema, or correct the store's URL."),
    ("42P01", StoreDamaged, ""),
    ("42703", StoreDamaged, ""),
    ("XX001", StoreDamaged, ""),
    ("XX002", StoreDamaged, ""),
    ("08", StoreUnavailable, ""),
    ("53", StoreUnavailable, "Raise the server's limits, or use fewer processes at a time."),
    ("57", StoreUnavailable, ""),
    ("58", StoreUnavailable, "Check the server's disk and its log."),
)


def as_store_error(error: Exception, location: Location) -> OrchestraError:
    """The error that a caller sees, with its cause in words and without the statement and its values."""
    if (ours := raised_by_us(error)) is not None:
        return ours
    what = f"the store {location.shown} cannot be used"
    if isinstance(error, PoolTimeout):
        return StoreUnavailable(what, cause="all of its connections are in use")
    original = error.orig if isinstance(error, DBAPIError) else error
    if _is_orphan(original):
        return RunNotFound("the run is not in the store", cause="it was removed, or never begun")
    if isinstance(original, OSError):
        return of_system(original, location)
    if isinstance(original, sqlite3.Error):
        return _of_sqlite(original, what, location)
    if isinstance(error, SQLAlchemyError) or isinstance(original, Exception):
        return _of_server(original or error, what, location)
    return StoreError(what, cause=_words(error, location))


def raised_by_us(error: Exception) -> OrchestraError | None:
    """The error of ours that SQLAlchemy wraps because it was raised while values were bound."""
    ours = error.orig if isinstance(error, StatementError) else None
    return ours if isinstance(ours, OrchestraError) else None


def of_system(error: OSError, location: Location) -> StoreError:
    """What the operating system refused while a folder was made."""
    what = f"the store {location.shown} cannot be used"
    cause = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreReadOnly(what, cause=cause)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(what, cause=cause)
    return StoreUnavailable(what, cause=cause, suggestion=_CREATE)


def _is_orphan(error: BaseException | None) -> bool:
    if isinstance(error, sqlite3.IntegrityError):
        return getattr(error, "sqlite_errorname", "") == "SQLITE_CONSTRAINT_FOREIGNKEY"
    return getattr(error, "sqlstate", None) == "23503"


def _of_sqlite(error: sqlite3.Error, what: str, location: Location) -> StoreError:
    name = getattr(error, "sqlite_errorname", None) or ""
    if name.startswith("SQLITE_CANTOPEN"):
        return _unopened(what, location)
    for beginning, kind, cause, suggestion in _SQLITE:
        if name.startswith(beginning):
            return kind(what, cause=f"{cause} ({_words(error, location)})", suggestion=suggestion)
    if "no such table" in str(error) or "no such column" in str(error):
        return StoreDamaged(what, cause=_words(error, location))
    return StoreError(what, cause=_words(error, location))


def _unopened(what: str, location: Location) -> StoreError:
    path = location.path
    if path is not None and path.is_dir():
        return StoreUnavailable(what, cause="it is a folder", suggestion="Name a file.")
    if path is not None and path.parent.is_dir() and not os.access(path.parent, os.W_OK):
        return StoreReadOnly(what, cause=f"the folder {str(path.parent)!r} may not be written")
    if path is not None and path.exists() and not os.access(path, os.R_OK):
        return StoreUnavailable(what, cause="the file may not be read", suggestion="Give it read and write permission.")
    return StoreUnavailable(what, cause="the file cannot be opened", suggestion=_CREATE)


def _of_server(error: BaseException, what: str, location: Location) -> StoreError:
    state = getattr(error, "sqlstate", None) or ""
    cause = _words(error, location)
    for beginning, kind, suggestion in _POSTGRES:
        if state.startswith(beginning):
            return kind(what, cause=cause, suggestion=suggestion)
    if type(error).__name__ in ("OperationalError", "InterfaceError", "ConnectionTimeout"):
        return StoreUnavailable(what, cause=cause, suggestion=_suggested(cause))
    return StoreError(what, cause=cause)


def _suggested(cause: str) -> str:
    """Where a connection is refused, the server's words are all there is."""
    if "authentication" in cause or "password" in cause or "role" in cause:
        return _ACCOUNT
    if "does not exist" in cause:
        return "Create it (`createdb NAME`), or correct the store's URL."
    return ""


def _words(error: BaseException, location: Location) -> str:
    """The first line of the driver's message, without secrets."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    for secret in location.secrets:
        text = text.replace(secret, "***")
    return text.rstrip(".")
