"""`orchestra outline` and `orchestra slice`: what pure code sees in a document, without any model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.group import PARTIAL, debug_option
from orchestra.cli.options import json_option, load_documents
from orchestra.cli.terminal import as_json, print_answer, say
from orchestra.errors import PointersUnresolved

if TYPE_CHECKING:
    from orchestra.document import Document, DocumentSet, Resolution, Section

DOC = click.argument("doc", type=click.Path(path_type=Path))


@click.command(epilog="\b\nExample:\n  orchestra outline report.pdf")
@DOC
@json_option
@debug_option
def outline(doc: Path, is_json: bool) -> None:
    """Show a document's sections: id, lines, tokens and title.

    DOC is a text, markdown, PDF, DOCX or HTML file, or - for standard input.
    """
    document = _load(doc)[0]
    if is_json:
        print_answer(as_json(_outline_as_data(document)))
        return
    lines = [_row(document, section) for section in document.outline.sections]
    say(f"{document.name}: {document.line_count:,} lines, {document.tokens:,} tokens, {len(lines):,} section(s)")
    print_answer("\n".join(lines))


@click.command(
    name="slice",
    epilog="\b\nExamples:\n"
    '  orchestra slice report.md s12 "Results > Margin"\n'
    '  orchestra slice report.pdf L120-L134 "page 12"',
)
@DOC
@click.argument("pointers", nargs=-1, required=True, metavar="POINTER...")
@json_option
@debug_option
def slice_(doc: Path, pointers: tuple[str, ...], is_json: bool) -> int:
    """Print the text that pointers resolve to, as a model would see it.

    A POINTER is a section's id, title or path, or a line range. How each was
    found is said on standard error. Exit code 3: some resolve to nothing.
    """
    from orchestra.document import cut, resolve_section

    documents = _load(doc)
    resolutions = [resolve_section(pointer, documents) for pointer in pointers]
    for resolution in resolutions:
        say(_described(resolution))
    ranges = [line_range for resolution in resolutions for line_range in resolution.ranges]
    if not ranges:
        raise PointersUnresolved(f"no pointer resolves in {documents[0].name}", cause=", ".join(pointers))
    found = cut(ranges, documents)
    if is_json:
        data = {
            "pointers": [_resolution_as_data(resolution) for resolution in resolutions],
            "tokens": found.tokens,
            "passages": [asdict(passage) for passage in found.passages],
            "text": found.text,
        }
        print_answer(as_json(data))
    else:
        print_answer(found.text)
    return 0 if all(resolution.ranges for resolution in resolutions) else PARTIAL


def _row(document: Document, section: Section) -> str:
    lines = f"L{section.first_line}-L{section.last_line}"
    title = "  " * (section.level - 1) + (section.title or "(before the first heading)")
    return f"{section.id:<8}{lines:<16}{document.outline.tokens(section.id):>9,}  {title}"


def _load(doc: Path) -> DocumentSet:
    """The document alone in a set, with what was replaced while reading it said on standard error."""
    documents = load_documents([doc])
    for warning in documents[0].warnings:
        say(f"warning: {documents[0].name}: {warning}")
    return documents


def _described(resolution: Resolution) -> str:
    where = ", ".join(str(found) for found in resolution.ranges) or "nothing"
    notes = "".join(f"; {note}" for note in resolution.notes)
    return f"{resolution.pointer}: {where} (by {resolution.rung}){notes}"


def _resolution_as_data(resolution: Resolution) -> dict[str, Any]:
    return {
        "pointer": resolution.pointer,
        "rung": resolution.rung,
        "ranges": [[line_range.first, line_range.last] for line_range in resolution.ranges],
        "sections": list(resolution.sections),
        "notes": list(resolution.notes),
    }


def _outline_as_data(document: Document) -> dict[str, Any]:
    sections = [
        {
            **asdict(section),
            "tokens": document.outline.tokens(section.id),
            "parts": [asdict(part) for part in document.outline.parts(section.id)],
        }
        for section in document.outline.sections
    ]
    return {
        "name": document.name,
        "media_type": document.media_type,
        "sha256": document.sha256,
        "lines": document.line_count,
        "tokens": document.tokens,
        "warnings": list(document.warnings),
        "sections": sections,
    }
