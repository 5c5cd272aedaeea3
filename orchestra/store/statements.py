"""Statements that the databases spell differently, made once, and the clock that those who share one go by."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Delete, Table, Update, bindparam, func, literal_column, null, select
from sqlalchemy.dialects import postgresql, sqlite

from orchestra.store.texts import JsonText, Words

Row = Mapping[str, Any]

_BY_PLACE = sqlite.dialect(paramstyle="qmark")


@dataclass(frozen=True, slots=True)
class _Form:
    """A statement as it is when its values have certain names: its text, and what goes into each of its places."""

    text: str
    places: Sequence[tuple[str, Callable[[Any], Any]]]

    def bound(self, row: Row) -> list[Any]:
        """The values as they are written."""
        return [binder(row[name]) for name, binder in self.places]


class _Compiled:
    """A statement about a table: compiled once for each set of names that it is given values by."""

    def __init__(self, table: Table, by_dialect: Mapping[str, Any]) -> None:
        self._by_dialect = by_dialect
        self._columns = frozenset(column.name for column in table.columns)
        self._binders: dict[str, Callable[[Any], Any]] = {
            name: column.type.bound
            for column in table.columns
            if isinstance(column.type, Words | JsonText)
            for name in (column.name, f"its_{column.name}")
        }
        self._forms: dict[tuple[str, ...], _Form] = {}

    def _form(self, names: tuple[str, ...]) -> _Form:
        form = self._forms.get(names)
        if form is None:
            columns = [name for name in names if name in self._columns]
            compiled = self._by_dialect["sqlite"].compile(dialect=_BY_PLACE, column_keys=columns)
            places = [(name, self._binders.get(name, _as_it_is)) for name in compiled.positiontup]
            form = self._forms[names] = _Form(str(compiled), places)
        return form


class Written(_Compiled):
    """A statement that writes into a table."""

    def execute(self, connection: Connection, rows: Row | Sequence[Row]) -> int:
        """Of one row, or of several with the same names; returns how many were written or removed."""
        if connection.dialect.name == "sqlite":
            return self._execute_directly(connection, rows)
        statement = self._by_dialect[connection.dialect.name]
        return connection.execute(statement, rows, execution_options={"preserve_rowcount": True}).rowcount

    def _execute_directly(self, connection: Connection, rows: Row | Sequence[Row]) -> int:
        """Past SQLAlchemy, which takes longer over a statement than SQLite does: a run writes dozens of them."""
        driver: Any = connection.connection.driver_connection
        if isinstance(rows, Mapping):
            form = self._form(tuple(rows))
            cursor = driver.execute(form.text, form.bound(rows))
        else:
            form = self._form(tuple(rows[0]))
            cursor = driver.executemany(form.text, map(form.bound, rows))
        count = cursor.rowcount
        cursor.close()
        return count


class Probe(_Compiled):
    """Whether there is a row of which the columns NAME are the values given as `its_NAME`."""

    def __init__(self, table: Table, *columns: str) -> None:
        wanted = (
            select(literal_column("1"))
            .select_from(table)
            .where(*(table.c[name] == bindparam(f"its_{name}") for name in columns))
        )
        super().__init__(table, {"sqlite": wanted, "postgresql": wanted})

    def finds(self, connection: Connection, row: Row) -> bool:
        if connection.dialect.name != "sqlite":
            return connection.execute(self._by_dialect[connection.dialect.name], row).first() is not None
        driver: Any = connection.connection.driver_connection
        form = self._form(tuple(row))
        cursor = driver.execute(form.text, form.bound(row))
        found = cursor.fetchone()
        cursor.close()
        return found is not None


class Upsert(Written):
    """Insert rows; where a row's key is taken, replace and clear columns of the old row, or leave it alone.

    `where` is given the new row and says which old rows may be changed.
    """

    def __init__(
        self,
        table: Table,
        *,
        replacing: Sequence[str] = (),
        clearing: Sequence[str] = (),
        where: Callable[[Any], ColumnElement[bool]] | None = None,
    ) -> None:
        key = [column.name for column in table.primary_key]
        by_dialect: dict[str, Any] = {}
        for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql)):
            statement: Any = dialect.insert(table)
            changes = {column: statement.excluded[column] for column in replacing} | dict.fromkeys(clearing, null())
            if changes:
                condition = where(statement.excluded) if where else None
                statement = statement.on_conflict_do_update(index_elements=key, set_=changes, where=condition)
            else:
                statement = statement.on_conflict_do_nothing(index_elements=key)
            by_dialect[name] = statement
        super().__init__(table, by_dialect)


class Change(Written):
    """Update or delete the rows whose columns NAME are the values given as `its_NAME`."""

    def __init__(self, table: Table, statement: Update | Delete) -> None:
        super().__init__(table, {"sqlite": statement, "postgresql": statement})


def _as_it_is(value: Any) -> Any:
    return value


def now(connection: Connection) -> float:
    """The clock that all who use the database share: the server's, or that of the machine."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(select(func.extract("epoch", func.clock_timestamp()))).scalar_one())
