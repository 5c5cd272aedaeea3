"""A document: a text with a name and an outline. A document set: one or more of them, with keys."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast, overload

from orchestra.document.folding import Folded, fold, names_of
from orchestra.document.lines import Lines
from orchestra.document.outline import Outline, Unit
from orchestra.document.pages import form_feeds, page_at, running_heads
from orchestra.document.search import LexicalIndex
from orchestra.document.tokens import EXACT_CHARACTERS, TokenCount, count_tokens, size_of
from orchestra.errors import DocumentUnreadable, InputInvalid

if TYPE_CHECKING:
    from orchestra.document.convert import Converted
    from orchestra.document.heading import Heading
    from orchestra.document.ranges import LineRange
    from orchestra.document.slices import Slice

_HASHED_AT_ONCE = 1_000_000  # characters
_MARK_TOKENS = 14  # about what "[s1234 L123456-L123567]" costs


class Document:
    """A text whose lines are 1-indexed and never renumbered. Immutable and thread-safe.

    Outline, index and token count are made on first demand and kept. The text has LF line ends, no byte order
    mark, U+FFFD for NUL and for what could not be decoded; `warnings` says what was replaced.
    `page_starts` holds the first line of each page, `bookmarks` (level, title, line) where the file had them.
    """

    def __init__(
        self,
        text: str,
        *,
        name: str = "document",
        media_type: str = "text/markdown",
        warnings: tuple[str, ...] = (),
        page_starts: tuple[int, ...] = (),
        bookmarks: tuple[tuple[int, str, int], ...] = (),
    ) -> None:
        self.text = text
        self.name = name.encode("utf-8", "replace").decode()  # a path's name need not be text
        self.media_type = media_type
        self.warnings = warnings
        self._page_starts = page_starts
        self.bookmarks = bookmarks
        self._lines = Lines(text)

    @classmethod
    def from_text(cls, text: str | bytes, *, name: str = "document") -> Document:
        """A document of markdown or plain text."""
        from orchestra.document.decode import decode, normalise
        from orchestra.document.long_lines import with_lines

        clean, warnings = decode(text) if isinstance(text, bytes) else normalise(text)
        clean, divided = with_lines(clean)
        return cls(clean, name=name, warnings=warnings + divided)

    @classmethod
    def from_path(cls, path: str | Path) -> Document:
        """A document from a text, markdown, PDF, DOCX or HTML file; "-" is standard input.

        `DocumentUnreadable` says why it could not be read.
        """
        from orchestra.document.convert import convert, read_path

        data, name = read_path(path)
        return cls.from_converted(convert(data, name), name=name)

    @classmethod
    def from_converted(cls, converted: Converted, *, name: str, headings: Sequence[Heading] | None = None) -> Document:
        """A document of what a converter gave; with `headings` (`outline.headings`) its outline need not be found."""
        document = cls(
            converted.text,
            name=name,
            media_type=converted.media_type,
            warnings=converted.warnings,
            page_starts=converted.page_starts,
            bookmarks=converted.bookmarks,
        )
        if headings is not None:
            document.__dict__["outline"] = Outline(document._lines, headings)  # where the cached property keeps it
        return document

    @property
    def converted(self) -> Converted:
        """What the document is made of, besides its name: the inverse of `from_converted`."""
        from orchestra.document.convert import Converted

        return Converted(self.text, self.media_type, self.warnings, self._page_starts, self.bookmarks)

    @property
    def line_count(self) -> int:
        return self._lines.count

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        for start in range(0, len(self.text), _HASHED_AT_ONCE):
            digest.update(self.text[start : start + _HASHED_AT_ONCE].encode())
        return digest.hexdigest()

    @cached_property
    def tokens(self) -> int:
        return count_tokens(self.text)

    @cached_property
    def size(self) -> TokenCount:
        """Tokens of the text at a bounded price: counted, or estimated where it is huge."""
        return size_of(self.text)

    @cached_property
    def outline(self) -> Outline:
        return Outline.build(
            self._lines,
            is_markdown=not self._page_starts,
            page_starts=self.page_starts,
            bookmarks=self.bookmarks,
        )

    @cached_property
    def folded_titles(self) -> tuple[tuple[Folded, ...], ...]:
        """For each section of the outline, the folded forms of the names it goes by."""
        return tuple(tuple(fold(name) for name in names_of(section.title)) for section in self.outline.sections)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The rows of `index`: each section's own text, or its parts where it is long."""
        return tuple(self.outline.units())

    @cached_property
    def index(self) -> LexicalIndex:
        """A row for each unit."""
        if not self.page_starts:
            return self.place_index
        return LexicalIndex(
            (self.outline.section(unit.section).title, self.lines(unit.first_line, unit.last_line))
            for unit in self.units
        )

    @cached_property
    def place_index(self) -> LexicalIndex:
        """What retrieval searches: a row for each page, or for each unit where there are no pages."""
        from orchestra.document.retrieval.index import index_places

        return index_places(self)

    def line(self, number: int) -> str:
        """One line without its line end; IndexError outside 1..line_count."""
        if not 1 <= number <= self.line_count:
            raise IndexError(f"line {number} of {self.name}, which has {self.line_count}")
        return self._lines.line(number)

    def lines(self, first: int, last: int) -> str:
        """Lines first..last joined by LF, clipped to the document; no final line end."""
        return self._lines.span(first, last)

    def characters(self, first: int, last: int) -> int:
        """How many characters lines first..last have, line ends included, without a copy of them; clipped."""
        first, last = max(first, 1), min(last, self.line_count)
        return self._lines.start(last + 1) - self._lines.start(first) if first <= last else 0

    def line_at(self, offset: int) -> int:
        """The line that holds the character at an offset of the text."""
        return self._lines.number_at(offset)

    def page_of(self, line: int) -> int | None:
        """The page that holds a line, from 1; None for a document without pages."""
        if not self.page_starts:
            return None
        return page_at(self.page_starts, line)

    @cached_property
    def page_starts(self) -> tuple[int, ...]:
        """The first line of each page; empty for a text without pages. A form feed begins one."""
        return self._page_starts or form_feeds(self._lines)

    @cached_property
    def running_heads(self) -> frozenset[int]:
        """The lines that stand at the edges of many pages; empty for a text without pages."""
        return running_heads(self._lines, self.page_starts)

    @cached_property
    def alone(self) -> DocumentSet:
        """The set of this document only, kept so that its annotated text is made once."""
        return DocumentSet((self,))

    def __repr__(self) -> str:
        return f"Document({self.name!r}, {self.line_count} lines)"


class DocumentSet(Sequence[Document]):
    """One or more documents. Keys are ("",) for one, ("d1", "d2", ...) for more; equal names are told apart.

    `kept_slices` is the memory of `cut`: tasks over the same documents often ask for the same lines.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = tuple(documents)
        self.kept_slices: dict[tuple[LineRange, ...], Slice] = {}
        self.names: tuple[str, ...] = _told_apart([document.name for document in self._documents])
        self.keys: tuple[str, ...] = (
            ("",) if len(self._documents) == 1 else tuple(f"d{number}" for number in range(1, len(self._documents) + 1))
        )

    @classmethod
    def of(cls, context: str | Path | Document | DocumentSet | Sequence[str | Path | Document]) -> DocumentSet:
        """Documents from what a caller may pass: a str is text, a Path is read.

        No document, or one without text, raises `DocumentUnreadable`.
        """
        if isinstance(context, DocumentSet):
            return context
        items = [context] if isinstance(context, str | Path | Document) else _listed(context)
        if not items:
            raise DocumentUnreadable("no document was given", suggestion="Pass a text, a Path or a Document.")
        documents = [_load(item, name) for item, name in zip(items, _text_names(items), strict=True)]
        return documents[0].alone if len(documents) == 1 else cls(documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        return self._documents[index]

    def __len__(self) -> int:
        return len(self._documents)

    def items(self) -> Iterator[tuple[str, str, Document]]:
        """(key, name, document) of each document, in order."""
        return zip(self.keys, self.names, self._documents, strict=True)

    def find(self, key: str) -> Document:
        """By key or by name; KeyError when there is none."""
        for own_key, name, document in self.items():
            if key in (own_key, name):
                return document
        raise KeyError(key)

    def name_of(self, key: str) -> str:
        """The name under which the document with this key stands; KeyError when there is none."""
        for own_key, name, _ in self.items():
            if key == own_key:
                return name
        raise KeyError(key)

    def qualify(self, key: str, ref: str) -> str:
        """An id or a line range with its document: "s12", or "d2:s12" among several documents."""
        return f"{key}:{ref}" if key else ref

    @cached_property
    def annotated_text(self) -> str:
        """Every document whole, its name first, `[s12 L120-L134]` before each section, parts alike."""
        return "\n\n".join("\n".join(_annotated(document, name, key)) for key, name, document in self.items())

    @cached_property
    def tokens(self) -> int:
        """Tokens of `annotated_text`."""
        return count_tokens(self.annotated_text)

    @cached_property
    def size(self) -> TokenCount:
        """`tokens` at a bounded price: counted, or estimated where the texts are huge, without a copy of them."""
        if sum(len(document.text) for document in self._documents) <= EXACT_CHARACTERS:
            return TokenCount(self.tokens, is_exact=True)
        return TokenCount(sum(_annotated_size(document) for document in self._documents), is_exact=False)

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        for key, name, document in self.items():
            digest.update(f"{key}\x1f{name}\x1f{document.sha256}\x1e".encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"DocumentSet({', '.join(self.names)})"


def _annotated_size(document: Document) -> int:
    """About the tokens of a document's annotated text: those of its text, and a mark for each section and part."""
    from orchestra.document.parts import PART_TOKENS

    tokens = document.size.tokens
    return tokens + _MARK_TOKENS * (len(document.outline.sections) + tokens // PART_TOKENS)


def _annotated(document: Document, name: str, key: str) -> Iterator[str]:
    """The lines of a document's annotated text."""
    prefix = f"{key}:" if key else ""
    yield f"Document {key}: {name}" if key else f"Document: {name}"
    last_section = ""
    for unit in document.units:
        section = document.outline.section(unit.section)
        if unit.section != last_section:
            yield f"[{prefix}{section.id} L{section.first_line}-L{section.last_line}]"
        if unit.id != unit.section:
            yield f"[{prefix}{unit.id} L{unit.first_line}-L{unit.last_line}]"
        yield document.lines(unit.first_line, unit.last_line)
        last_section = unit.section


def _listed(context: object) -> list[str | Path | Document]:
    items = list(cast("Sequence[object]", context)) if isinstance(context, list | tuple) else [context]
    for item in items:
        if not isinstance(item, str | Path | Document):
            raise InputInvalid(
                f"a document is given as {type(item).__name__}",
                suggestion="Pass a text, a Path, a Document, or a list of these; Document.from_text takes bytes.",
            )
    return cast("list[str | Path | Document]", items)


def _told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Names with " (2)", " (3)", ... after those that came before."""
    seen: dict[str, None] = {}
    for name in names:
        candidate, number = name, 2
        while candidate in seen:
            candidate, number = f"{name} ({number})", number + 1
        seen[candidate] = None
    return tuple(seen)


def _load(item: str | Path | Document, name: str) -> Document:
    if isinstance(item, Document):
        document = item
    elif isinstance(item, Path):
        document = Document.from_path(item)
    else:
        document = Document.from_text(item, name=name)
    if not document.text or document.text.isspace():
        raise DocumentUnreadable(f"{document.name} holds no text", cause="it is empty or blank")
    return document


def _text_names(items: Sequence[object]) -> list[str]:
    """ "document" for a text, "document-1", "document-2", ... for several."""
    texts = [position for position, item in enumerate(items) if isinstance(item, str)]
    numbers = {position: number for number, position in enumerate(texts, start=1)}
    return [f"document-{numbers[p]}" if len(texts) > 1 and p in numbers else "document" for p in range(len(items))]
