"""The lines that match a task best, under the places where they stand, table rows with the head of their columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from orchestra.document.document import Document, DocumentSet
from orchestra.document.ranges import LineRange
from orchestra.document.retrieval import LineHit, Place
from orchestra.document.search import terms_of
from orchestra.document.tokens import count_tokens
from orchestra.document.view.wording import CUT, clipped, one_line

LONGEST_LINE = 300  # characters; a longer line is cut around the match
MOST_LINES = 28
_TITLE_WIDTH = 40  # characters
_MOST_OF_PLACE = 4  # lines of one place, before every place has had its turn
_LEAST_SHARE = 0.3  # of the best line's score, for a line after the first few
_FEW_LINES = 6
_MOST_SENTENCES = 6  # of the best lines that come with the rest of their sentence
_BROKEN_LENGTHS = (50, 240)  # characters of a line of running text that was broken
_SENTENCE_ENDS = frozenset(".!?:;|")
_NO_SENTENCE = frozenset(("", "|", "#", "-", "*", ">", "•"))
_MOST_MISSES = 6  # lines that no longer fit, one after the other


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a view, and the line of a document that stands in it whole."""

    text: str
    shown: LineRange | None = None


def best_lines(
    documents: DocumentSet, hits: Sequence[LineHit], task: str, budget_tokens: int, skip: Collection[LineRange] = ()
) -> list[Row]:
    """As many of the best lines as `budget_tokens` and `MOST_LINES` allow, by place in the order of its best line.

    Lines of `skip` stand elsewhere. A line of a table comes with the lines that name its columns.
    """
    from orchestra.document.view.heads import heads_of, is_head  # loads the grammar of figures

    terms = terms_of(task)
    chosen: dict[Place, dict[int, Row]] = {}
    left, missed, count = budget_tokens, 0, 0
    for hit in _by_turns(hits):
        place = hit.place
        document = documents.find(place.key)
        if hit.line in chosen.get(place, {}) or any(_holds(lines, place.key, hit.line) for lines in skip):
            continue
        if hit.score < _LEAST_SHARE * hits[0].score and count >= _FEW_LINES:
            continue
        if is_head(document, hit.line) or _is_heading(document, hit.line):
            continue  # the one comes with the rows of its table, the other stands in the outline
        heads = heads_of(document, hit.line, place.first_line)
        is_cut = not heads and count < _MOST_SENTENCES
        wanted = [hit.line, *heads, *(_rest_of_sentence(document, hit.line, place) if is_cut else ())]
        rows = {number: row(document, place.key, number, terms) for number in wanted}
        new = {number: each for number, each in rows.items() if number not in chosen.get(place, {})}
        cost = sum(count_tokens(each.text + "\n") for each in new.values())
        cost += 0 if place in chosen else count_tokens(_name(documents, place) + "\n")
        if cost > left:
            missed += 1
            if missed == _MOST_MISSES:
                break
            continue
        chosen.setdefault(place, {}).update(new)
        left -= cost
        count += 1
        if count == MOST_LINES:
            break
    return [
        each
        for place, lines in chosen.items()
        for each in (Row(_name(documents, place)), *(lines[number] for number in sorted(lines)))
    ]


def _name(documents: DocumentSet, place: Place) -> str:
    """The id of a place, and the title of a section, whose own entry may be one of many that are not shown."""
    document, own_id = documents.find(place.key), documents.qualify(place.key, place.id)
    title = "" if document.page_starts else document.outline.section(place.id.partition(".")[0]).title
    return f"{own_id} {clipped(one_line(title[:200]), _TITLE_WIDTH)}".rstrip() + ":"


def row(document: Document, key: str, number: int, terms: Sequence[str]) -> Row:
    """A line with its number, whole where it is short."""
    text = document.line(number)
    if len(text) <= 2 * LONGEST_LINE:
        clean = one_line(text)
        if len(clean) <= LONGEST_LINE:
            return Row(f"L{number} {clean}", LineRange(key, number, number))
    return Row(f"L{number} {_around(text, terms)}")


def _around(text: str, terms: Sequence[str]) -> str:
    """The stretch of a long line that holds most of the task's words, cut marks at its ends."""
    width = LONGEST_LINE - 20
    first = _densest(text, terms, width)
    stretch = one_line(text[first : first + width])
    return f"{CUT if first else ''}{stretch}{CUT if first + width < len(text) else ''}"


def _densest(text: str, terms: Sequence[str], width: int) -> int:
    """Where a window of `width` characters begins that holds most different terms; the first of equals."""
    if not terms:
        return 0
    words = re.compile("|".join(re.escape(term[:6]) for term in sorted(terms, key=len, reverse=True)), re.IGNORECASE)
    seen: list[tuple[int, str]] = []
    best = (0, 0)
    for found in words.finditer(text, 0, 200_000):
        seen = [each for each in seen if each[0] > found.start() - width + 20]
        seen.append((found.start(), found[0].casefold()))
        kinds = len({word for _, word in seen})
        if kinds > best[0]:
            best = (kinds, seen[0][0])
    start = max(best[1] - 40, 0)
    return text.rfind(" ", 0, start) + 1 if start else 0


def _is_heading(document: Document, number: int) -> bool:
    section = document.outline.at(number)
    return section.kind == "heading" and section.first_line == number and section.last_line > number


def _rest_of_sentence(document: Document, number: int, place: Place) -> list[int]:
    """The lines before and after, where a sentence was broken at a line's end to go on in the next."""
    rest: list[int] = []
    if number > place.first_line and _goes_on(document.line(number - 1), document.line(number)):
        rest.append(number - 1)
    if number < place.last_line and _goes_on(document.line(number), document.line(number + 1)):
        rest.append(number + 1)
    return rest


def _goes_on(text: str, following: str) -> bool:
    """Whether two lines are one sentence: the first is as long as a broken line and does not end one."""
    is_broken = _BROKEN_LENGTHS[0] <= len(text) <= _BROKEN_LENGTHS[1]
    return is_broken and text.rstrip()[-1:] not in _SENTENCE_ENDS and following[:1].strip() not in _NO_SENTENCE


def _by_turns(hits: Sequence[LineHit]) -> list[LineHit]:
    """The same hits, those beyond the first few of a place after all others."""
    seen: dict[Place, int] = {}
    early: list[LineHit] = []
    late: list[LineHit] = []
    for hit in hits:
        seen[hit.place] = seen.get(hit.place, 0) + 1
        (early if seen[hit.place] <= _MOST_OF_PLACE else late).append(hit)
    return [*early, *late]


def _holds(lines: LineRange, key: str, number: int) -> bool:
    return lines.key == key and lines.first <= number <= lines.last
