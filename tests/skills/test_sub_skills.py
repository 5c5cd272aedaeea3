"""Sub-skills: folders, single files and Python entries load to the same thing, and none leaves its folder."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestra.errors import SkillInvalid, SkillNotFound
from orchestra.skills import Manifest, Skill, SkillLibrary
from orchestra.skills.manifest import Branch, Execution, Routing, SubSkill

PARENT = "---\nname: mail\ndescription: Sorts mail.\n---\nSort it.\n"
CHILD = "---\nname: tone-check\ndescription: Finds the tone.\nallowed-tools: Read\n---\nName the tone.\n"
ENTRY = "sub_skills:\n  - {name: tone_check, triggers: [tone], dependencies: [first]}\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def of_folder(root: Path) -> SkillLibrary:
    files = {"mail/SKILL.md": PARENT, "mail/skill.yaml": ENTRY, "mail/sub_skills/tone_check/SKILL.md": CHILD}
    return SkillLibrary.from_path(write(root, files))


def of_file(root: Path) -> SkillLibrary:
    files = {"mail/SKILL.md": PARENT, "mail/skill.yaml": ENTRY, "mail/subskill/tone-check/tone-check.md": CHILD}
    return SkillLibrary.from_path(write(root, files))


def of_registry(_: Path) -> SkillLibrary:
    child = {"description": "Finds the tone.", "system_prompt": "Name the tone.", "allowed_tools": ["Read"]}
    below = {"tone_check": {**child, "triggers": ["tone"], "dependencies": ["first"]}}
    return SkillLibrary.from_registry(
        {"mail": {"description": "Sorts mail.", "system_prompt": "Sort it.", "sub_skills": below}}
    )


def of_registry_with_a_path(root: Path) -> SkillLibrary:
    write(root, {"mail/SKILL.md": PARENT, "elsewhere/tone/SKILL.md": CHILD})
    entry = SimpleNamespace(path="elsewhere/tone", triggers=["tone"], dependencies=["first"])
    return SkillLibrary.from_registry({"mail": {"path": "mail", "sub_skills": {"tone_check": entry}}}, base=root)


FORMS = [of_folder, of_file, of_registry, of_registry_with_a_path]


def placeless(manifest: Manifest) -> Manifest:
    return replace(manifest, source="", file="", given=None)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_sub_skill_loads_to_the_same_skill(tmp_path: Path, form) -> None:
    library = form(tmp_path)

    parent = library.manifest("mail")
    (child,) = library.sub_skills(parent)
    skill = library.load(child)
    assert parent.is_composite
    assert parent.sub_skills == (SubSkill("tone-check", "", ("tone",), ("first",)),)
    assert placeless(child) == Manifest(
        "tone-check",
        "Finds the tone.",
        triggers=("tone",),
        dependencies=("first",),
        allowed_tools=("Read",),
    )
    assert replace(skill, source="") == Skill(
        "tone-check", "Finds the tone.", "Name the tone.", allowed_tools=("Read",)
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_sub_skill_is_no_skill_of_the_library(tmp_path: Path, form) -> None:
    library = form(tmp_path)

    assert list(library) == ["mail"]
    assert [name for name, _ in library.catalogue] == ["mail"]


def test_everything_that_skill_yaml_says_is_in_the_manifest(tmp_path: Path) -> None:
    yaml = """
name: email_workflow
version: 1.0.0
type: composite
description: Complete email management workflow
sub_skills:
  - name: email_composer
    path: ./sub_skills/email_composer
    triggers: ["compose", "write"]
  - name: email_responder
    dependencies: ["email_composer"]
routing:
  strategy: conditional
  max_depth: 3
  conditions:
    - if: "step_1.output.urgent == true"
      then: ["email_responder"]
    - else: ["email_archiver"]
execution:
  allow_parallel: false
  timeout_per_skill: 30
  retry_on_failure: 2
parameters:
  required: [mailbox]
  optional: [tone]
  defaults: {tone: plain}
output:
  type: object
  properties: {count: {type: integer}}
data_flow:
  step_1_output: "urgent_emails → step_2.email_list"
layer: execution
dependencies: [document-readable]
blocks-on-failure: false
eco-mode-skip: true
applies: "mode == 'standard'"
model-tier: strong
"""
    files = {
        "email-workflow/SKILL.md": "---\nname: email-workflow\ndescription: D.\n---\n",
        "email-workflow/skill.yaml": yaml,
    }

    manifest = SkillLibrary.from_path(write(tmp_path, files)).manifest("email_workflow")

    assert manifest == Manifest(
        "email-workflow",
        "D.",
        type="composite",
        version="1.0.0",
        sub_skills=(
            SubSkill("email-composer", "./sub_skills/email_composer", ("compose", "write")),
            SubSkill("email-responder", "", (), ("email-composer",)),
        ),
        routing=Routing(
            "conditional",
            3,
            (Branch("step_1.output.urgent == true", ("email-responder",)), Branch("", ("email-archiver",))),
        ),
        execution=Execution(allow_parallel=False, timeout_per_skill=30.0, retry_on_failure=2),
        parameters={"required": ["mailbox"], "optional": ["tone"], "defaults": {"tone": "plain"}},
        output={"type": "object", "properties": {"count": {"type": "integer"}}},
        data_flow=("step_1_output: urgent_emails → step_2.email_list",),
        dependencies=("document-readable",),
        blocks_on_failure=False,
        eco_mode_skip=True,
        applies="mode == 'standard'",
        model_tier="strong",
        source=str(tmp_path / "email-workflow" / "SKILL.md"),
        file=str(tmp_path / "email-workflow" / "SKILL.md"),
    )


@pytest.mark.parametrize(
    ("layer", "blocks", "skips"), [("guarantee", True, False), ("enhancement", False, True), ("execution", True, False)]
)
def test_a_layer_says_what_a_manifest_leaves_open(tmp_path: Path, layer: str, blocks: bool, skips: bool) -> None:
    text = f"---\nname: gate\ndescription: D.\nlayer: {layer}\ndependencies: [plan-detector]\n---\nB.\n"

    library = SkillLibrary.from_path(write(tmp_path, {"gate/SKILL.md": text}))

    manifest = library.manifest("gate")
    assert (manifest.layer, manifest.blocks_on_failure, manifest.eco_mode_skip) == (layer, blocks, skips)
    assert manifest.dependencies == ("plan-detector",)
    assert (library.catalogue == ()) is (layer != "execution")


def test_sub_skills_that_are_only_found_follow_those_that_are_declared(tmp_path: Path) -> None:
    files = {
        "mail/SKILL.md": PARENT,
        "mail/skill.yaml": "sub_skills: [two]\n",
        **{f"mail/sub_skills/{name}/SKILL.md": CHILD for name in ("one", "two")},
        "mail/subskill/three/three.md": "# Third\n\nDo the third thing. Then stop.\n",
        "mail/sub_skills/no-skill/note.txt": "x",
    }

    library = SkillLibrary.from_path(write(tmp_path, files))

    children = library.sub_skills(library.manifest("mail"))
    assert [child.name for child in children] == ["two", "one", "three"]
    assert children[2].description == "Third"
    assert library.load(children[2]).system_prompt == "# Third\n\nDo the third thing. Then stop."


def test_sub_skills_nest(tmp_path: Path) -> None:
    files = {
        "mail/SKILL.md": PARENT,
        "mail/sub_skills/reply/SKILL.md": PARENT.replace("mail", "reply"),
        "mail/sub_skills/reply/sub_skills/tone/SKILL.md": CHILD,
    }

    library = SkillLibrary.from_path(write(tmp_path, files))

    (reply,) = library.sub_skills(library.manifest("mail"))
    (tone,) = library.sub_skills(reply)
    assert tone.name == "tone"


def test_a_sub_skill_that_is_not_in_the_folder_is_the_librarys_own(tmp_path: Path) -> None:
    files = {"mail/SKILL.md": PARENT, "mail/skill.yaml": ENTRY, "tone-check/SKILL.md": CHILD}

    library = SkillLibrary.from_path(write(tmp_path, files))

    (child,) = library.sub_skills(library.manifest("mail"))
    assert (child.name, child.triggers, child.dependencies) == ("tone-check", ("tone",), ("first",))
    assert child.file == str(tmp_path / "tone-check" / "SKILL.md")


def test_a_sub_skill_that_is_nowhere_is_an_error(tmp_path: Path) -> None:
    library = SkillLibrary.from_path(write(tmp_path, {"mail/SKILL.md": PARENT, "mail/skill.yaml": ENTRY}))

    with pytest.raises(SkillNotFound, match="tone-check"):
        library.sub_skills(library.manifest("mail"))


@pytest.mark.parametrize(
    ("link", "target", "reason"),
    [
        ("mail/sub_skills/tone_check", "../../outside", "leads out of the skill's folder"),
        ("mail/sub_skills", "../outside", "leads out of the skill's folder"),
        ("mail/sub_skills/tone_check", "..", "there is no skill 'tone-check'"),
        ("mail/sub_skills/tone_check", "tone_check", "there is no skill 'tone-check'"),
    ],
)
def test_a_link_is_no_way_out_of_the_folder_or_back_to_its_top(tmp_path: Path, link, target, reason) -> None:
    files = {"mail/SKILL.md": PARENT, "mail/skill.yaml": ENTRY, "outside/SKILL.md": CHILD}
    write(tmp_path, {**files, "outside/tone-check/SKILL.md": CHILD})
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to(target)

    library = SkillLibrary.from_path(tmp_path / "mail")

    with pytest.raises((SkillInvalid, SkillNotFound), match=reason):
        library.sub_skills(library.manifest("mail"))


def test_the_registry_of_the_design_is_read_as_it_stands_there(tmp_path: Path) -> None:
    @dataclass
    class SubSkillEntry:
        name: str
        type: str
        path: str
        triggers: list[str]
        dependencies: list[str] | None = None
        sub_skills: dict | None = None

    @dataclass
    class SkillEntry:
        name: str
        version: str
        type: str
        description: str
        sub_skills: dict | None = None
        routing: dict | None = None
        execution: dict | None = field(default_factory=dict)

    places = [
        "email_workflow/sub_skills/email_classifier",
        "email_workflow/sub_skills/email_responder",
        "email_workflow/sub_skills/email_responder/tone_analyzer",
    ]
    write(tmp_path, {f"skills/{place}/SKILL.md": CHILD for place in places})
    tone = SubSkillEntry("tone_analyzer", "atomic", f"skills/{places[2]}", ["analyze", "detect"])
    responder = SubSkillEntry(
        "email_responder", "composite", f"skills/{places[1]}", ["reply"], ["email_classifier"], {"tone_analyzer": tone}
    )
    registry = {
        "email_workflow": SkillEntry(
            "email_workflow",
            "1.0.0",
            "composite",
            "Complete email management workflow",
            {
                "email_classifier": SubSkillEntry("email_classifier", "atomic", f"skills/{places[0]}", ["classify"]),
                "email_responder": responder,
            },
            {"strategy": "sequential", "max_depth": 3},
            {"allow_parallel": False, "timeout_per_skill": 30, "retry_on_failure": 2},
        )
    }

    library = SkillLibrary.from_registry(registry, base=tmp_path)

    workflow = library.manifest("email-workflow")
    classifier, reply = library.sub_skills(workflow)
    (analyzer,) = library.sub_skills(reply)
    assert (workflow.type, workflow.version, workflow.routing.max_depth) == ("composite", "1.0.0", 3)
    assert workflow.execution == Execution(allow_parallel=False, timeout_per_skill=30.0, retry_on_failure=2)
    assert (classifier.type, reply.type, analyzer.type) == ("prompt", "composite", "prompt")
    assert reply.dependencies == ("email-classifier",)
    assert library.load(analyzer).system_prompt == "Name the tone."


def test_a_function_in_a_registry_makes_a_code_skill() -> None:
    library = SkillLibrary.from_registry({"count": {"description": "Counts.", "function": len}})

    assert library.manifest("count").type == "code"
    assert library["count"].function is len


def looping() -> dict:
    entry: dict = {"description": "D.", "system_prompt": "P."}
    entry["sub_skills"] = {"again": entry}
    return {"loop": entry}


@pytest.mark.parametrize(
    ("registry", "reason"),
    [
        ([], "the registry is a list"),
        ({"mail": 7}, "expected its fields"),
        ({"self": "Answer."}, "cannot be used"),
        ({"mail": {"description": "D."}}, "has no prompt, path or function"),
        ({"mail": {"system_prompt": "P.", "tone": 1}}, "unknown fields"),
        ({"mail": {"system_prompt": "P.", "routing": {"strategy": "random"}}}, "routing.strategy"),
        ({"mail": {"path": "nowhere"}}, "has no SKILL.md"),
        ({"mail": {"description": "D.", "function": 7}}, "cannot be called"),
        (looping(), "within itself"),
    ],
)
def test_a_registry_that_makes_no_sense_is_refused(registry, reason: str) -> None:
    with pytest.raises(SkillInvalid, match=reason):
        SkillLibrary.from_registry(registry)
