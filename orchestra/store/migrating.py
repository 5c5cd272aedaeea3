"""The schema's history: an ordered list of steps, each applied once, in a transaction of its own.

Two processes may open a store at the same time: a step is chosen and applied under a lock of the database.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sqlalchemy import Connection, func, insert, inspect, select

from orchestra.errors import StoreDamaged, StoreTooNew
from orchestra.store.tables import schema_version

_LOCK = 0x6F726368  # any number that others who share a PostgreSQL server do not use
_BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. `sql` holds statements that end with `;` and a line feed; `{bytes}` stands for the type of bytes."""

    version: int
    sql: str

    def statements(self, dialect: str) -> list[str]:
        text = self.sql.replace("{bytes}", _BYTES[dialect])
        return [statement for part in text.split(";\n") if (statement := part.strip().rstrip(";"))]


@cache
def known_migrations() -> tuple[Migration, ...]:
    """Those of this version, in order: `migrations/0001_first.sql` and so on."""
    folder = files("orchestra.store").joinpath("migrations")
    scripts = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return tuple(Migration(int(entry.name[:4]), entry.read_text(encoding="utf-8")) for entry in scripts)


def migrate(connection: Connection, migrations: Sequence[Migration] | None = None) -> int:
    """Bring the schema up to date; returns how many steps that took. `connection` commits each statement by itself.

    Raises `StoreTooNew` for a schema that a later version wrote, `StoreDamaged` for the database of something else.
    """
    steps = known_migrations() if migrations is None else migrations
    latest = steps[-1].version
    if _version(connection) == latest:
        return 0
    taken = 0
    while (step := _apply_next(connection, steps, latest)) is not None:
        taken += step
    return taken


def _apply_next(connection: Connection, steps: Sequence[Migration], latest: int) -> int | None:
    _begin_alone(connection)
    try:
        version = _version(connection)
        if version > latest:
            raise StoreTooNew(
                "the store cannot be used",
                cause=f"its schema has version {version}, and this Orchestra knows {latest}",
            )
        step = next((step for step in steps if step.version > version), None)
        if step is None:
            connection.exec_driver_sql("COMMIT")
            return None
        if version == 0:
            _make_version_table(connection)
        for statement in step.statements(connection.dialect.name):
            connection.exec_driver_sql(statement)
        connection.execute(insert(schema_version).values(version=step.version, applied_at=time.time()))
        connection.exec_driver_sql("COMMIT")
    except BaseException:
        if connection.dialect.name != "sqlite" or _is_in_transaction(connection):
            connection.exec_driver_sql("ROLLBACK")
        raise
    return 1


def _begin_alone(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    connection.exec_driver_sql("BEGIN")
    connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))


def _is_in_transaction(connection: Connection) -> bool:
    return bool(getattr(connection.connection.dbapi_connection, "in_transaction", True))


def _version(connection: Connection) -> int:
    """0 for a database that has no schema of ours."""
    if not inspect(connection).has_table(schema_version.name):
        return 0
    return connection.execute(select(func.max(schema_version.c.version))).scalar() or 0


def _make_version_table(connection: Connection) -> None:
    inspector = inspect(connection)
    if inspector.has_table(schema_version.name):
        return
    others = inspector.get_table_names() if connection.dialect.name == "sqlite" else []
    if others:
        raise StoreDamaged(
            "the store cannot be used",
            cause=f"it is the database of another program, with a table {others[0]!r}",
            suggestion="Name another file, or one that does not exist yet.",
        )
    schema_version.create(connection)
