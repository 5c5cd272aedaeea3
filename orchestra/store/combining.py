"""Writes of many threads, of which those that wait for one another go out together."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from orchestra.errors import OrchestraError
from orchestra.store.statements import Row, Written

Transact = Callable[[Callable[[Connection], object]], object]


@dataclass(slots=True, eq=False)
class _Write:
    statement: Written
    row: Row
    is_done: bool = False
    error: OrchestraError | None = None


class Combined:
    """Takes one row from any thread, and returns when it is committed.

    Whoever has the turn writes for all who wait for it, in one transaction: "flat combining" (Hendler, Incze, Shavit
    and Tzafrir, 2010). `run` commits each statement by itself, `transact` all or none.
    """

    def __init__(self, run: Transact, transact: Transact) -> None:
        self._run = run
        self._transact = transact
        self._turn = threading.Lock()
        self._waiting: deque[_Write] = deque()

    def write(self, statement: Written, row: Row) -> None:
        """Raises what went wrong with this row, whatever becomes of the others."""
        mine = _Write(statement, row)
        self._waiting.append(mine)
        with self._turn:
            if not mine.is_done:
                self._write_all(tuple(self._waiting))
        if mine.error is not None:
            raise mine.error

    def _write_all(self, writes: Sequence[_Write]) -> None:
        if len(writes) == 1 or not self._are_written_together(writes):
            for write in writes:
                self._write_alone(write)
        for write in writes:
            self._waiting.popleft()
            write.is_done = True

    def _are_written_together(self, writes: Sequence[_Write]) -> bool:
        """False where one of them stood in the way of all."""

        def write_each(connection: Connection) -> None:
            for write in writes:
                write.statement.execute(connection, write.row)

        try:
            self._transact(write_each)
        except OrchestraError:
            return False
        return True

    def _write_alone(self, write: _Write) -> None:
        try:
            self._run(lambda connection: write.statement.execute(connection, write.row))
        except OrchestraError as error:
            write.error = error
