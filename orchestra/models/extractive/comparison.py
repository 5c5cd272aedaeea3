"""Comparing: one block of quotes for each thing that a question names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestra.models.extractive.choosing import best
from orchestra.models.extractive.query import Query, about
from orchestra.models.extractive.quoting import bullets
from orchestra.models.extractive.ranking import Ranked, rank
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import stems, words

PER_THING, MAX_THINGS = 3, 4


def blocks(query: Query, things: Sequence[str], statements: Sequence[Statement]) -> list[str]:
    """The lines of the answer: each thing as a bold line, then sentences and rows about it."""
    lines: list[str] = []
    all_named = {each for thing in things for each in stems(thing)}
    points = query.weights.keys() - all_named
    for thing in things:
        named = set(stems(thing))
        asked = about(query, all_named if points else all_named - named)
        own = [each for each in statements if _is_about(named, each) and not _is_about_other(thing, things, each)]
        found = rank(asked, own) or rank(query, own)
        sentences = [each for each in found if not each.statement.is_row]
        wanted = [*_one_for_each_word(asked, sentences), *best(sentences, PER_THING, share=0.5)]
        chosen = list({each.statement.text: each for each in wanted}.values())[:PER_THING]
        chosen += best((each for each in found if each.statement.is_row), PER_THING, share=0.7)
        body = bullets(query, chosen) if chosen else [f"INSUFFICIENT: nothing on {thing}."]
        lines += [f"**{thing}**", "", *body, ""]
    return lines


def _one_for_each_word(query: Query, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The best sentence on each single point of comparison."""
    statements = [each.statement for each in ranked]
    found = [rank(about(query, query.weights.keys() - {point}), statements) for point in query.weights]
    return list({id(some[0].statement): some[0] for some in found if some}.values())


def compared(question: str, statements: Iterable[Statement]) -> list[str]:
    """The things that a question compares: the headings and row labels that it names, in its order, at most four."""
    asked = " ".join(words(question))
    titles: dict[str, None] = {}
    for statement in statements:
        for title in (*statement.titles, statement.label if statement.is_row else ""):
            titles[title] = None
    found: dict[str, int] = {}
    for title in sorted(titles, key=len, reverse=True):
        spoken = " ".join(words(title))
        place = f" {asked} ".find(f" {spoken} ") if spoken and len(spoken) > 2 else -1
        if place >= 0 and not any(spoken in " ".join(words(other)) for other in found):
            found[title] = place
    return sorted(found, key=lambda title: found[title])[:MAX_THINGS]


def _is_about(named: set[str], statement: Statement) -> bool:
    here = set(statement.stems).union(*statement.title_stems)
    return named <= here


def _is_about_other(thing: str, things: Sequence[str], statement: Statement) -> bool:
    """Whether it stands under another of the compared things and only mentions this one."""
    return thing not in statement.titles and any(other in statement.titles for other in things if other != thing)
