"""Abbreviations and defined terms of an answer, as the documents themselves explain them."""

from __future__ import annotations

import re
from typing import Any

from orchestra.skills.code import CodeContext

ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9&-]{1,7}\b")
MARK = re.compile(r"\[[^\]]*\]")
MOST_TERMS = 12


def glossary(context: CodeContext) -> dict[str, Any]:
    """`{"terms": [{"term", "meaning", "document", "line"}]}`, in the order in which the answer uses them."""
    wanted = dict.fromkeys(ABBREVIATION.findall(MARK.sub(" ", context.answer)))
    terms = [found for term in wanted if (found := explained(term, context))][:MOST_TERMS]
    return {"terms": terms}


def explained(term: str, context: CodeContext) -> dict[str, Any] | None:
    """Where a document says what the term stands for: `Long Form (LF)`, or `"LF" means ...`."""
    words = rf"(?:[A-Za-z][\w'-]*[ \t]+){{0,{len(term) + 3}}}[A-Za-z][\w'-]*"
    spelt = re.compile(rf"({words})[ \t]*\([\"“]?{re.escape(term)}[\"”]?\)")
    defined = re.compile(rf"[\"“]{re.escape(term)}[\"”] (?:means|refers to|is) ([^.\n]+)")
    for document in context.documents or ():
        for pattern in (spelt, defined):
            found = pattern.search(document.text)
            meaning = initials_match(found[1], term) if found and pattern is spelt else found[1] if found else ""
            if found and meaning:
                line = document.text.count("\n", 0, found.start(1)) + 1
                return {"term": term, "meaning": meaning.strip(), "document": document.name, "line": line}
    return None


def initials_match(phrase: str, term: str) -> str:
    """The end of a phrase that begins with the first letter of its abbreviation, as far back as there are letters."""
    words = phrase.split()
    letters = sum(character.isalpha() for character in term)
    for count in range(min(len(words), letters + 3), 0, -1):
        if words[-count][0].upper() == term[0] and sum(word[0].isalpha() for word in words[-count:]) >= min(letters, 2):
            return " ".join(words[-count:])
    return ""
