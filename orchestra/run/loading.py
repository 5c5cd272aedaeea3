"""Documents of a run and its store: read from files, converted once, kept once, and taken up again by a later run."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from orchestra.document import Document, DocumentSet
from orchestra.document.heading import Heading
from orchestra.errors import DocumentUnreadable, OrchestraError, StoreError
from orchestra.settings import Context
from orchestra.version import __version__

if TYPE_CHECKING:
    from orchestra.document.convert import Converted
    from orchestra.store import DocumentRef, Store

log = logging.getLogger("orchestra")

FRAME = "frame"
"""What is kept beside a text: `_Frame`, as JSON."""


class _Heading(BaseModel):
    title: str
    level: int
    line: int
    kind: Literal["heading", "cue"]


class _Frame(BaseModel):
    media_type: str
    warnings: tuple[str, ...]
    page_starts: tuple[int, ...]
    bookmarks: tuple[tuple[int, str, int], ...]
    headings: tuple[_Heading, ...] | None = None


def load_documents(context: Context, store: Store | None) -> DocumentSet:
    """What the caller passed, as documents; a PDF, DOCX or HTML file that the store knows is not converted again."""
    if store is None or isinstance(context, DocumentSet):
        return DocumentSet.of(context)
    items: Sequence[Any] = context if isinstance(context, list | tuple) else [context]
    return DocumentSet.of([_from_file(item, store) if isinstance(item, Path) else item for item in items])


def keep_documents(documents: DocumentSet, store: Store) -> None:
    """Put the text of each document into the store, unless it is there."""
    for ref, document in zip(references(documents), documents, strict=True):
        store.put_document(ref.digest, ref.name, document.text)
        if _is_framed(document.converted) and store.derived(ref.digest, FRAME) is None:
            store.put_derived(ref.digest, FRAME, _frame_of(document, has_headings=False))


def references(documents: DocumentSet) -> tuple[DocumentRef, ...]:
    """Under which names and digests the store keeps them: what differs in its text or its pages has another digest."""
    from orchestra.store import DocumentRef

    return tuple(
        DocumentRef(name, digest_of(document)) for name, document in zip(documents.names, documents, strict=True)
    )


def restored_documents(refs: Sequence[DocumentRef], store: Store) -> DocumentSet:
    """The documents of an earlier run. Raises `DocumentUnreadable` for one that is not in the store any more."""
    documents: list[Document] = []
    for ref in refs:
        document = _kept(ref.digest, ref.name, store.derived(ref.digest, FRAME), store)
        if document is None:
            raise DocumentUnreadable(
                f"{ref.name} is not in the store any more",
                cause="its text was removed, or never kept",
                suggestion="Run the task again over the document.",
            )
        documents.append(document)
    return documents[0].alone if len(documents) == 1 else DocumentSet(documents)


def _from_file(path: Path, store: Store) -> Document:
    from orchestra.document.convert import convert, kind_of, read_path

    data, name = read_path(path)
    kind = kind_of(data, name)
    if kind == "plain":
        return Document.from_converted(convert(data, name), name=name)
    origin = f"file {kind} {__version__} {hashlib.sha256(data).hexdigest()}"
    try:
        found = store.find_derived(origin)
        known = None if found is None else _kept(found[0], name, store.derived(found[0], FRAME), store)
    except StoreError:
        log.warning("the store does not say whether it knows %s", name, exc_info=True)
        return Document.from_converted(convert(data, name), name=name)
    if known is not None:
        return known
    document = Document.from_converted(convert(data, name), name=name)
    _keep_conversion(document, origin, store)
    return document


def _keep_conversion(document: Document, origin: str, store: Store) -> None:
    """For the next run over the same bytes; where it cannot be kept, that run converts them again."""
    digest, frame = digest_of(document), _frame_of(document, has_headings=True)
    try:
        store.put_document(digest, document.name, document.text)
        store.put_derived(digest, FRAME, frame)
        store.put_derived(digest, origin, b"")
    except OrchestraError:  # the store's own, or that of a document that is removed just now
        log.warning("the conversion of %s is not kept", document.name, exc_info=True)


def _kept(digest: str, name: str, frame: bytes | None, store: Store) -> Document | None:
    """A document from the store; None where its text is not there, or what is kept beside it cannot be read."""
    from orchestra.document.convert import Converted

    text = store.document(digest)
    if text is None:
        return None
    if frame is None:
        return Document(text, name=name)
    try:
        kept = _Frame.model_validate_json(frame)
    except ValidationError:
        return None
    converted = Converted(text, kept.media_type, kept.warnings, kept.page_starts, kept.bookmarks)
    headings = None if kept.headings is None else [Heading(**each.model_dump()) for each in kept.headings]
    return Document.from_converted(converted, name=name, headings=headings)


def digest_of(document: Document) -> str:
    """The hash of a document's text, and of what else it is made of."""
    converted = document.converted
    if not _is_framed(converted):
        return document.sha256
    rest = replace(converted, text="")
    return hashlib.sha256(f"{document.sha256} {rest!r}".encode("utf-8", "replace")).hexdigest()


def _is_framed(converted: Converted) -> bool:
    """Whether there is more to a document than its text."""
    return bool(
        converted.warnings or converted.page_starts or converted.bookmarks or converted.media_type != "text/markdown"
    )


def _frame_of(document: Document, *, has_headings: bool) -> bytes:
    converted = document.converted
    headings = [(heading.title, heading.level, heading.line, heading.kind) for heading in document.outline.headings]
    fields = ("title", "level", "line", "kind")
    frame = {
        "media_type": converted.media_type,
        "warnings": converted.warnings,
        "page_starts": converted.page_starts,
        "bookmarks": converted.bookmarks,
        "headings": [dict(zip(fields, each, strict=True)) for each in headings] if has_headings else None,
    }
    return json.dumps(frame).encode()
