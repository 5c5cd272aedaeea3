"""Lines of a run's documents: those that a citation names, or that a node was sent."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from orchestra.document import Document
from orchestra.errors import DocumentUnreadable, InputInvalid, OrchestraError, RunNotFound
from orchestra.panel.checked import read_query
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.ids import session_key
from orchestra.panel.rendering import is_part, render
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.sources import (
    AROUND,
    FARTHEST,
    Source,
    citations_of,
    document_position,
    source_of,
)
from orchestra.run.loading import restored_documents
from orchestra.store import RunRecord

MOST_RANGES = 200

_Line = Annotated[int, Field(ge=1, le=10**9)]
_Around = Annotated[int, Field(ge=0, le=FARTHEST)]


class _Asked(BaseModel):
    """`n` is a citation's number; else lines `from` to `to` of `doc`, each as often as there are ranges."""

    n: Annotated[int, Field(ge=1, le=10**6)] | None = None
    doc: Annotated[str, Field(max_length=4_096)] = ""
    first: Annotated[tuple[_Line, ...], Field(alias="from", max_length=MOST_RANGES)] = ()
    last: Annotated[tuple[_Line, ...], Field(alias="to", max_length=MOST_RANGES)] = ()
    before: _Around = AROUND
    after: _Around = AROUND
    node: Annotated[str, Field(max_length=4_096)] = ""


def source(request: Request) -> Response:
    """The lines, with those that are meant marked among those around them."""
    desk = desk_of(request)
    run = desk.store.run(request.path_params["rid"])
    if run is None:
        raise RunNotFound("there is no such run")
    asked = read_query(request.query_params, _Asked, lists=("from", "to"))
    shown = _cited(desk, run, asked) if asked.n is not None else _ranges(desk, run, asked)
    return render(
        request, "parts/source.html" if is_part(request) else "source.html", **_context(request, run, asked, shown)
    )


def _cited(desk: Desk, run: RunRecord, asked: _Asked) -> Source:
    citations = citations_of(run.result, run.id)
    position = next((at for at, each in enumerate(citations) if each.number == asked.n), None)
    if position is None:
        raise RunNotFound(
            f"the answer has no source {asked.n}", cause=f"it has {len(citations)}", suggestion="Load the page again."
        )
    citation = citations[position]
    document, error = _document(desk, run, citation.key or citation.document)
    ranges = [(citation.first_line, citation.last_line)]
    shown = source_of(document, ranges, before=asked.before, after=asked.after, error=error)
    return shown.with_citation(citations, position)


def _ranges(desk: Desk, run: RunRecord, asked: _Asked) -> Source:
    if not asked.first or len(asked.first) != len(asked.last):
        raise InputInvalid("no lines are named", suggestion="Give `from` and `to` for each range.")
    document, error = _document(desk, run, asked.doc)
    ranges = list(zip(asked.first, asked.last, strict=True))
    shown = source_of(document, ranges, before=asked.before, after=asked.after, error=error)
    return shown if document else shown.named(asked.doc)


def _document(desk: Desk, run: RunRecord, key: str) -> tuple[Document | None, OrchestraError | None]:
    """One document of the run as it was, or why it cannot be shown."""
    position = document_position([ref.name for ref in run.documents], key)
    if position is None:
        return None, DocumentUnreadable(
            "the run has no such document", cause="what was cited names none of its documents"
        )
    try:
        return restored_documents([run.documents[position]], desk.store)[0], None
    except DocumentUnreadable as error:
        return None, error


def _context(request: Request, run: RunRecord, asked: _Asked, shown: Source) -> dict[str, Any]:
    run_id = in_address(run.id)
    return {
        "run_id": run.id,
        "page": f"/sessions/{session_key(run.session_id)}?run={run_id}" if run.session_id else f"/runs/{run_id}?",
        "tab": "graph" if asked.node else "overview",
        "asked": asked,
        "source": shown,
        "around": AROUND,
        "farthest": FARTHEST,
        "is_moved": request.headers.get("hx-trigger", "").startswith("source-"),
    }


routes: list[BaseRoute] = [Route("/runs/{rid}/source", source)]
