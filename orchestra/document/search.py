"""Lexical search: BM25 with English stemming, through SQLite's FTS5 in memory."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

_COMMON = """
    a about above after all also am an and any are as at be because been before being between both but by can could
    did do does doing down during each few for from further had has have having he her here hers him his how i if in
    into is it its itself just let me more most my no nor not now of off on once only or other our out over own same
    she should so some such than that the their them then there these they this those through to too under until up
    us very was we were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_COMMON.split())
_WORD = re.compile(r"[^\W_]+")
_TOKENIZER = "tokenize='porter unicode61 remove_diacritics 2'"
_MOST_TERMS = 64
TITLE_AND_BODY = {"title": 4.0, "body": 1.0}  # what a query is searched in, and how it weighs
_LEAST_RARITY = 1e-6  # what FTS5 takes where more than half of the rows hold a phrase


@dataclass(frozen=True, slots=True)
class Hit:
    """A row and its BM25 score; higher is better."""

    row: int
    score: float


class LexicalIndex:
    """Rows of texts, one for each field, searched by BM25 with English stemming.

    Thread-safe. The same rows and query give the same hits in the same order: by score, then by row.
    """

    def __init__(self, rows: Iterable[tuple[str, ...]], fields: Sequence[str] = tuple(TITLE_AND_BODY)) -> None:
        import sqlite3

        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._fields = tuple(fields)
        names = ", ".join(fields)
        self._connection.execute(f"CREATE VIRTUAL TABLE unit USING fts5({names}, content='', {_TOKENIZER})")
        self._connection.execute("BEGIN")
        self._connection.executemany(
            f"INSERT INTO unit(rowid, {names}) VALUES (?{', ?' * len(fields)})",
            ((row, *texts) for row, texts in enumerate(rows)),
        )
        self._connection.execute("COMMIT")
        self._size = int(self._connection.execute("SELECT count(*) FROM unit").fetchone()[0])

    def __len__(self) -> int:
        return self._size

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The best rows for any of the query's words, best first; a title weighs four times the body.

        Stop words do not count.
        """
        terms = terms_of(query)
        if not terms or limit < 1:
            return []
        found = self._rows(
            f"SELECT rowid, {self._cost(TITLE_AND_BODY)} AS cost FROM unit WHERE unit MATCH ?"
            " ORDER BY cost, rowid LIMIT ?",
            _within(TITLE_AND_BODY, " OR ".join(f'"{term}"' for term in terms)),
            limit,
        )
        return [Hit(int(row), -cost) for row, cost in found]

    def frequencies(self, phrase: str, fields: Mapping[str, float]) -> dict[int, float]:
        """How strongly each row holds a phrase in some fields: BM25 without its factor for rarity, 0 to 2.2.

        `fields` gives their weights.
        """
        words = " ".join(_WORD.findall(phrase))
        if not words:
            return {}
        found = self._rows(
            f"SELECT rowid, {self._cost(fields)} FROM unit WHERE unit MATCH ?", _within(fields, f'"{words}"')
        )
        rarity = max(math.log((len(self) - len(found) + 0.5) / (len(found) + 0.5)), 0.0) or _LEAST_RARITY
        return {int(row): -cost / rarity for row, cost in found}

    def covering(self, query: str, least: float, limit: int) -> list[tuple[int, float, float]]:
        """(row, coverage, score) of rows that hold at least `least` of the query's words, each weighted by rarity.

        A query of one word that more than a quarter of the rows hold finds nothing: it is no name for any of them.
        """
        terms = terms_of(query)
        holders = {term: self._holders(term) for term in terms}
        weights = {term: math.log1p(len(self) / (len(rows) or 0.5)) for term, rows in holders.items()}
        total = sum(weights.values())
        if not any(holders.values()) or (len(terms) == 1 and 4 * len(holders[terms[0]]) > max(len(self), 8)):
            return []
        scores = {hit.row: hit.score for hit in self.search(query, limit=max(limit, len(self)))}
        covered = [
            (row, sum(weights[term] for term in terms if row in holders[term]) / total, score)
            for row, score in scores.items()
        ]
        good = sorted((one for one in covered if one[1] >= least), key=lambda one: (-one[1], -one[2], one[0]))
        return good[:limit]

    def titled(self, query: str) -> list[int]:
        """Rows whose title holds every word of the query, in order."""
        terms = terms_of(query)
        expression = " AND ".join(f'title : "{term}"' for term in terms)
        found = self._rows("SELECT rowid FROM unit WHERE unit MATCH ? ORDER BY rowid", expression) if terms else []
        return [int(row) for (row,) in found]

    def _holders(self, term: str) -> frozenset[int]:
        found = self._rows("SELECT rowid FROM unit WHERE unit MATCH ?", _within(TITLE_AND_BODY, f'"{term}"'))
        return frozenset(row for (row,) in found)

    def _cost(self, fields: Mapping[str, float]) -> str:
        """BM25 as SQL: a column's weight for each field, 0 for those that are not asked for."""
        return f"bm25(unit, {', '.join(str(fields.get(field, 0.0)) for field in self._fields)})"

    def _rows(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()


def _within(fields: Iterable[str], expression: str) -> str:
    return f"{{{' '.join(fields)}}} : ({expression})"


def terms_of(query: str) -> list[str]:
    """The distinct words of a query in order, stop words dropped."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(query))
    return [word for word in words if word not in STOP_WORDS][:_MOST_TERMS]


def phrases_in(text: str, phrases: Iterable[str]) -> frozenset[str]:
    """Those of `phrases` whose words stand in `text` one after another, compared without case and by their stems."""
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE said USING fts5(words, tokenize='porter unicode61 remove_diacritics 2')"
        )
        connection.execute("INSERT INTO said VALUES (?)", (text,))
        count = "SELECT count(*) FROM said WHERE said MATCH ?"
        return frozenset(
            phrase
            for phrase in phrases
            if any(character.isalnum() for character in phrase)
            and connection.execute(count, ('"' + phrase.replace('"', " ").replace("\0", " ") + '"',)).fetchone()[0]
        )
