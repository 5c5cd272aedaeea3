"""No request is answered by a failure of the panel itself, whatever its parameters are."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hostile_records import ATTACKS, SCRIPTS, ask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records_for_tests import a_run, node_event
from starlette.routing import Route

from orchestra import Question
from orchestra.panel.app import create_app
from orchestra.panel.view.addresses import in_address, well_formed
from orchestra.store import Store
from tests.panel.conftest import Panel, panel_over

NAMES = (
    *(
        "run",
        "tab",
        "node",
        "at",
        "id",
        "n",
        "seq",
        "from",
        "to",
        "doc",
        "before",
        "after",
        "open",
        "shut",
        "base",
        "sort",
    ),
    *(
        "more",
        "find",
        "part",
        "only",
        "rows",
        "q",
        "of",
        "type",
        "status",
        "back",
        "speed",
        "current",
        "sessions",
        "runs",
    ),
    *(
        "root",
        "path",
        "shown",
        "named",
        "title",
        "digest",
        "outcome",
        "edited",
        "option",
        "edit-0",
        "max_depth",
        "retries",
    ),
)
VALUES = st.one_of(
    st.sampled_from(ATTACKS["number"]["texts"]),
    st.sampled_from(ATTACKS["path"]["texts"]),
    st.sampled_from([well_formed(text) for text in SCRIPTS.values()]),
    st.integers().map(str),
    st.text(max_size=40).map(well_formed),
    st.sampled_from(["x" * 5_000, "9" * 5_000, "3." * 2_000 + "3", "g1x999", "[" * 5_000, "a.*" * 500]),
)
_DOES = ("/messages", "/resume", "/estimate")  # begin work of their own, and are tried elsewhere


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Panel]:
    with Store.open(tmp_path_factory.mktemp("fuzz") / "runs.db") as store:
        store.begin_run(a_run("r1", session_id="s1"))
        store.append_events("r1", [node_event(each, f"run/{each}") for each in range(1, 30)])
        ask(store, "r1", Question("ask_user", "run/1", "Which?", options=("a", "b")))
        with panel_over(store) as served:
            yield served


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_request_is_answered_by_a_failure(panel: Panel, data: st.DataObject) -> None:
    app = create_app(panel.desk, panel.gate)
    routes = [route for route in app.routes if isinstance(route, Route) and not route.path.endswith(_DOES)]
    route = data.draw(st.sampled_from([each for each in routes if each.path != "/live"]))
    known = {"rid": "r1", "sid:session": "s1"}
    path = re.sub(
        r"\{([^}]+)\}",
        lambda found: in_address(data.draw(st.sampled_from([known.get(found[1], "x")]) | VALUES)),
        route.path,
    )
    query = data.draw(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4))
    method = data.draw(st.sampled_from(sorted(route.methods or {"GET"})))
    form = data.draw(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)) if method == "POST" else None
    if method == "POST" and route.path.endswith("/delete"):
        path = path.replace("/s1/", "/s2/")
    answer = panel.client.request(method, path, params=query, data=form)
    assert answer.status_code < 500, (method, path, query, form)
