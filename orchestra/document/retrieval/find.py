"""The search itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from orchestra.document.document import DocumentSet
from orchestra.document.ranges import LineRange
from orchestra.document.retrieval.abbreviations import long_forms
from orchestra.document.retrieval.aspects import Aspect, aspects_of
from orchestra.document.retrieval.best_lines import ScoredLine, best_lines
from orchestra.document.retrieval.cover import covering
from orchestra.document.retrieval.hits import Hits, LineHit, Place, PlaceHit
from orchestra.document.retrieval.line_table import LineTable
from orchestra.document.retrieval.question import Question, read_task, with_long_forms
from orchestra.document.retrieval.shelf import Shelf
from orchestra.document.retrieval.statements import statement_places
from orchestra.document.retrieval.vocabulary import read_vocabulary
from orchestra.document.retrieval.words import words_of

MOST_PLACES = 60
MOST_LINES = 60


def find(
    task: str,
    documents: DocumentSet,
    *,
    most_places: int = MOST_PLACES,
    most_lines: int = MOST_LINES,
    exclude: Collection[LineRange] = (),
    vocabulary: str | Path | None = None,
) -> Hits:
    """The places and lines that serve `task` best. Deterministic; empty where none of its words occurs.

    A place that lies wholly in `exclude` is left out, so that the best unread ones can be asked for. `vocabulary` is a
    file of further report terms, see `report_terms.toml`; None reads the one that ORCHESTRA_VOCABULARY names, if any.
    """
    terms = read_vocabulary(vocabulary)
    names = {word for name in documents.names for word in words_of(name)}
    shelf = Shelf(documents)
    questions = [
        with_long_forms(question, long_forms(question.abbreviations, shelf))
        for question in read_task(task, terms, names)
    ]
    wanted = any(question.statements or any(need.statement for need in question.needs) for question in questions)
    printed = statement_places(tuple(terms.statements.values()), shelf) if wanted else {}
    aspects: list[Aspect] = []
    alike: dict[int, frozenset[int]] = {}
    tables: list[tuple[Question, LineTable]] = []
    for question in questions:
        found, table = aspects_of(question, printed, shelf, is_one_of_many=len(questions) > 1)
        aspects += found
        alike |= table.alike()
        tables.append((question, table))

    def is_read(row: int) -> bool:
        return _is_within(shelf.at(row)[1], exclude)

    gains = dict(covering(aspects, alike, most_places, is_read))
    places = tuple(PlaceHit(shelf.at(row)[1], gain) for row, gain in gains.items())
    highest = places[0].score if places else 1.0
    shares = {row: gain / highest for row, gain in gains.items()}
    ranked = [best_lines(question, table, shelf, shares, most_lines) for question, table in tables]
    return Hits(places, _line_hits(ranked, shelf, is_read)[:most_lines])


def _line_hits(ranked: list[list[ScoredLine]], shelf: Shelf, is_read: Callable[[int], bool]) -> tuple[LineHit, ...]:
    """The lines of all parts of a task together, each line once; the best line of each part counts alike."""
    hits: dict[tuple[int, int], LineHit] = {}
    for score, line in ((score / lines[0][0], line) for lines in ranked for score, line in lines):
        _, place = shelf.at(line.place)
        known = hits.get((line.place, line.number))
        if not is_read(line.place) and (known is None or known.score < score):
            hits[line.place, line.number] = LineHit(line.number, place, score)
    return tuple(hits[at] for at in sorted(hits, key=lambda at: (-hits[at].score, at)))


def _is_within(place: Place, ranges: Collection[LineRange]) -> bool:
    return any(
        lines.key == place.key and lines.first <= place.first_line and place.last_line <= lines.last for lines in ranges
    )
