"""Statements that the databases spell differently, made once: SQLAlchemy keeps what it compiles by the object."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, CursorResult, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite


class Upsert:
    """Insert rows; where a row's key is taken, replace the columns named, or leave the old row alone if none is.

    `fixed` sets columns of an old row to values that are not the new row's. `where` is given the new row and says
    which old rows may be replaced.
    """

    def __init__(
        self,
        table: Table,
        *,
        replacing: Sequence[str] = (),
        fixed: Mapping[str, Any] | None = None,
        where: Callable[[Any], ColumnElement[bool]] | None = None,
    ) -> None:
        key = [column.name for column in table.primary_key]
        self._by_dialect: dict[str, Any] = {}
        for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql)):
            statement: Any = dialect.insert(table)
            changes = {column: statement.excluded[column] for column in replacing} | dict(fixed or {})
            if changes:
                condition = where(statement.excluded) if where else None
                statement = statement.on_conflict_do_update(index_elements=key, set_=changes, where=condition)
            else:
                statement = statement.on_conflict_do_nothing(index_elements=key)
            self._by_dialect[name] = statement

    def execute(
        self, connection: Connection, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    ) -> CursorResult[Any]:
        return connection.execute(self._by_dialect[connection.dialect.name], values)

    def count(self, connection: Connection, values: Mapping[str, Any]) -> int:
        """`execute`, and how many rows were inserted or replaced."""
        return self.execute(connection.execution_options(preserve_rowcount=True), values).rowcount


def now(connection: Connection) -> float:
    """The clock that all who use the database share: the server's, or that of the machine."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())
