"""The verbs of ours: what a model is told of them, and the reading of documents and files.

Their descriptions are paid for in every call, so they are short. Lines are shown as slices show them, under the same
numbers, so that what is read by a verb can be cited like an excerpt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from orchestra.document import DocumentSet, LineRange, Slice, best_parts, count_tokens, cut, resolve_section
from orchestra.document.decode import decode
from orchestra.document.retrieval import find
from orchestra.errors import ToolFailed
from orchestra.models.blocks import fence
from orchestra.runtime.files import Roots, open_permitted
from orchestra.runtime.tools.results import bounded
from orchestra.runtime.tools.tool import Tool

SECTION_TOKENS = 3_000  # what one call of read_section may show
SEARCH_TOKENS = 2_000  # and one of search_document
FILE_TOKENS = 3_000
LARGEST_FILE = 2_000_000  # bytes
_NUMBER_TOKENS = 2  # what the numbers of lines take, shared out


def read_section(section: str) -> str:
    """Read a section, or lines, of the document.

    Args:
        section: an id (s12), a title, or lines (L120-L160)
    """
    raise NotImplementedError


def search_document(query: str) -> str:
    """Find the passages of the document that fit some words best.

    Args:
        query: the words
    """
    raise NotImplementedError


def read_file(path: str, first_line: int = 1) -> str:
    """Read a text file.

    Args:
        first_line: where to begin
    """
    raise NotImplementedError


def write_file(path: str, content: str) -> str:
    """Write a text file; what stands there is replaced."""
    raise NotImplementedError


def ask_user(question: str, options: tuple[str, ...] = ()) -> str:
    """Ask the person you work for, where only they can know.

    Args:
        options: answers to choose from
    """
    raise NotImplementedError


def request_approval(what: str, details: str = "") -> str:
    """Ask a person to approve an action before you do it.

    Args:
        what: the action, in a phrase
        details: all that they need to decide
    """
    raise NotImplementedError


def load_skill(name: str) -> str:
    """Read the instructions of another skill, before you do what it is for."""
    raise NotImplementedError


def load_subskill(name: str) -> str:
    """Read the instructions of a sub-skill of yours when you come to it, or a file that your instructions name.

    Args:
        name: the sub-skill, or the file's path
    """
    raise NotImplementedError


@cache
def verb(name: str) -> Tool:
    """A verb's schema. Its function does nothing yet: a run binds it to its documents, files and people."""
    reading = (read_section, search_document, read_file, load_skill, load_subskill)
    functions = (*reading, write_file, ask_user, request_approval)
    return Tool.of(next(each for each in functions if each.__name__ == name), is_idempotent=True)


def reading_section(documents: DocumentSet) -> Tool:
    """`read_section` over these documents."""

    def read(section: str) -> str:
        found = resolve_section(section, documents)
        if not found.ranges:
            raise ToolFailed(f"{section!r} is not in the document", cause="; ".join(found.notes))
        shown, left = _fitting(found.ranges, documents, SECTION_TOKENS)
        more = f"\nNot shown, for it is long: {', '.join(map(str, left))}" if left else ""
        notes = f"\nNote: {'; '.join(found.notes)}" if found.notes else ""
        return fence("excerpts", shown.text) + more + notes

    return replace(verb("read_section"), function=read)


def searching(documents: DocumentSet) -> Tool:
    """`search_document` over these documents."""

    def search(query: str) -> str:
        if not find(query, documents, most_places=1, most_lines=0).places:
            raise ToolFailed(f"no line fits {query!r}", suggestion="Use other words.")
        shown = best_parts(query, documents, SEARCH_TOKENS)
        if not shown.passages:
            place = find(query, documents, most_places=1, most_lines=0).places[0].place
            shown, _ = _fitting((place.lines,), documents, SEARCH_TOKENS)
        return fence("excerpts", shown.text)

    return replace(verb("search_document"), function=search)


def reading_file(roots: Roots) -> Tool:
    """`read_file` within these roots."""

    def read(path: str, first_line: int = 1) -> str:
        try:
            with open_permitted(path, roots, "read") as file:
                content = file.read(LARGEST_FILE + 1)
        except OSError as error:
            raise ToolFailed(f"{path} cannot be read", cause=error.strerror or str(error)) from None
        if len(content) > LARGEST_FILE:
            raise ToolFailed(f"{path} is too large to be read", cause=f"over {LARGEST_FILE:,} bytes")
        lines = decode(content)[0].split("\n")
        first = min(max(first_line, 1), len(lines))
        text = "\n".join(lines[first - 1 :])
        shown = bounded(text, FILE_TOKENS)
        is_whole = first == 1 and shown is text
        return fence("file", shown) + ("" if is_whole else f"\nFrom line {first:,} of {len(lines):,}.")

    return replace(verb("read_file"), function=read)


def writing_file(roots: Roots) -> Tool:
    """`write_file` within these roots: what stands at the path is replaced in one step."""

    def write(path: str, content: str) -> str:
        encoded = content.encode("utf-8", "replace")
        try:
            with open_permitted(path, roots, "write") as file:
                file.write(encoded)
        except OSError as error:
            raise ToolFailed(f"{path} cannot be written", cause=error.strerror or str(error)) from None
        return f"wrote {len(encoded):,} bytes"

    return replace(verb("write_file"), function=write)


def _fitting(ranges: Iterable[LineRange], documents: DocumentSet, most_tokens: int) -> tuple[Slice, list[LineRange]]:
    """As many of the lines, from the first on, as fit, at least one; and what is left of them."""
    whole = cut(ranges, documents)
    if whole.tokens <= most_tokens:
        return whole, []
    kept: list[LineRange] = []
    left: list[LineRange] = []
    room = most_tokens
    for lines in whole.line_ranges:
        last = lines.first - 1
        while last < lines.last and (room > 0 or not kept):
            room -= count_tokens(documents.find(lines.key).line(last + 1)) + _NUMBER_TOKENS
            if room < 0 and (kept or last >= lines.first):
                break
            last += 1
        if last >= lines.first:
            kept.append(LineRange(lines.key, lines.first, last))
        if last < lines.last:
            left.append(LineRange(lines.key, last + 1, lines.last))
    return cut(kept, documents), left
