"""Aspects: the sides of a question, and how well each place serves each of them, from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orchestra.document.retrieval.index import TEXT, TITLES
from orchestra.document.retrieval.line_table import LineTable
from orchestra.document.retrieval.question import Question, Term
from orchestra.document.retrieval.scores import Scores, best, normalised, plain
from orchestra.document.retrieval.shelf import Shelf
from orchestra.document.retrieval.vocabulary import Need

_CANDIDATES = 24  # places of each aspect that are looked at line by line
_WINDOW = 8  # lines that are read together
_WINDOW_SHARE = 0.5  # of the best lines in the score for words, beside the whole place
_MASS_HALF = 3.0  # rarity of all words together at which what a question says counts half

_SPECIFIC_HALF = 10.0  # rarity of the words without a need at which needs count half
_NAMED, _NEEDED = 1.5, 1.0  # statements that a question names, needs that its terms have; its words weigh 1 at most
_MET = 0.8


@dataclass(frozen=True, slots=True)
class Aspect:
    """A side of a question. `met` is how much of it a place that serves it wholly takes from the others."""

    weight: float
    scores: Scores
    met: float


def aspects_of(
    question: Question, printed: Mapping[str, Scores], shelf: Shelf, *, is_one_of_many: bool = False
) -> tuple[list[Aspect], LineTable]:
    """What a question asks for, and the lines of the places that may serve it; `printed` tells the statements.

    One good place meets a need. What a question says, many places may say, unless others wait to be answered too.
    """
    words, mass, specific = _by_words(question.terms, shelf)
    needs = _needs(question, _NEEDED * _SPECIFIC_HALF / (_SPECIFIC_HALF + specific))
    rough = [_rough(need, shelf) for need, _ in needs]
    statements = [printed[need.statement] for need, _ in needs if need.statement]
    candidates = {row for scores in (words, *rough, *statements) for row in best(scores, _CANDIDATES)}
    table = LineTable((row, *shelf.at(row)) for row in sorted(candidates))
    lines = _by_lines(question.terms, table)
    said = {row: (1 - _WINDOW_SHARE) * score + _WINDOW_SHARE * lines.get(row, 0.0) for row, score in words.items()}
    aspects = [Aspect(mass / (mass + _MASS_HALF), said, _MET if is_one_of_many else 0.0)]
    for (need, weight), scores in zip(needs, rough, strict=True):
        aspects.append(Aspect(weight, _met(need, scores, printed.get(need.statement, {}), table), _MET))
    return aspects, table


def _needs(question: Question, weight: float) -> list[tuple[Need, float]]:
    """Each with its weight: the statements that are named, with the rows that terms want there, then other needs."""
    named = [
        Need(name, tuple(row for need in question.needs if need.statement == name for row in need.rows))
        for name in question.statements
    ]
    others = [need for need in question.needs if need.statement not in question.statements]
    return [*((need, _NAMED) for need in named), *((need, weight) for need in others)]


def _by_words(terms: Iterable[Term], shelf: Shelf) -> tuple[Scores, float, float]:
    """BM25 of whole places with the weights of the terms, the rarity of all terms together, and of specific ones."""
    scores: Scores = {}
    mass = specific = 0.0
    for term in terms:
        found = shelf.frequencies(term.phrases)
        weight = term.weight * shelf.rarity(len(found)) if found else 0.0
        mass += weight
        specific += weight * term.is_specific
        for row, strength in found.items():
            scores[row] = scores.get(row, 0.0) + weight * strength
    return normalised(scores), mass, specific


def _rough(need: Need, shelf: Shelf) -> Scores:
    """How well a place's titles and words fit a need."""
    scores: Scores = {}
    for phrases, fields, weight in ((need.titles, TITLES, 2.0), (need.words, TEXT, 1.0), (need.rows, TEXT, 0.5)):
        for phrase in plain(phrases):
            found = shelf.frequencies([phrase], fields)
            rarity = weight * shelf.rarity(len(found))
            for row, strength in found.items():
                scores[row] = scores.get(row, 0.0) + rarity * strength
    return normalised(scores)


def _met(need: Need, rough: Scores, printed: Scores, table: LineTable) -> Scores:
    """How well each place meets a need: the rows that it asks for on the statement, else its titles and words."""
    rows = {row: 1 - 0.5**count for row, count in table.labelled(plain(need.rows)).items()}
    scores: Scores = {}
    for row in dict.fromkeys((*rough, *rows, *printed)):
        labels = rows.get(row, 0.0)
        if need.statement:
            scores[row] = min(printed.get(row, 0.0) * (0.4 + 0.6 * labels) + 0.2 * rough.get(row, 0.0) * labels, 1.0)
        else:
            scores[row] = 0.7 * rough.get(row, 0.0) + 0.3 * labels
    return scores


def _by_lines(terms: Iterable[Term], table: LineTable) -> Scores:
    """For each place, the share of the task's words, by weight and rarity, that its best few lines hold together."""
    masks = [0] * len(table.lines)
    weights: list[float] = []
    for term in terms:
        holders = table.holders(term.phrases)
        for at in holders:
            masks[at] |= (not table.lines[at].is_contents) << len(weights)
        weights.append(term.weight * table.rarity(len(holders)))
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
