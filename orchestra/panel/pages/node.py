"""The details of one node: `/runs/RUN/node`, its prompts `/runs/RUN/prompt`, a reply of its `/runs/RUN/reply`."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from orchestra.errors import OrchestraError, RunNotFound
from orchestra.panel.checked import read_query
from orchestra.panel.desk import desk_of
from orchestra.panel.pages.standing import is_worked_on
from orchestra.panel.rendering import is_part, render
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.attempts import differ
from orchestra.panel.view.faults import fault_of
from orchestra.panel.view.forest import LIVE, Forest, duration_of, started_at_of
from orchestra.panel.view.graph_query import Moment
from orchestra.panel.view.node_detail import calls_of, excerpts, told_by
from orchestra.panel.view.pricing import model_of
from orchestra.panel.view.prompts import prompts_shown
from orchestra.panel.view.statuses import status_left, status_shown
from orchestra.panel.view.visible import one_line
from orchestra.prompts import prompts_of
from orchestra.store import CallRecord, DocumentRef, NodeRecord, Store

_MOST_BELOW = 50  # nodes below one that its details list


def node(request: Request) -> Response:
    """All that is on record of the node `id`; as of the event `at`, if it is given."""
    run_id = request.path_params["rid"]
    at = read_query(request.query_params, Moment).at
    is_at_rest = at is None and not is_worked_on(desk_of(request), run_id)
    run, forest = desk_of(request).forests.forest(run_id, at)
    number = _number(forest, request.query_params.get("id", ""))
    found = forest.nodes[number]
    store = desk_of(request).store
    told = told_by(_events(store, run_id, found.node_id, at))
    model, host = model_of(run, found)
    context: dict[str, Any] = {
        "run": run,
        "at": at,
        "node": found,
        "fault": fault_of(found.error),
        "told": told,
        "has_changes": differ(told.attempts),
        "excerpts": excerpts(told.ranges, run.documents, _text_of(store)),
        "calls": calls_of(_calls(store, run_id, found.node_id, at), model, host),
        "own": forest.own[number],
        "below": forest.belows[number],
        "count_below": forest.counts[number],
        "tools": _below(forest, number, is_tool=True),
        "children": _below(forest, number, is_tool=False),
        "parent": forest.nodes[forest.parents[number]] if forest.parents[number] >= 0 else None,
        "started_at": started_at_of(found),
        "duration_ms": duration_of(found),
        "in_address": in_address,
        "is_live": found.status in LIVE and at is None,
        "is_counting": found.status in LIVE and at is None and not is_at_rest,
        "now": time.time(),
        "shown": status_left if is_at_rest else status_shown,
        "words": one_line,
    }
    return render(request, "parts/node.html", **context)


def prompt(request: Request) -> Response:
    """What the node `id` was asked, rebuilt from the record; it takes as long as the run's own code took."""
    run_id, desk = request.path_params["rid"], desk_of(request)
    found = _node(request)
    try:
        sent = prompts_of(run_id, store=desk.store, config=desk.config, skills=desk.skills).get(found.node_id, ())
    except OrchestraError as error:
        return render(request, "parts/prompt.html", prompts=(), error=error)
    return render(request, "parts/prompt.html", prompts=prompts_shown(sent), error=None)


def reply(request: Request) -> Response:
    """The whole text of a node's call `n`, counted from 1."""
    calls = desk_of(request).store.calls(request.path_params["rid"], _node(request).node_id)
    wanted = [call for call in calls_of(calls, "", whole=True) if str(call.number) == request.query_params.get("n")]
    if not wanted:
        raise RunNotFound("this node has no such call")
    return render(request, "parts/reply.html" if is_part(request) else "reply.html", call=wanted[0])


def _node(request: Request) -> NodeRecord:
    _, forest = desk_of(request).forests.forest(request.path_params["rid"])
    return forest.nodes[_number(forest, request.query_params.get("id", ""))]


def _number(forest: Forest, node_id: str) -> int:
    number = forest.number_of(node_id)
    if number is None:
        raise RunNotFound("this run has no such node", suggestion="It may not have begun yet at the moment shown.")
    return number


def _events(store: Store, run_id: str, node_id: str, at: int | None) -> list[Any]:
    return [event for event in store.node_events(run_id, node_id) if at is None or event["sequence"] <= at]


def _calls(store: Store, run_id: str, node_id: str, at: int | None) -> list[CallRecord]:
    """A node's calls; as of an event, those that had ended when it was heard."""
    calls = store.calls(run_id, node_id)
    if at is None:
        return calls
    event = next(store.events(run_id, after=max(0, at - 1), limit=1), {})
    moment = event.get("at")
    heard_at = moment if isinstance(moment, int | float) else time.time()
    return [call for call in calls if call.finished_at is not None and call.finished_at <= heard_at]


def _text_of(store: Store) -> Any:
    def text_of(document: DocumentRef) -> str | None:
        return store.document(document.digest)

    return text_of


def _below(forest: Forest, number: int, *, is_tool: bool) -> list[Any]:
    children = [forest.nodes[each] for each in forest.children[number]]
    return [child for child in children if (child.kind == "tool") == is_tool][:_MOST_BELOW]


routes: list[BaseRoute] = [
    Route("/runs/{rid}/node", node),
    Route("/runs/{rid}/prompt", prompt),
    Route("/runs/{rid}/reply", reply),
]
