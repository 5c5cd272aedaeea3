"""Cloze questions of a document's own sentences: those that define a term, and those that state a number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from orchestra.document import Document
from orchestra.document.grammar import Number, quantities
from orchestra.document.grammar.text import plain
from orchestra.document.sentences import blocks, sentences
from orchestra.errors import InputInvalid
from orchestra.skills.code import CodeContext

BLANK = "_____"
FEWEST_WORDS, MOST_WORDS = 6, 45
SHORT = 22  # words of a sentence that is easy to take in
OPTIONS = 4
MOST_OF_SECTION = 6  # questions, so that a long section does not fill the exam

_NO_PROSE = re.compile(r"[ \t]*(?:\||#{1,6}[ \t]|```)|.*\|.*\|")
_BULLET = re.compile(r"^(?:[-*+•>]\s+|\(?\d{1,3}[.)]\s+)+")
_LEANS = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|she|his|her|such|there|both|here|the (?:former|latter))\b",
    re.IGNORECASE,
)
_TERM = r"((?:(?:The|An?) )?[A-Z][\w&'’-]*(?: [\w&'’-]+){0,2}?)"
_DEFINES = (
    re.compile(r"[\"“]([^\"”]{2,40})[\"”] (?:means|refers to|denotes|stands for) "),
    re.compile(rf"^{_TERM} (?:means|refers to|denotes|is defined as|is called|is known as) "),
    re.compile(rf"^{_TERM} (?:is|are) (?:an?|the|any|[a-z]+ (?:less|plus|divided by)) "),
)
_ENTRY = re.compile(r"(?:[-*+][ \t]+)?(?:\*\*|__)([^*_:\n]{2,60})(?:(?:\*\*|__):|:(?:\*\*|__))\s+(\S)")
_NO_TERM = re.compile(
    r"\b(?:most|least|first|second|third|last|next|one|two|three|of|in|on|by|and|or|we|which|that|what|year|quarter|half"
    r"|largest|greatest|other|figure|share|rest|number|result|reason)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_DIGITS = re.compile(r"\d(?:[\d.,\u00a0\u202f ]*\d)?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sentence stands. `key` tells the sections of all documents apart; `mark` cites its lines."""

    key: str
    section: str
    mark: str


@dataclass(frozen=True, slots=True)
class Cloze:
    """A sentence and the stretch of it that is asked for."""

    sentence: str
    start: int
    end: int
    kind: str
    unit: str
    numbers: int
    place: Place

    @property
    def answer(self) -> str:
        return self.sentence[self.start : self.end]

    @property
    def question(self) -> str:
        return re.sub(rf"(?<![\w.,]){re.escape(self.answer)}(?![\w]|[.,]\d)", BLANK, self.sentence)


def questions(context: CodeContext, count: int = 40, sections: str = "all") -> dict[str, Any]:
    """`{"questions": [...]}`: at most `count`, from all over the documents, in their order.

    `sections` is "all", or words of titles, parted by commas. Raises `InputInvalid` where no question can be made.
    """
    documents = context.documents
    if not documents:
        raise InputInvalid("there is no document to ask about", suggestion="Name a document.")
    wanted = [part.strip().casefold() for part in sections.split(",") if part.strip()]
    is_all = not wanted or wanted == ["all"]
    found: list[Cloze] = []
    for key, _, document in documents.items():
        found += _clozes(document, f"{key}:" if key else "", [] if is_all else wanted)
    if not found:
        where = ", ".join(documents.names)
        raise InputInvalid(
            f"no question can be made of {where}" + ("" if is_all else f" in sections named {sections!r}"),
            cause="a question needs a sentence of its prose that states a number or defines a term",
            suggestion="Name a document with prose." if is_all else "Name other sections, or all of them.",
        )
    chosen = sorted(_spread(found, count), key=found.index)
    pool = _pool(found)
    return {"questions": [_told(number, cloze, pool) for number, cloze in enumerate(chosen, start=1)]}


def _clozes(document: Document, prefix: str, wanted: list[str]) -> Iterator[Cloze]:
    """One for each sentence that can be asked about, each wording once."""
    seen: set[str] = set()
    top = 1 if len(document.outline.roots) == 1 else 0  # the document's own title says nothing
    for section in document.outline.sections:
        path = " > ".join(section.path).casefold()
        if wanted and not any(part in path for part in wanted):
            continue
        text = document.lines(section.first_line, section.body_last_line)
        is_code = False
        for first, last in blocks(text):
            is_code ^= text.startswith("```", first)
            if is_code or _NO_PROSE.match(text, first):
                continue
            entry = _ENTRY.match(text, first, last)
            for start, end in [(first, last)] if entry else sentences(text, first, last):
                sentence = _BULLET.sub("", " ".join(plain(text[start:end]).split()))
                lines = [section.first_line + text.count("\n", 0, at) for at in (start, end)]
                mark = f"L{lines[0]}-L{lines[1]}" if lines[0] < lines[1] else f"L{lines[0]}"
                place = Place(
                    f"{prefix}{section.id}", " > ".join((section.path[top:] or section.path)[-2:]), f"[{prefix}{mark}]"
                )
                cloze = _entry(sentence, entry[1].strip(), place) if entry else _cloze(sentence, place)
                if cloze is not None and sentence.casefold() not in seen:
                    seen.add(sentence.casefold())
                    yield cloze


def _entry(sentence: str, term: str, place: Place) -> Cloze | None:
    """An entry of a glossary, `**Term**: what it means`."""
    if not sentence.startswith(term) or not FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS:
        return None
    return Cloze(sentence, 0, len(term), "term", "", 0, place)


def _cloze(sentence: str, place: Place) -> Cloze | None:
    words = len(sentence.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS or sentence[-1] not in ".!。" or _LEANS.match(sentence):
        return None
    numbers = [number for number in quantities(sentence)[1] if _can_be_asked(number, sentence)]
    for pattern in _DEFINES:
        found = pattern.search(sentence)
        if found and not _LEANS.match(found[1]) and not _NO_TERM.search(found[1]):
            article = _ARTICLE.match(found[1])
            start = found.start(1) + (article.end() if article else 0)
            return Cloze(sentence, start, found.end(1), "term", "", len(numbers), place)
    if not numbers:
        return None
    number = max(numbers, key=lambda each: (bool(each.unit), each.scale is not None, len(each.text), -each.start))
    digits = _DIGITS.search(sentence, number.start, number.end)
    if digits is None:
        return None
    cloze = Cloze(sentence, digits.start(), digits.end(), "number", number.unit, len(numbers), place)
    return cloze if BLANK in cloze.question else None


def _can_be_asked(number: Number, sentence: str) -> bool:
    """A number in digits that is neither a year nor so small that anyone would guess it."""
    is_named = number.unit in ("quarter", "half", "ordinal")
    is_guessed = number.value < 10 and not number.places and not number.unit
    return sentence[number.start : number.end].strip("$€£(+-−")[:1].isdigit() and not (
        number.is_year or is_named or is_guessed
    )


def _spread(found: list[Cloze], count: int) -> list[Cloze]:
    """At most `count`: the first of each section, then the second of each, and so on."""
    by_section: dict[str, list[Cloze]] = defaultdict(list)
    for cloze in found:
        by_section[cloze.place.key].append(cloze)
    rounds = ([each[at] for each in by_section.values() if at < len(each)] for at in range(MOST_OF_SECTION))
    chosen = [cloze for one in rounds for cloze in one]
    if len(chosen) <= count:
        return chosen
    return [chosen[at * len(chosen) // count] for at in range(count)]


def _pool(found: Iterable[Cloze]) -> dict[tuple[str, str], list[str]]:
    """Answers of the same kind, for choices that could be right."""
    pool: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for cloze in found:
        pool[cloze.kind, cloze.unit].setdefault(cloze.answer)
    return {kind: list(answers) for kind, answers in pool.items()}


def _told(number: int, cloze: Cloze, pool: dict[tuple[str, str], list[str]]) -> dict[str, Any]:
    difficulty = "hard" if cloze.numbers > 2 or len(cloze.sentence.split()) > SHORT + 8 else "medium"
    options = _options(cloze, pool[cloze.kind, cloze.unit])
    if difficulty == "medium" and number % 2 and options:
        difficulty = "easy"
    return {
        "id": f"q{number}",
        "question": cloze.question,
        "answer": cloze.answer,
        "options": options if difficulty == "easy" else [],
        "difficulty": difficulty,
        "kind": cloze.kind,
        "section": cloze.place.section,
        "sentence": cloze.sentence,
        "lines": cloze.place.mark,
    }


def _options(cloze: Cloze, answers: list[str]) -> list[str]:
    """The answer among its nearest of the same kind that the sentence does not hold, in an order that tells nothing."""
    others = [each for each in answers if each != cloze.answer and each not in cloze.question]
    at = answers.index(cloze.answer)
    near = sorted(others, key=lambda each: (abs(len(each) - len(cloze.answer)), abs(answers.index(each) - at)))
    options = sorted([cloze.answer, *near[: OPTIONS - 1]], key=lambda each: (len(each), each))
    is_confusing = any(len(each) == 1 for each in options)  # a digit could mean the option's number
    return options if len(options) == OPTIONS and not is_confusing else []
