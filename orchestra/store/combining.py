"""Writes of many threads, of which those that wait for one another go out together."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from sqlalchemy import Connection

from orchestra.errors import StoreUnavailable
from orchestra.store.statements import Row, Written

Transact = Callable[[Callable[[Connection], object]], object]


@dataclass(slots=True, eq=False)
class _Write:
    statement: Written
    row: Row
    is_done: bool = False
    error: Exception | None = None


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
        if not self._waiting and self._turn.acquire(blocking=False):
            try:
                self._run(lambda connection: statement.execute(connection, row))
            finally:
                self._turn.release()
            return
        mine = _Write(statement, row)
        self._waiting.append(mine)
        with self._turn:
            if not mine.is_done:
                self._write_all()
        if mine.error is not None:
            raise mine.error

    def _write_all(self) -> None:
        writes = [self._waiting[place] for place in range(len(self._waiting))]  # others go on adding to them
        if len(writes) > 1 and self._are_settled_together(writes):
            return
        for write in writes:
            self._settle(write, self._written_alone(write))

    def _are_settled_together(self, writes: Sequence[_Write]) -> bool:
        """False where one of them stood in the way of all. A store that cannot be reached is asked once for all."""

        def write_each(connection: Connection) -> None:
            for write in writes:
                write.statement.execute(connection, write.row)

        error = None
        try:
            self._transact(write_each)
        except StoreUnavailable as raised:
            error = raised
        except Exception:  # noqa: BLE001 - raised anew for the row that it is about
            return False
        for write in writes:
            self._settle(write, copy(error))  # each is raised on a thread of its own
        return True

    def _written_alone(self, write: _Write) -> Exception | None:
        """What went wrong with it, a defect included: only the thread whose row it is shall meet with that."""
        try:
            self._run(lambda connection: write.statement.execute(connection, write.row))
        except Exception as error:  # noqa: BLE001 - raised where it belongs
            return error
        return None

    def _settle(self, write: _Write, error: Exception | None) -> None:
        write.error = error  # first: whoever is cut off behind it has told what came of the write
        self._waiting.popleft()
        write.is_done = True
