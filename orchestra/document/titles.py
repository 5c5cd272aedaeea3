"""What a line of plain text looks like: a title, a row of numbers, a row of a table of contents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

TitleKind = Literal["label", "numbered", "capitals", "words"]

# lower ranks stand higher in the outline; numbered titles add a hundredth per level of their number
_LABEL_RANKS = {
    "part": 1.0,
    "chapter": 1.0,
    "appendix": 1.0,
    "annex": 1.0,
    "book": 1.0,
    "item": 2.0,
    "article": 2.0,
    "exhibit": 2.0,
    "schedule": 2.0,
    "section": 3.0,
    "note": 3.0,
}
_NUMBERED_RANK, _CAPITALS_RANK, _WORDS_RANK = 3.0, 3.0, 4.0
_LONGEST_TITLE = 200
_MOST_WORDS = 12
_MOST_BARE_WORDS = 6  # without an "of" or an "and" among them
_MOST_LABELLED_WORDS = 30
_FEWEST_PROSE_WORDS = 7
_FEWEST_CAPITALS = 5

_LABEL = re.compile(
    rf"(?P<label>(?i:{'|'.join(_LABEL_RANKS)})\s+(?:\d{{1,3}}(?:\.\d+)*[A-Z]?|[IVXLC]+|[A-Z])(?![\w(]))"
    r"(?P<separator>\s*[.:)—–-]*\s*)(?P<rest>.*)"
)
_COUNT = r"第\s*[〇零一二三四五六七八九十百千\d]+\s*"
_EASTERN_LABEL = re.compile(_COUNT + r"(?:(?P<high>[编編部篇章])|[节節條条款])\s*(?P<rest>.*)")
_NUMBER = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3}){1,5}\.?|\d{1,3}[.)]|[IVX]{1,5}\.|[A-Z]\.)\s+(?P<rest>\S.*)")
_MONTH = re.compile(r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b")
_FIGURE = re.compile(r"[($€£¥+-]*\d[\d,.:/-]*[%)x]*|[—–-]+|[$€£¥%]")
_SENTENCE_BREAK = re.compile(r"[.!?][\"”’')]*\s+[A-Z]")
_CONTENTS_ROW = re.compile(r"(?:\D.*?)(?:(?:\s*\.){3,}\s*|\s+)(?:\d{1,3}|[ivxl]{1,6})$")
_NO_TITLE = re.compile(r"[$%☐☒|=<>{}\[\]_@]")
_ROW_ENDS = frozenset("0123456789ivxl")
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\S{0,6}$")
_SMALL = "a an and as at by for from in into its nor of on or our per than that the their to under upon via vs with &"
_SMALL_WORDS = frozenset(_SMALL.split())
_STRAY_LETTER = re.compile(r"(?<=[a-z]{2}) (?=[a-z]$)")  # some PDFs set the last letter of a link apart
_CONTINUATION = re.compile(r"\s*[-–—(]*\s*\b(?:continued|cont['’]?d)\b\.?\)?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Title:
    """A title-like line. `rank` orders titles: the lower, the higher in the outline."""

    text: str
    rank: float
    kind: TitleKind
    is_open: bool  # a label without a title, or a line that breaks off: the next line may go on with it


def read_title(line: str) -> Title | None:
    """The title that a line looks like, by itself; None for text, table rows and rows of a table of contents."""
    if len(line) > 2 * _LONGEST_TITLE:
        return None
    line = without_stray_letter(_CONTINUATION.sub("", " ".join(line.split())))
    if not line or len(line) > _LONGEST_TITLE or is_contents_row(line) or _LEADERS.search(line):
        return None
    return _labelled(line) or _numbered(line) or _capitals(line) or _words(line)


def without_stray_letter(line: str) -> str:
    """A line whose last letter, if it stands apart from its word, is joined to it."""
    return _STRAY_LETTER.sub("", line)


def may_be_labelled(line: str) -> bool:
    """Whether a line begins with a label: a quick look, before `read_title` has its own."""
    return bool(_LABEL.match(line))


def is_contents_row(line: str) -> bool:
    """A title with leaders or a page number after it, and no other figures."""
    if line[-1:] not in _ROW_ENDS or len(line) > _LONGEST_TITLE or not _CONTENTS_ROW.fullmatch(line):
        return False
    before = line.rsplit(None, 1)[0].rstrip(". ")
    if not any(letter.isalpha() for letter in before) or _LABEL.fullmatch(line):
        return bool(_LABEL.fullmatch(line)) and bool(_LABEL.fullmatch(before))
    return not any(_FIGURE.fullmatch(word) for word in before.split()[1:]) and not _MONTH.search(before.split()[-1])


def is_prose(line: str) -> bool:
    """A line of running text: several words, few of them figures."""
    words = line.split()
    return len(words) >= _FEWEST_PROSE_WORDS and sum(bool(_FIGURE.fullmatch(word)) for word in words) * 4 < len(words)


def is_numeric_row(line: str) -> bool:
    """A row with two figures or more, or with one for each word."""
    words = line.split()
    figures = sum(bool(_FIGURE.fullmatch(word)) for word in words)
    return figures >= 2 or (figures == 1 and len(words) <= 2)


def _labelled(line: str) -> Title | None:
    eastern = _EASTERN_LABEL.fullmatch(line)
    if eastern:
        return Title(line, 1.0 if eastern["high"] else 2.0, "label", not eastern["rest"])
    found = _LABEL.fullmatch(line)
    if not found:
        return None
    rest = found["rest"]
    if rest and (not found["separator"] or not _begins_title(rest) or not _ends_title(rest)):
        return None
    if rest and rest.split()[0].lower() in _SMALL_WORDS and not found["separator"].strip():
        return None
    if len(rest.split()) > _MOST_LABELLED_WORDS or _SENTENCE_BREAK.search(rest):
        return None
    rank = _LABEL_RANKS[found["label"].split()[0].lower()]
    return Title(line.rstrip(" ."), rank, "label", not rest or _breaks_off(rest))


def _numbered(line: str) -> Title | None:
    found = _NUMBER.fullmatch(line)
    if not found:
        return None
    rest = found["rest"]
    words = rest.split()
    if not _begins_title(rest) or len(words) > _MOST_WORDS or rest[-1] in ".,;:!?" or _SENTENCE_BREAK.search(rest):
        return None
    if _MONTH.match(rest) or is_numeric_row(rest):
        return None
    depth = found["number"].strip(".)").count(".")
    if not depth and not found["number"][0].isdigit() and not _is_capitalised(words):
        return None
    return Title(line, _NUMBERED_RANK + depth / 100, "numbered", _breaks_off(rest))


def _capitals(line: str) -> Title | None:
    words = line.split()
    if not line.isupper() or sum(map(str.isalpha, line)) < _FEWEST_CAPITALS or len(words) > _MOST_WORDS + 4:
        return None
    if not _begins_title(line) or line[-1] in ".,;:!?&" or sum(bool(_FIGURE.fullmatch(word)) for word in words) > 1:
        return None
    return Title(line, _CAPITALS_RANK, "capitals", _breaks_off(line))


def _words(line: str) -> Title | None:
    words = line.split()
    if (
        line.lower() in ("page", "pages")
        or len(words) > _MOST_WORDS
        or len(line) < 4
        or line[-1] in ".,;:!?&"
        or not _begins_title(line)
    ):
        return None
    if "/s/" in line or _NO_TITLE.search(line) or any(_FIGURE.fullmatch(word) for word in words):
        return None
    if len(words) > _MOST_BARE_WORDS and not any(word in _SMALL_WORDS for word in words):
        return None  # the heads of a table's columns
    return Title(line, _WORDS_RANK, "words", _breaks_off(line)) if _is_capitalised(words) else None


def _is_capitalised(words: list[str]) -> bool:
    """Title Case: a capital at the front of every word but the small ones."""
    heavy = [word.lstrip("“\"'‘(") for word in words if word.lower() not in _SMALL_WORDS]
    return bool(heavy) and all(word[:1].isupper() or not word[:1].isalpha() for word in heavy)


def _begins_title(text: str) -> bool:
    first = text.lstrip("“\"'‘")[:1]
    return first.isalpha() and not first.islower()


def _ends_title(text: str) -> bool:
    return text[-1] not in ",;:"


def _breaks_off(text: str) -> bool:
    return text[-1] in "-–—/,&" or text.split()[-1].lower() in _SMALL_WORDS
