"""What a run reads of its skills: bodies when they are reached, once, and more when a skill asks for it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of

import orchestra
from orchestra.models.blocks import Catalogue
from orchestra.models.protocol import ModelReply, ToolCall, Usage
from orchestra.runtime.events import SkillLoaded, Warned
from orchestra.skills import Manifest, SkillLibrary, trust
from orchestra.skills import loading as skill_loading

orchestrate = partial(orchestra.orchestrate, REPORT, "Tell me.", max_followups=0)
DONE = "Revenue was $40 million [L5]."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    return tmp_path / "home"


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def skill_text(name: str, body: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n"


MAIL = {
    "mail/SKILL.md": skill_text("mail", "Sort it. Load the tone when you come to it."),
    "mail/sub_skills/tone/SKILL.md": skill_text("tone", "SECRET OF THE TONE"),
    "mail/references/terms.md": "SECRET OF THE TERMS",
    "other/SKILL.md": skill_text("other", "SECRET OF THE OTHER"),
}
PLAN = plan_of({"task": "What was earned?", "context_pointers": REVENUE, "skill": "mail"})


def calls(*named):
    made = tuple(ToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(named))
    return ModelReply("", Usage(100, output_tokens=10), tool_calls=made, stop_reason="tool_use")


def loaded(events) -> list[tuple[str, str, str]]:
    """What was read for subtasks; gates read their own."""
    return [
        (each.node_id, each.skill, Path(each.path).name)
        for each in events
        if isinstance(each, SkillLoaded) and each.node_id.startswith("run/subtask")
    ]


def test_a_body_is_read_when_a_subtask_reaches_it_and_only_once(tmp_path: Path, monkeypatch) -> None:
    library = SkillLibrary.from_path(put(tmp_path / "skills", MAIL))
    twice = plan_of(
        {"task": "What was earned?", "context_pointers": REVENUE, "skill": "mail"},
        {"task": "What did it cost?", "context_pointers": COSTS, "skill": "Mail"},
    )
    read: list[str] = []
    plain = skill_loading.bytes_inside
    monkeypatch.setattr(
        skill_loading, "bytes_inside", lambda folder, *rest: read.append(folder.name) or plain(folder, *rest)
    )
    events: list = []

    orchestrate(plan=twice, model=ScriptedModel(subtask=[DONE]), skills=library, on_event=events.append)

    assert loaded(events) == [("run/subtask-1", "mail", "SKILL.md")]
    assert [each.tokens for each in events if isinstance(each, SkillLoaded) and each.skill == "mail"] == [12]
    assert read.count("mail") == 1
    assert "other" not in read


def test_the_next_run_reads_a_body_anew(tmp_path: Path) -> None:
    library = SkillLibrary.from_path(put(tmp_path / "skills", MAIL))
    first, second = ScriptedModel(subtask=[DONE]), ScriptedModel(subtask=[DONE])

    orchestrate(plan=PLAN, model=first, skills=library)
    put(tmp_path / "skills", {"mail/SKILL.md": skill_text("mail", "Sort it otherwise.")})
    orchestrate(plan=PLAN, model=second, skills=library)

    assert "Sort it. Load" in first.sent("subtask")[0].prompt
    assert "Sort it otherwise." in second.sent("subtask")[0].prompt


def test_a_planner_sees_neither_bodies_nor_sub_skills(tmp_path: Path) -> None:
    library = SkillLibrary.from_path(put(tmp_path / "skills", MAIL))
    model = ScriptedModel(plan=[PLAN], subtask=[DONE])

    orchestrate(model=model, skills=library, strategy="full")

    prompt = model.sent("plan")[0].prompt
    assert "- mail: Does mail." in prompt
    assert "- tone" not in prompt
    assert "SECRET" not in prompt


def test_a_planner_of_a_large_library_sees_what_fits_the_task(tmp_path: Path) -> None:
    library = SkillLibrary([Manifest(f"skill-{n}", f"Handles case {n} of a great many cases.") for n in range(500)])
    model = ScriptedModel(plan=[plan_of({"task": "T", "context_pointers": REVENUE})], subtask=[DONE])

    orchestra.orchestrate(REPORT, "What about case 321?", library, model, strategy="full", max_followups=0)

    (catalogue,) = [block for block in model.sent("plan")[0].blocks if isinstance(block, Catalogue)]
    assert "skill-321" in catalogue.text
    assert len(catalogue.skills) < 150


def test_a_skill_that_cannot_be_read_fails_its_subtask_and_no_other(tmp_path: Path) -> None:
    files = {**MAIL, "broken/SKILL.md": skill_text("broken", "")}
    library = SkillLibrary.from_path(put(tmp_path / "skills", files))
    plan = plan_of(
        {"task": "What was earned?", "context_pointers": REVENUE, "skill": "mail"},
        {"task": "What did it cost?", "context_pointers": COSTS, "skill": "broken"},
    )

    result = orchestrate(plan=plan, model=ScriptedModel(subtask=[DONE]), skills=library)

    first, second = result.subtasks
    assert (result.status, first.error) == ("partial", None)
    assert second.error is not None
    assert second.error.code == "SKILL_INVALID"


def test_the_prompt_is_that_for_the_size_of_the_model_that_works(tmp_path: Path) -> None:
    files = {**MAIL, "mail/prompts/prompt_3b.txt": "Sort, small one."}
    library = SkillLibrary.from_path(put(tmp_path / "skills", files))
    model = ScriptedModel(subtask=[DONE])
    model.name = "test:llama3.2:3b"
    events: list = []

    orchestrate(plan=PLAN, model=model, skills=library, on_event=events.append)

    assert "Sort, small one." in model.sent("subtask")[0].prompt
    assert loaded(events) == [("run/subtask-1", "mail", "prompt_3b.txt")]


def test_a_skill_loads_its_sub_skills_and_files_while_it_runs(tmp_path: Path) -> None:
    library = SkillLibrary.from_path(put(tmp_path / "skills", MAIL))
    asks = [("load_subskill", {"name": name}) for name in ("tone", "tone/tone.md", "references/terms.md")]
    model = ScriptedModel(subtask=[calls(*asks), calls(asks[0]), DONE])
    events: list = []

    result = orchestrate(plan=PLAN, model=model, skills=library, on_event=events.append)

    told = [each.text for each in model.sent("subtask")[1].messages[-1].tool_results]
    assert told == ["Skill tone:\n\nSECRET OF THE TONE"] * 2 + ["SECRET OF THE TERMS"]
    assert [tool.name for tool in model.sent("subtask")[0].tools] == ["load_subskill"]
    assert sorted(loaded(events)[1:]) == [("run/subtask-1", "mail", "terms.md"), ("run/subtask-1", "tone", "SKILL.md")]
    assert [call.status for call in result.subtasks[0].tool_calls] == ["completed"] * 4


@pytest.mark.parametrize(
    "name", ["../other/SKILL.md", "/etc/passwd", "nothing", "references", "references/../../other/SKILL.md"]
)
def test_a_skill_cannot_load_what_is_not_its_own(tmp_path: Path, name: str) -> None:
    library = SkillLibrary.from_path(put(tmp_path / "skills", MAIL))
    model = ScriptedModel(subtask=[calls(("load_subskill", {"name": name})), DONE])

    orchestrate(plan=PLAN, model=model, skills=library)

    (told,) = model.sent("subtask")[1].messages[-1].tool_results
    assert told.is_error
    assert "TOOL_FAILED" in told.text
    assert "its sub-skills are tone" in told.text
    assert "SECRET" not in told.text


def test_a_skill_that_may_loads_another_one_of_the_library(tmp_path: Path) -> None:
    files = {**MAIL, "mail/SKILL.md": skill_text("mail", "Sort it.", "allowed-tools: load_skill\n")}
    library = SkillLibrary.from_path(put(tmp_path / "skills", files))
    model = ScriptedModel(subtask=[calls(("load_skill", {"name": "Other"}), ("load_skill", {"name": "nobody"})), DONE])
    events: list = []

    orchestrate(plan=PLAN, model=model, skills=library, on_event=events.append)

    found, missing = model.sent("subtask")[1].messages[-1].tool_results
    assert found.text == "Skill other:\n\nSECRET OF THE OTHER"
    assert missing.is_error
    assert "there is no skill 'nobody'" in missing.text
    assert loaded(events)[1:] == [("run/subtask-1", "other", "SKILL.md")]
    assert [tool.name for tool in model.sent("subtask")[0].tools] == ["load_skill"]


def test_a_skill_with_nothing_more_is_asked_without_tools(tmp_path: Path) -> None:
    library = SkillLibrary.from_path(put(tmp_path / "skills", {"mail/SKILL.md": MAIL["mail/SKILL.md"]}))
    model = ScriptedModel(subtask=[DONE])

    orchestrate(plan=PLAN, model=model, skills=library)

    assert model.sent("subtask")[0].tools == ()


def test_an_untrusted_skill_loads_nothing_more(tmp_path: Path) -> None:
    put(tmp_path / ".agents" / "skills", MAIL)
    model = ScriptedModel(subtask=[DONE])

    orchestrate(plan=PLAN, model=model, skills=SkillLibrary.discover(tmp_path))

    assert model.sent("subtask")[0].tools == ()


def test_a_run_says_that_a_skill_changed_since_it_was_trusted(tmp_path: Path) -> None:
    skills = put(tmp_path / ".agents" / "skills", MAIL)
    trust.trust(skills / "mail")
    library = SkillLibrary.discover(tmp_path)
    put(skills, {"mail/references/terms.md": "OTHER TERMS"})
    events: list = []

    result = orchestrate(plan=PLAN, model=ScriptedModel(subtask=[DONE]), skills=library, on_event=events.append)

    assert "SKILL_CHANGED" in [notice.code for notice in result.warnings]
    assert [each.node_id for each in events if isinstance(each, Warned) and each.code == "SKILL_CHANGED"] == [
        "run/subtask-1"
    ]
