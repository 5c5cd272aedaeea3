"""The call graph of a run: `/runs/RUN/graph`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from orchestra.panel.checked import read_query
from orchestra.panel.desk import desk_of
from orchestra.panel.pages.standing import is_worked_on
from orchestra.panel.rendering import render
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.amounts import compact
from orchestra.panel.view.forest import Forest
from orchestra.panel.view.graph_query import GraphQuery
from orchestra.panel.view.statuses import status_left, status_shown
from orchestra.panel.view.tree import MOST_ROWS, tree_of
from orchestra.panel.view.visible import one_line

_COLUMNS = (("started", "Node"), ("status", "Status"), ("duration", "Time"), ("tokens", "Tokens"), ("price", "Price"))
_SMALLEST_FIRST = ("started", "status")


@dataclass(frozen=True, slots=True)
class Column:
    """`order` is how its values stand now, `following` the sort that a press of its button asks for."""

    key: str
    name: str
    order: str
    following: str


def graph(request: Request) -> Response:
    """The tree with its toolbar and the place for details; the rows alone where `part=rows` asks for them."""
    run_id = request.path_params["rid"]
    query = read_query(request.query_params, GraphQuery)
    is_at_rest = query.at is None and not is_worked_on(desk_of(request), run_id)
    run, forest = desk_of(request).forests.forest(run_id, query.at)
    selected = _selected(forest, query)
    is_jump = bool(query.find or query.reveal or not query.part)
    tree = tree_of(forest, query.choices(selected, reveals=is_jump))
    context: dict[str, Any] = {
        "run": run,
        "at": query.at,
        "tree": tree,
        "forest": forest,
        "columns": _columns(query),
        "selected": selected,
        "selected_id": "" if selected is None else forest.nodes[selected].node_id,
        "in_address": in_address,
        "compact": compact,
        "is_jump": is_jump and selected is not None,
        "failures": len(forest.failures),
        "is_next": selected in forest.failures,
        "most_rows": MOST_ROWS,
        "now": time.time(),
        "is_counting": query.at is None and not is_at_rest,
        "shown": status_left if is_at_rest else status_shown,
        "words": one_line,
    }
    return render(request, "parts/graph_rows.html" if query.part else "parts/graph.html", **context)


def _selected(forest: Forest, query: GraphQuery) -> int | None:
    number = forest.number_of(query.node) if query.node else None
    return forest.failure_after(number) if query.find else number


def _columns(query: GraphQuery) -> list[Column]:
    return [_column(key, name, query) for key, name in _COLUMNS]


def _column(key: str, name: str, query: GraphQuery) -> Column:
    """Numbers are sorted largest first, then smallest first, then in the order in which nodes began."""
    ways = [key, f"-{key}"] if key in _SMALLEST_FIRST else [f"-{key}", key]
    if query.sort not in ways:
        return Column(key, name, "none", ways[0])
    order = "descending" if query.is_descending else "ascending"
    return Column(key, name, order, ways[1] if query.sort == ways[0] else "started")


routes: list[BaseRoute] = [Route("/runs/{rid}/graph", graph)]
