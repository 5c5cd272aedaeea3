"""The attacks of `tests/data/permission_attacks.toml`, each on a run: none of them gets anywhere."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import ScriptedModel

from orchestra.errors import PermissionDenied
from orchestra.run import Run
from orchestra.run.permitting import check_host, check_tool, permissions_of, permit, roots_of
from orchestra.runtime.events import PermissionRefused
from orchestra.runtime.files import open_permitted
from orchestra.settings import Services, Settings
from orchestra.skills import SkillLibrary
from orchestra.skills.fields import tool_patterns
from orchestra.skills.policy import Policy

ATTACKS = tomllib.loads((Path(__file__).parents[1] / "data" / "permission_attacks.toml").read_text("utf-8"))["attack"]


def Bash(command: str, cwd: str = ".") -> str:  # noqa: N802 - as the format calls it
    """Run a command."""
    raise AssertionError("nothing is run here")


def Fetch(url: str) -> str:  # noqa: N802
    """Fetch a page."""
    raise AssertionError("nothing is fetched here")


def note(text: str) -> str:
    """Keep a note."""
    raise AssertionError("nothing is kept here")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path.resolve()
    for place, text in {
        "room/note.txt": "inside",
        "room/box/note.txt": "inside",
        "room/skill/SKILL.md": "---\nname: skill\ndescription: It does.\n---\nDo.",
        "room/skill/help.txt": "inside",
        "outside/secret.txt": "outside",
    }.items():
        (here / place).parent.mkdir(parents=True, exist_ok=True)
        (here / place).write_text(text)
    monkeypatch.chdir(here / "room")
    return here


def prepare(workspace: Path, setup: dict[str, Any], events: list) -> tuple[Run, Any]:
    """A run as `setup` says, and the node of its innermost skill."""
    for place, target in setup.get("links", {}).items():
        (workspace / place).symlink_to(workspace / target)
    for place, target in setup.get("hard_links", {}).items():
        os.link(workspace / target, workspace / place)
    for place in setup.get("pipes", ()):
        os.mkfifo(workspace / place)
    policy = Policy.from_mapping(
        {table: setup[table] for table in ("allow", "ask", "deny") if table in setup}, folder=workspace / "room"
    )
    written = SkillLibrary.from_path(workspace / "room/skill")["skill"]
    skills = [
        replace(
            written,
            name=f"skill-{number}",
            allowed_tools=tool_patterns(allowed) if allowed else None,
            is_trusted=bool(allowed),
        )
        for number, allowed in enumerate(setup.get("skills", ()))
    ]
    model = ScriptedModel()
    services = Services(events.append, policy=policy, tools=(Bash, Fetch, note))
    library = SkillLibrary.from_path(workspace / "room/skill")
    run = Run.prepare("A text.", "Tell me.", library, (model, model, model), Settings(), services)
    node = run.root
    for skill in skills:
        node = node.child(skill.name, "skill", skill=skill.name)
        permit(run, node, skill)
    return run, node


def attempted(run: Run, node: Any, attempt: dict[str, Any], workspace: Path) -> str:
    """What comes of the attempt; a file that may be opened is opened."""
    if "host" in attempt:
        return check_host(run, node, attempt["host"]).outcome
    if "model" in attempt:
        return permissions_of(run, node).models.outcome(attempt["model"])
    arguments = {
        name: value.replace("{workspace}", str(workspace)) if isinstance(value, str) else value
        for name, value in attempt["arguments"].items()
    }
    outcome = check_tool(run, node, attempt["tool"], arguments).outcome
    use = {"read_file": "read", "write_file": "write"}.get(attempt["tool"])
    if use is None or outcome == "deny":
        return outcome
    try:
        with open_permitted(arguments["path"], roots_of(run, node, use), use) as file:
            if use == "write":
                file.write(b"changed")
            else:
                assert file.read() == b"inside"
    except (PermissionDenied, OSError):
        return "unreadable"
    return outcome


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack["name"] for attack in ATTACKS])
def test_an_attack_gets_nowhere(attack: dict[str, Any], workspace: Path) -> None:
    events: list[Any] = []
    run, node = prepare(workspace, attack.get("setup", {}), events)

    outcome = attempted(run, node, attack["attempt"], workspace)

    refusals = [event for event in events if isinstance(event, PermissionRefused)]
    assert outcome == attack["expected"]
    assert (workspace / "outside/secret.txt").read_text() == "outside"
    assert [each.name for each in (workspace / "outside").iterdir()] == ["secret.txt"]
    assert "taken_by" not in attack or [event.taken_by for event in refusals] == [attack["taken_by"]]
    assert all(event.reason and event.permission_snapshot is not None for event in refusals)
    assert "model" in attack["attempt"] or bool(refusals) is (outcome == "deny")


def test_the_names_of_attacks_are_unique() -> None:
    assert len({attack["name"] for attack in ATTACKS}) == len(ATTACKS)
