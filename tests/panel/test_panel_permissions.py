"""What nodes may do beside their parents: in order, in words and signs, and never more than the parent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given
from hypothesis import strategies as st
from models_for_tests import COSTS, REPORT, ScriptedModel, plan_of
from records_for_tests import a_run, node_event
from trees_for_tests import TreeModel, below, write_skill

from orchestra import orchestrate, route
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.panel.view.forest import planted
from orchestra.panel.view.permissions import Change, Inheriting, NodePermissions, check, permissions_of
from orchestra.runtime.events import PermissionRefused, PermissionsNarrowed
from orchestra.skills import SkillLibrary
from orchestra.skills.permissions import (
    ArgumentPattern,
    Grants,
    HostName,
    Name,
    PermissionSet,
    Root,
    ToolRule,
    narrowings,
)
from orchestra.store import NodeRecord

names = st.sampled_from(("Bash", "Read", "mcp__*", "mcp__mail", "*")).map(Name)
rules = st.builds(
    ToolRule,
    names,
    st.frozensets(
        st.sampled_from(("git:*", "git push:*", "docs/*.md", "npm test")).map(ArgumentPattern.parse), max_size=1
    ),
)
roots = st.sampled_from(("/", "/a", "/a/b", "/x")).map(lambda path: Root(Path(path).parts))
hosts = st.sampled_from(("a.com", "x.a.com", "*.a.com")).map(HostName)


def grants(entries: Any) -> Any:
    some = st.lists(entries, max_size=2)
    return st.builds(Grants.of, st.none() | st.lists(entries, max_size=3), some, some)


sets = st.builds(
    PermissionSet,
    grants(rules),
    grants(roots),
    grants(roots),
    grants(hosts),
    grants(names),
    st.none() | st.floats(0, 9),
)


@given(sets, st.lists(sets, min_size=1, max_size=4))
def test_on_the_way_down_every_set_is_within_its_parents(root, declared) -> None:
    nodes, current = [NodeRecord("run", permission_snapshot=root.snapshot)], root
    events: list[dict[str, Any]] = []
    for depth, each in enumerate(declared, start=1):
        narrower = current.intersect(each)
        lost = narrowings(current, narrower, "skill", "it does not declare it", "it declares only")
        node_id = f"run{'/x' * depth}"
        nodes.append(NodeRecord(node_id, nodes[-1].node_id, depth=depth, permission_snapshot=narrower.snapshot))
        if lost:
            events.append(
                PermissionsNarrowed(
                    node_id=node_id,
                    narrowings=[one.to_dict() for one in lost],
                    permission_snapshot=narrower.snapshot,
                ).to_dict()
            )
        current = narrower

    found = permissions_of(planted(nodes), events)

    assert found.wider == ()
    assert found.unknown == 0
    assert found.counts["denied"] == 0
    changed = {
        before.node_id
        for before, after in zip(nodes[1:], nodes, strict=False)
        if before.permission_snapshot != after.permission_snapshot
    }
    assert changed <= {row.node.node_id for row in found.rows if isinstance(row, NodePermissions)}


@given(sets, sets)
def test_a_set_that_is_wider_in_anything_is_said_to_be(child, parent) -> None:
    expected = "within" if parent.intersect(child) == child else "wider"

    assert check(child.snapshot, parent.snapshot) == expected


def of_nodes(*nodes: NodeRecord, events: Any = ()) -> Any:
    return permissions_of(planted(nodes), events)


def snapshot(**given: Any) -> dict[str, Any]:
    return {
        "tools": ["Bash", "read_file"],
        "read": ["@skill"],
        "write": [],
        "hosts": [],
        "models": ["m"],
        "cost_usd": None,
        **given,
    }


def test_a_change_says_what_is_gone_who_took_it_why_and_what_is_left() -> None:
    narrower = snapshot(tools=["Bash(git:*)"], cost_usd=0.5, ask={"tools": ["Bash"]})
    event = PermissionsNarrowed(
        node_id="run/1",
        narrowings=[
            {"permission": "tools: Bash", "taken_by": "skill", "reason": "skill 's' declares only Bash(git:*)"},
            {"permission": "cost_usd: everything", "taken_by": "policy", "reason": "orchestra.toml allows only 0.5"},
            {"permission": "tools: Foo!", "taken_by": "skill", "reason": "names no tool"},
        ],
        permission_snapshot=narrower,
    ).to_dict()

    found = of_nodes(
        NodeRecord("run", permission_snapshot=snapshot()),
        NodeRecord("run/1", "run", permission_snapshot=narrower),
        events=[event],
    )

    root, row = found.rows
    assert root == Inheriting(1, (NodeRecord("run", permission_snapshot=snapshot()),))
    assert (row.standing, row.check) == ("narrowed", "within")
    assert row.changes == (
        Change("tools", ("Bash",), "the skill's declaration", "skill 's' declares only Bash(git:*)"),
        Change("tools", ("read_file",)),
        Change("cost, US dollars", ("everything",), "the workspace's policy", "orchestra.toml allows only 0.5"),
    )
    assert row.left == (("tools", "Bash(git:*); a person is asked: Bash"), ("cost", "at most $0.5"))


def test_a_child_with_more_than_its_parent_is_named() -> None:
    found = of_nodes(
        NodeRecord("run", permission_snapshot=snapshot(tools=["read_file"])),
        NodeRecord("run/1", "run", permission_snapshot=snapshot()),
        NodeRecord("run/2", "run", permission_snapshot=snapshot(tools=7)),
        NodeRecord("run/3", "run"),
    )

    assert [row.node.node_id for row in found.wider] == ["run/1"]
    assert found.unknown == 1


def test_neighbours_that_inherit_are_folded_and_what_stands_out_is_in_the_order_of_the_tree() -> None:
    nodes = [NodeRecord("run", permission_snapshot=snapshot())]
    nodes += [NodeRecord(f"run/{number}", "run", permission_snapshot=snapshot()) for number in range(5000)]
    nodes += [NodeRecord("run/40/x", "run/40", permission_snapshot=snapshot(tools=[]))]

    found = of_nodes(*nodes)

    assert [each.count if isinstance(each, Inheriting) else each.node.node_id for each in found.rows] == [
        42,
        "run/40/x",
        4959,
    ]
    assert max(len(each.nodes) for each in found.rows if isinstance(each, Inheriting)) == 30
    assert found.counts == {"inherited": 5001, "narrowed": 1, "denied": 0}


def test_what_was_refused_again_and_again_is_said_once() -> None:
    refused = PermissionRefused(
        node_id="run", permission="tools: Bash", taken_by="trust", reason="no", permission_snapshot=snapshot()
    ).to_dict()

    found = of_nodes(NodeRecord("run", permission_snapshot=snapshot()), events=[refused] * 900)

    assert found.counts["denied"] == 1
    assert [(each.times, each.taken_by) for each in found.rows[0].refusals] == [
        (900, "trust: the skill is not trusted")
    ]


def test_a_node_that_failed_without_a_permission_is_denied_by_its_error() -> None:
    error = {"code": "PERMISSION_DENIED", "message": "models: m is not permitted", "cause": "the policy"}

    found = of_nodes(NodeRecord("run", status="failed", error=error, permission_snapshot=snapshot()))

    assert [(each.permission, each.reason) for each in found.rows[0].refusals] == [
        ("models: m is not permitted", "the policy")
    ]


class Writing(ScriptedModel):
    """A subtask that writes a file, and then answers."""

    def __init__(self) -> None:
        super().__init__(plan=plan_of({"context_pointers": COSTS}), subtask=self._subtask, synthesis="Joined.")

    def _subtask(self, request: Any) -> Any:
        if request.messages or not request.tools:
            return "Costs rose [L9]."
        call = ToolCall("1", "write_file", {"path": "/etc/<b>passwd</b>", "content": "x"})
        return ModelReply("", usage=Usage(10, output_tokens=1), stop_reason="tool_use", tool_calls=(call,))


def test_a_forbidden_path_is_a_blocked_node_with_its_reason(panel: Any) -> None:
    result = orchestrate(REPORT, "Why?", model=Writing(), strategy="full", tools=["write_file"], store=panel.store)

    page = panel.client.get(f"/runs/{result.run_id}/permissions", params={"only": "taken"}).text

    failed = [node for node in panel.store.nodes(result.run_id) if node.status == "failed"]
    assert [node.error["code"] for node in failed] == ["PERMISSION_DENIED"]
    assert failed[0].node_id in page
    assert "denied" in page
    (refused,) = (event for event in panel.store.events(result.run_id) if event["type"] == "permission-refused")
    assert refused["reason"].replace("<", "&lt;").replace(">", "&gt;") in page
    assert "the workspace&#39;s policy" in page
    assert "&lt;b&gt;passwd" in page
    assert "<b>passwd" not in page
    assert "No node may do more than its parent" in page


def test_nested_skills_of_a_real_run_are_within_their_parents(panel: Any, tmp_path: Path) -> None:
    fixed = {"type": "composite", "routing": {"strategy": "sequential"}}
    place = write_skill(tmp_path / "skills", "outer", sub_skills=["inner"], allowed_tools="look write", **fixed)
    below(place, "inner", allowed_tools="write send")

    def look(text: str) -> str:
        return text

    def write(text: str) -> str:
        return text

    def send(text: str) -> str:
        return text

    library = SkillLibrary.from_path(tmp_path / "skills")
    result = route("Go", library, TreeModel(inner="Done."), tools=[look, write, send], store=panel.store)

    events = panel.store.events_of_types(result.run_id, ["permissions-narrowed"])
    found = permissions_of(planted(panel.store.nodes(result.run_id)), events)
    by_id = {row.node.node_id: row for row in found.rows if isinstance(row, NodePermissions)}
    outer, inner = by_id["run/subtask-1"], by_id["run/subtask-1/step-1"]
    assert (found.wider, found.unknown) == ((), 0)
    assert {thing for change in outer.changes if change.kind == "tools" for thing in change.things} >= {"send"}
    assert [change.things for change in inner.changes if change.kind == "tools"] == [("look",)]
    assert {change.taken_by for change in inner.changes} == {"the skill's declaration"}
    assert dict(inner.left)["tools"] == "write"
    page = panel.client.get(f"/runs/{result.run_id}/permissions").text
    assert "does not declare it" in page
    assert "No node may do more than its parent" in page


def test_at_an_earlier_moment_nothing_was_taken_yet(panel: Any) -> None:
    panel.store.begin_run(a_run())
    panel.store.append_events(
        "r1",
        [
            node_event(1, "run", depth=0, permission_snapshot=snapshot()),
            node_event(2, "run/1", parent_node_id="run", permission_snapshot=snapshot(tools=[])),
            PermissionRefused(
                sequence=3,
                node_id="run/1",
                permission="tools: Bash",
                taken_by="skill",
                reason="no",
                permission_snapshot={},
            ).to_dict(),
        ],
    )

    pages = [panel.client.get("/runs/r1/permissions", params={"at": at}).text for at in (1, 2, 3)]

    assert ["0 narrowed" in page for page in pages] == [True, False, True]
    assert ["1 denied" in page for page in pages] == [False, False, True]


@pytest.mark.parametrize("query", [{"at": "x"}, {"at": "-1"}, {"rows": "0"}, {"only": "<script>"}])
def test_an_address_that_is_not_right_is_refused(panel: Any, query: dict[str, str]) -> None:
    panel.store.begin_run(a_run())

    answer = panel.client.get("/runs/r1/permissions", params=query)

    assert answer.status_code == 400
    assert "<script>" not in answer.text
    assert panel.client.get("/runs/r2/permissions").status_code == 404


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_view_tells_standings_in_words_and_can_leave_out_who_inherits(panel: Any, look: Any, scheme: str) -> None:
    result = orchestrate(REPORT, "Why?", model=Writing(), strategy="full", tools=["write_file"], store=panel.store)
    page = look(panel, color_scheme=scheme)
    page.goto(f"{panel.url}/runs/{result.run_id}?tab=permissions")
    page.get_by_text("No node may do more than its parent").wait_for()
    inherited = page.locator("li.permission.inherited")
    assert inherited.count() > 0

    page.get_by_role("button", name="Only narrowed or denied").press("Enter")

    inherited.first.wait_for(state="detached")
    assert page.get_by_role("button", name="Only narrowed or denied").get_attribute("aria-pressed") == "true"
    assert "✗ denied" in page.locator("li.permission.denied").inner_text()
    found = Axe().run(page, "#panel")
    assert found.violations_count == 0, found.generate_report()
