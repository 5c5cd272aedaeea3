"""What the nodes of a run may do, beside their parents: `/runs/RUN/permissions`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from orchestra.panel.checked import read_query
from orchestra.panel.desk import desk_of
from orchestra.panel.pages.standing import is_worked_on
from orchestra.panel.rendering import render
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.graph_query import Moment
from orchestra.panel.view.permissions import NodePermissions, permissions_of
from orchestra.panel.view.statuses import status_left, status_shown
from orchestra.panel.view.visible import one_line
from orchestra.runtime.events import PermissionRefused, PermissionsNarrowed

ROWS = 100  # shown at a time
PERMISSION_EVENTS = (PermissionsNarrowed.type, PermissionRefused.type)
SIGNS = {"inherited": "=", "narrowed": "−", "denied": "✗"}


class PermissionsQuery(Moment):
    """`only=taken` leaves out who inherits everything; and `rows` is how many rows are shown."""

    only: Literal["", "taken"] = ""
    rows: Annotated[int, Field(ge=1, le=10_000)] = ROWS


def permissions(request: Request) -> Response:
    """By node, in the order of the tree: inherited, narrowed, denied, with what was taken, by whom and why."""
    run_id = request.path_params["rid"]
    query = read_query(request.query_params, PermissionsQuery)
    is_at_rest = query.at is None and not is_worked_on(desk_of(request), run_id)
    run, forest = desk_of(request).forests.forest(run_id, query.at)
    told = desk_of(request).store.events_of_types(run_id, PERMISSION_EVENTS)
    found = permissions_of(forest, (event for event in told if query.at is None or event["sequence"] <= query.at))
    rows = [row for row in found.rows if not query.only or isinstance(row, NodePermissions)]
    return render(
        request,
        "parts/permissions.html",
        run=run,
        query=query,
        found=found,
        rows=rows[: query.rows],
        further=max(0, len(rows) - query.rows),
        next_rows=min(query.rows + ROWS * 4, 10_000),
        signs=SIGNS,
        in_address=in_address,
        shown=status_left if is_at_rest else status_shown,
        words=one_line,
    )


routes: list[BaseRoute] = [Route("/runs/{rid}/permissions", permissions)]
