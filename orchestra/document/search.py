"""Lexical search: BM25 with English stemming, through SQLite's FTS5 in memory."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass

_COMMON = """
    a about above after all also am an and any are as at be because been before being between both but by can could
    did do does doing down during each few for from further had has have having he her here hers him his how i if in
    into is it its itself just let me more most my no nor not now of off on once only or other our out over own same
    she should so some such than that the their them then there these they this those through to too under until up
    us very was we were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_COMMON.split())
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A row and its BM25 score; higher is better."""

    row: int
    score: float


class LexicalIndex:
    """Rows of (title, body); the title weighs four times the body. Thread-safe, order deterministic."""

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        import sqlite3

        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(
            "CREATE VIRTUAL TABLE unit USING fts5(title, body, content='', detail=column,"
            " tokenize='porter unicode61 remove_diacritics 2')"
        )
        self._connection.executemany(
            "INSERT INTO unit(rowid, title, body) VALUES (?, ?, ?)",
            ((row, title, body) for row, (title, body) in enumerate(rows)),
        )
        self._connection.commit()

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The best rows for any of the query's words, best first; stop words are dropped."""
        words = dict.fromkeys(word.lower() for word in _WORD.findall(query))
        terms = [word for word in words if word not in STOP_WORDS] or list(words)
        if not terms or limit < 1:
            return []
        expression = " OR ".join(f'"{term}"' for term in terms)
        with self._lock:
            found: list[tuple[int, float]] = self._connection.execute(
                "SELECT rowid, bm25(unit, 4.0, 1.0) AS cost FROM unit WHERE unit MATCH ? ORDER BY cost, rowid LIMIT ?",
                (expression, limit),
            ).fetchall()
        return [Hit(row, -cost) for row, cost in found]
