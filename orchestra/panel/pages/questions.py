"""Answers of people: by a form, for exactly what was shown, once."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.errors import AnsweredBefore, InputInvalid, RunNotFound
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.forms import form_of
from orchestra.panel.rendering import is_part, moment, render
from orchestra.panel.view.cards import decision_of, question_of, words_of_answer
from orchestra.panel.view.turns import page_of
from orchestra.store import ApprovalRecord, RunRecord

_CHANGED = {"HX-Trigger": "run-changed"}


async def answer(request: Request) -> Response:
    """Keep the answer to an open question, and let the run go on."""
    form = await form_of(request)
    desk = desk_of(request)
    try:
        record = await run_in_threadpool(_answered, desk, request.path_params["rid"], form)
    except AnsweredBefore as error:
        template = "parts/error.html" if is_part(request) else "error.html"
        refused = render(request, template, status=409, error=error)
        refused.headers.update(_CHANGED)
        return refused
    if is_part(request):
        return Response(status_code=204, headers=_CHANGED)
    return RedirectResponse(page_of(record.id, record.session_id), 303)


def _answered(desk: Desk, run_id: str, form: Mapping[str, str]) -> RunRecord:
    run = desk.store.run(run_id)
    if run is None:
        raise RunNotFound("there is no such run")
    asked = _asked(desk, run_id, form.get("node", ""), form.get("digest", ""))
    if asked.status != "open":
        raise _answered_before(asked)
    decision = decision_of(question_of(asked), form)
    is_first = desk.store.answer(
        run_id,
        asked.node_id,
        asked.digest,
        outcome=decision.outcome,
        edited=decision.edited,
        reason=decision.reason,
        text=decision.text,
    )
    if not is_first:
        raise _answered_before(_asked(desk, run_id, asked.node_id, asked.digest))
    desk.runner.answered(run_id)
    return run


def _asked(desk: Desk, run_id: str, node: str, digest: str) -> ApprovalRecord:
    """The question that a form answers. The digest must be that of what is on record, whole."""
    for record in desk.store.approvals(run_id):
        if (record.node_id, record.digest) == (node, digest):
            return record
    raise InputInvalid(
        "this question is not asked any more",
        cause="what the run asks is not what was shown",
        suggestion="Load the page again to see what is asked now.",
    )


def _answered_before(record: ApprovalRecord) -> AnsweredBefore:
    return AnsweredBefore(
        f"somebody else answered first: {words_of_answer(record)}",
        cause=f"on {moment(record.answered_at)}" if record.answered_at else "",
    )


routes: list[BaseRoute] = [Route("/runs/{rid}/answer", answer, methods=["POST"])]
