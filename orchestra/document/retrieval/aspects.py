"""Aspects: the sides of a task, and how well each place serves each of them, from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from orchestra.document.retrieval.index import TITLES
from orchestra.document.retrieval.line_table import Line, LineTable
from orchestra.document.retrieval.question import Question, Term
from orchestra.document.retrieval.shelf import Shelf
from orchestra.document.retrieval.vocabulary import Need, Statement, Vocabulary
from orchestra.document.retrieval.words import words_of

Scores = dict[int, float]

_CANDIDATES = 24  # places of each aspect that are looked at line by line
_WINDOW = 4  # lines that are read together
_WINDOW_SHARE = 0.5  # of the best lines in the score for words, beside the whole place
_ROWS_HALF = 4  # so many labels of a statement make half of one
_TABLE_SHARE = 0.4  # of a page's lines are rows in a statement
_UNTITLED = 0.35
_UNNAMED_ROWS = 0.4

NAMED, NEEDED, SAID = 1.0, 0.7, 1.0


@dataclass(frozen=True, slots=True)
class Aspect:
    """A side of a task. `is_shared` aspects want many places, others are met by one good place."""

    weight: float
    scores: Scores
    is_met_by_one: bool


def words_of_places(terms: Iterable[Term], shelf: Shelf) -> Scores:
    """BM25 of whole places, with the weights of the terms."""
    scores: Scores = {}
    for term in terms:
        found = shelf.frequencies(term.phrases)
        weight = term.weight * shelf.rarity(len(found))
        for row, strength in found.items():
            scores[row] = scores.get(row, 0.0) + weight * strength
    return normalised(scores)


def normalised(scores: Mapping[int, float]) -> Scores:
    highest = max(scores.values(), default=0.0)
    return {row: score / highest for row, score in scores.items()} if highest > 0 else {}


def best(scores: Mapping[int, float], count: int = _CANDIDATES) -> list[int]:
    """The places with the highest scores, equal ones in order."""
    return nsmallest(count, scores, key=lambda row: (-scores[row], row))


def rough_statement(statement: Statement, shelf: Shelf) -> Scores:
    """How many of a statement's titles and rows a place mentions, before its lines are looked at."""
    scores: Scores = {}
    for row in shelf.frequencies(_plain(statement.titles), TITLES):
        scores[row] = 4.0
    for label in statement.rows:
        for row in shelf.frequencies(_plain([label])):
            scores[row] = scores.get(row, 0.0) + 1.0
    return normalised(scores)


def rough_need(need: Need, shelf: Shelf) -> Scores:
    """How well a place's titles and words fit a need."""
    scores: Scores = {}
    for phrases, fields, weight in ((need.titles, TITLES, 2.0), (need.words, (), 1.0), (need.rows, (), 0.5)):
        for phrase in _plain(phrases):
            found = shelf.frequencies([phrase], fields)
            rarity = weight * shelf.rarity(len(found))
            for row, strength in found.items():
                scores[row] = scores.get(row, 0.0) + rarity * strength
    return normalised(scores)


def _plain(phrases: Iterable[str]) -> list[str]:
    return [" ".join(words_of(phrase)) for phrase in phrases]


def statement_scores(statement: Statement, rough: Scores, table: LineTable, shelf: Shelf) -> Scores:
    """How surely each place prints a statement: its labels on rows with figures, under its title."""
    labels: dict[int, int] = {}
    for label in statement.rows:
        for place in {table.lines[at].place for at in table.holders(_plain([label])) if table.lines[at].is_row}:
            labels[place] = labels.get(place, 0) + 1
    titled = set(shelf.frequencies(_plain(statement.titles), TITLES))
    titled |= {table.lines[at].place for at in table.holders(_plain(statement.titles)) if _is_title(table.lines[at])}
    shares = _row_shares(table.lines)
    return {
        place: count
        / (count + _ROWS_HALF)
        * min(shares[place] / _TABLE_SHARE, 1.0)
        * (1.0 if place in titled else _UNTITLED)
        for place, count in labels.items()
    }


def _is_title(line: Line) -> bool:
    return not line.is_row and len(line.text.split()) <= 10 and line.text[-1] not in ".,;"


def _row_shares(lines: list[Line]) -> dict[int, float]:
    rows: dict[int, int] = {}
    every: dict[int, int] = {}
    for line in lines:
        every[line.place] = every.get(line.place, 0) + 1
        rows[line.place] = rows.get(line.place, 0) + line.is_row
    return {place: rows[place] / count for place, count in every.items()}


def need_scores(need: Need, rough: Scores, printed: Scores, table: LineTable) -> Scores:
    """How well each place meets a need: the rows that it asks for on the statement, else its titles and words."""
    labels: dict[int, int] = {}
    for label in need.rows:
        for place in {table.lines[at].place for at in table.holders(_plain([label])) if table.lines[at].is_row}:
            labels[place] = labels.get(place, 0) + 1
    rows = {place: 1 - 0.5**count for place, count in labels.items()}
    scores: Scores = {}
    for place in dict.fromkeys((*rough, *rows, *printed)):
        row = rows.get(place, 0.0)
        if need.statement:
            score = printed.get(place, 0.0) * (0.4 + 0.6 * row) + 0.2 * rough.get(place, 0.0) * row
        else:
            score = 0.7 * rough.get(place, 0.0) + 0.3 * row
        scores[place] = min(score, 1.0)
    return scores


def words_of_lines(terms: Iterable[Term], table: LineTable) -> Scores:
    """For each place, the share of the task's words, by weight and rarity, that its best few lines hold together."""
    masks = [0] * len(table.lines)
    weights: list[float] = []
    for term in terms:
        holders = table.holders(term.phrases)
        if not holders:
            continue
        bit = 1 << len(weights)
        weights.append(term.weight * table.rarity(len(holders)))
        for at in holders:
            masks[at] |= bit
    known: dict[int, float] = {}
    scores: Scores = {}
    for at, line in enumerate(table.lines):
        together = 0
        for beside in range(at, min(at + _WINDOW, len(masks))):
            if table.lines[beside].place == line.place:
                together |= masks[beside]
        if together not in known:
            known[together] = sum(weight for bit, weight in enumerate(weights) if together >> bit & 1)
        scores[line.place] = max(scores.get(line.place, 0.0), known[together])
    return normalised(scores)


def aspects_of(question: Question, vocabulary: Vocabulary, shelf: Shelf) -> tuple[list[Aspect], LineTable]:
    """What a question asks for, and the lines of the places that may serve it."""
    needs = [*(Need(statement=name) for name in question.statements), *question.needs]
    names = dict.fromkeys(need.statement for need in needs if need.statement)
    words = words_of_places(question.terms, shelf)
    rough_needs = [rough_need(need, shelf) for need in needs]
    rough_statements = {name: rough_statement(vocabulary.statements[name], shelf) for name in names}
    every = [words, *rough_needs, *rough_statements.values()]
    candidates = sorted({row for scores in every for row in best(scores)})
    table = LineTable((row, *shelf.at(row)) for row in candidates)
    printed = {
        name: statement_scores(vocabulary.statements[name], rough, table, shelf)
        for name, rough in rough_statements.items()
    }
    lines = words_of_lines(question.terms, table)
    said = {row: (1 - _WINDOW_SHARE) * score + _WINDOW_SHARE * lines.get(row, 0.0) for row, score in words.items()}
    aspects = [Aspect(SAID, said, False)]
    for name in question.statements:
        merged = Need(name, tuple(row for need in question.needs if need.statement == name for row in need.rows))
        aspects.append(Aspect(NAMED, need_scores(merged, {}, printed[name], table), True))
    for need, rough in zip(needs, rough_needs, strict=True):
        if need in question.needs and need.statement not in question.statements:
            aspects.append(Aspect(NEEDED, need_scores(need, rough, printed.get(need.statement, {}), table), True))
    return aspects, table
