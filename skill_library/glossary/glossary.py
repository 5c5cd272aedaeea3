"""Abbreviations and defined terms of an answer, as the documents themselves explain them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from orchestra.skills.code import CodeContext

ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9&-]{1,7}\b")
MARK = re.compile(r"\[[^\[\]]*\]")
MOST_TERMS = 12
BRACKETS = (("(", ")"), ('("', '")'), ("(“", "”)"))
QUOTES = (('"', '"'), ("“", "”"))
PUNCTUATION = re.compile(r"[^\w' \t-]")
MEANS = re.compile(r" (?:means|refers to|is) ([^.\n]+)")
FARTHEST = 400  # characters that are looked at on either side of a term
MOST_PLACES = 1000  # of a term in one document: a text may be built to hold it a million times


def glossary(context: CodeContext) -> dict[str, Any]:
    """`{"terms": [{"term", "meaning", "document", "line"}]}`, in the order in which the answer uses them."""
    wanted = dict.fromkeys(ABBREVIATION.findall(MARK.sub(" ", context.answer)))
    terms = [found for term in wanted if (found := explained(term, context))][:MOST_TERMS]
    return {"terms": terms}


def explained(term: str, context: CodeContext) -> dict[str, Any] | None:
    """Where a document says what the term stands for: `Long Form (LF)`, or `"LF" means ...`."""
    for document in context.documents or ():
        for marks, meaning_at in ((BRACKETS, spelt_out), (QUOTES, defined)):
            for start, end in places_of(term, marks, document.text):
                meaning = meaning_at(document.text, start, end, term)
                if meaning:
                    line = document.text.count("\n", 0, start) + 1
                    return {"term": term, "meaning": meaning, "document": document.name, "line": line}
    return None


def places_of(term: str, marks: Iterable[tuple[str, str]], text: str) -> Iterator[tuple[int, int]]:
    """Where it stands between such marks. A plain search: an expression would hold up every thread of a large text."""
    for before, after in marks:
        marked = f"{before}{term}{after}"
        start = text.find(marked)
        for _ in range(MOST_PLACES):
            if start < 0:
                break
            yield start, start + len(marked)
            start = text.find(marked, start + len(marked))


def spelt_out(text: str, start: int, _end: int, term: str) -> str:
    line = text[max(0, start - FARTHEST) : start].rpartition("\n")[2]
    return initials_match(PUNCTUATION.split(line)[-1], term)


def defined(text: str, _start: int, end: int, _term: str) -> str:
    found = MEANS.match(text, end, end + FARTHEST)
    return found[1].strip() if found else ""


def initials_match(phrase: str, term: str) -> str:
    """The end of a phrase that begins with the first letter of its abbreviation, as far back as there are letters."""
    words = phrase.split()
    letters = sum(character.isalpha() for character in term)
    for count in range(min(len(words), letters + 3), 0, -1):
        if words[-count][0].upper() == term[0] and sum(word[0].isalpha() for word in words[-count:]) >= min(letters, 2):
            return " ".join(words[-count:])
    return ""
