"""Where a store is: a file of SQLite, or a database of a PostgreSQL server."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from orchestra.errors import InputInvalid

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
_FORMS = "Use a path, sqlite:///runs.db or postgresql://user@host/database."


@dataclass(frozen=True)
class Location:
    """`url` is complete, with its driver and an absolute path; `shown` may be printed: its password is masked."""

    url: URL

    @classmethod
    def of(cls, place: str | Path) -> Location:
        """From a path or a URL. Raises `InputInvalid`, which does not quote what may hold a password."""
        if isinstance(place, Path) or "://" not in place:
            text = os.fspath(place)
            if not text or "\0" in text:
                raise InputInvalid("the store's name is no path and no URL", suggestion=_FORMS)
            return cls(_file(URL.create("sqlite+pysqlite", database=text)))
        try:
            url = make_url(place)
        except (ArgumentError, ValueError, TypeError) as error:
            raise InputInvalid("the store's URL cannot be read", suggestion=_FORMS) from _wordless(error)
        if url.drivername in _SQLITE:
            return cls(_file(url.set(drivername="sqlite+pysqlite")))
        if url.drivername in _POSTGRES:
            return cls(url.set(drivername="postgresql+psycopg"))
        raise InputInvalid(f"a store cannot be kept in {url.drivername!r}", suggestion=_FORMS)

    @cached_property
    def is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path | None:
        """The file; None for a server, and for a database in memory."""
        return Path(self.url.database) if self.is_sqlite and self.url.database else None

    @property
    def key(self) -> str:
        """Tells locations apart, password included: never printed."""
        return self.url.render_as_string(hide_password=False)

    @property
    def shown(self) -> str:
        name = "sqlite" if self.is_sqlite else "postgresql"
        return _masked(self.url.set(drivername=name)).render_as_string(hide_password=True)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not stand in a message."""
        passwords = (self.url.password, *(self.url.query.get(key) for key in _SECRET_PARAMETERS))
        return tuple(str(password) for password in passwords if password)


_SECRET_PARAMETERS = ("password", "sslpassword")


def _masked(url: URL) -> URL:
    hidden = {key: "***" for key in _SECRET_PARAMETERS if key in url.query}
    return url.update_query_dict(hidden) if hidden else url


def _file(url: URL) -> URL:
    path = url.database or ""
    if path in ("", ":memory:"):
        return url.set(database=None)
    return url.set(database=os.path.abspath(os.path.expanduser(path)))


def _wordless(error: Exception) -> Exception:
    """The error without its text, which quotes the URL."""
    return type(error)("the URL is not quoted, as it may hold a password")
