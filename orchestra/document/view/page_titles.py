"""The titles on a page: where sections begin, what stands at its top, and the heads of its paragraphs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property

from orchestra.document.document import Document
from orchestra.document.titles import is_contents_row, is_numeric_row, read_title
from orchestra.document.view.wording import first_words, one_line

REPEATED_SHARE = 0.2
"""Of the pages: a line on so many of them names none of them."""

FEWEST_NAMED = 0.1
"""Of the pages: with fewer that have a title, pages are named by their first words."""

MOST_READ_PAGES = 4_000  # of a longer text only the outline's titles are taken
_TOP_LINES = 4
_OPENING_WIDTH = 80  # characters
_MOST_TOPS = 3  # pages that may share a line at their top
_MOST_TITLES = 12
_FEW_TITLES = 2  # a page with fewer is also called by the heads of its paragraphs
_DIGITS = re.compile(r"\d+")
_HEAD = re.compile(r"(?P<head>[^\W\d_][\w ,&/'’()-]{3,60}?)\s*(?::|\.?\s[—–])(?=\s|$)")


class PageTitles:
    """The titles of each page of a document, in the order in which they stand."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names: dict[int, list[str]] = {}
        self._is_read = len(document.page_starts) <= MOST_READ_PAGES

    def of(self, page: int) -> tuple[str, ...]:
        """The titles on a page, counted from 0; () where the text of the page before runs on without one."""
        own = self._own(page)
        heads = self._heads(page) if self._is_read and len(own) < _FEW_TITLES else []
        return tuple(dict.fromkeys([*own, *heads]))[:_MOST_TITLES]

    def is_named(self, page: int) -> bool:
        """Whether a title begins something on the page; the heads of paragraphs are none."""
        return bool(self._own(page))

    def _own(self, page: int) -> list[str]:
        """What begins on the page; where few pages have a title at all, the first words of each are its name."""
        if page not in self._names:
            self._names[page] = self._named(page)
        return self._names[page]

    def _named(self, page: int) -> list[str]:
        titles = self._begun(page)
        return titles if titles or not self._is_bare else [words for words in [self._opening(page)] if words]

    @cached_property
    def _is_bare(self) -> bool:
        pages = len(self._document.page_starts)
        return sum(bool(self._begun(page)) for page in range(pages)) < FEWEST_NAMED * pages

    def _opening(self, page: int) -> str:
        return first_words(self._texts(page), _OPENING_WIDTH)

    def _begun(self, page: int) -> list[str]:
        began = [title for _, title in self._sections.get(page, ())]
        found = [*self._tops.get(page, ()), *began] if self._is_read else began
        titles: dict[str, str] = {}
        for title in found:
            key = _same(title)
            if self._pages_with[key] < self._too_many and key not in self._before(page):
                titles.setdefault(key, title)
        return list(titles.values())

    def level(self, page: int) -> int:
        """The level of the highest section that begins on a page; 9 where none does."""
        return min((level for level, _ in self._sections.get(page, ())), default=9)

    @cached_property
    def _sections(self) -> dict[int, list[tuple[int, str]]]:
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for section in self._document.outline.sections:
            title = one_line(section.title[:200])
            is_head = section.first_line in self._document.running_heads
            if title and not is_head and not re.fullmatch(r"Page \d+", title):
                found[(self._document.page_of(section.first_line) or 1) - 1].append((section.level, title))
        return dict(found)

    @cached_property
    def _tops(self) -> dict[int, list[str]]:
        """Title-like lines at the top of a page that few pages share."""
        seen: Counter[str] = Counter()
        tops: dict[int, list[str]] = {}
        for page in range(len(self._document.page_starts)):
            lines = [one_line(text) for text in self._texts(page)[:_TOP_LINES]]
            seen.update({_folded(line) for line in lines})
            tops[page] = [title.text for line in lines if (title := read_title(line)) and title.kind != "numbered"]
        return {
            page: [title for title in titles if seen[_folded(title)] <= _MOST_TOPS] for page, titles in tops.items()
        }

    def _heads(self, page: int) -> list[str]:
        """The words before a colon or a dash at the front of a paragraph, and short lines that end in a colon."""
        heads: list[str] = []
        for text in self._texts(page):
            found = _HEAD.match(text)
            if found and not is_numeric_row(text) and not is_contents_row(text) and found["head"][0].isupper():
                heads.append(one_line(found["head"]))
        return heads[:_MOST_TITLES]

    def _texts(self, page: int) -> list[str]:
        """The lines of a page that hold text, the first 200."""
        starts = self._document.page_starts
        first = starts[page]
        last = starts[page + 1] - 1 if page + 1 < len(starts) else self._document.line_count
        lines = (self._document.line(number)[:400] for number in range(first, min(last, first + 200) + 1))
        return [line.strip() for line in lines if line.strip()]

    def _before(self, page: int) -> frozenset[str]:
        """The titles of the page before: what runs on is named once."""
        if not page:
            return frozenset()
        return frozenset(_same(title) for _, title in self._sections.get(page - 1, ()))

    @cached_property
    def _pages_with(self) -> Counter[str]:
        seen: Counter[str] = Counter()
        for titles in self._sections.values():
            seen.update({_same(title) for _, title in titles})
        return seen

    @cached_property
    def _too_many(self) -> float:
        return max(3, REPEATED_SHARE * len(self._document.page_starts))


def _same(title: str) -> str:
    return title.casefold().strip(" .:;-–—")


def _folded(line: str) -> str:
    return _DIGITS.sub("#", _same(line))
