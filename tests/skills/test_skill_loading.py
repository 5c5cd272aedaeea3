"""From a manifest to the skill: variants by size, schemas, code, and files that must stay inside."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from orchestra.errors import SkillInvalid
from orchestra.skills import SkillLibrary
from orchestra.skills.files import leads_out, read_inside
from orchestra.skills.loading import load, model_size

FRONT = "---\nname: mail\ndescription: Sorts mail.\n---\n"


def library(root: Path, files: dict[str, str], *, body: str = "Sort it.") -> SkillLibrary:
    for name, text in {"SKILL.md": FRONT + body, **files}.items():
        file = root / "mail" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return SkillLibrary.from_path(root / "mail")


VARIANTS = {f"prompts/prompt_{size}b.txt": f"For {size}b." for size in (2, 3, 7)}


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("ollama:gemma-2b", "For 2b."),
        ("ollama:qwen2.5:1.5b", "For 2b."),
        ("ollama:llama3.2:3b", "For 3b."),
        ("phi-3.8b-mini", "For 3b."),
        ("qwen2.5-7b-instruct", "For 7b."),
        ("llama3.1:8b", "For 7b."),
        ("llama3.1:70b", "Sort it."),
        ("mixtral-8x7b", "Sort it."),
        ("claude-sonnet-5-5", "Sort it."),
        ("", "Sort it."),
    ],
)
def test_the_variant_for_the_models_size_is_taken(tmp_path: Path, model: str, prompt: str) -> None:
    own = library(tmp_path, VARIANTS)

    skill = load(own.manifest("mail"), model=model)

    assert skill.system_prompt == prompt


def test_without_a_body_the_largest_variant_is_for_large_models(tmp_path: Path) -> None:
    own = library(tmp_path, {**VARIANTS, "skill.yaml": "name: mail\ndescription: Sorts mail.\n"})
    (tmp_path / "mail" / "SKILL.md").unlink()
    manifest = SkillLibrary.from_path(tmp_path).manifest("mail")

    assert load(manifest, model="claude-sonnet-5-5").system_prompt == "For 7b."
    assert load(manifest, model="llama3.1:70b").system_prompt == "For 7b."
    assert own.manifest("mail").type == "prompt"


@pytest.mark.parametrize(
    ("name", "size"), [("llama3.2:3b", 3.0), ("gemma-3n-e4b", 4.0), ("8x7b", 56.0), ("gpt-6-sol", None), ("4bit", None)]
)
def test_the_size_is_read_from_the_models_name(name: str, size: float | None) -> None:
    assert model_size(name) == size


def test_a_prompt_skill_without_a_body_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    own = library(tmp_path, {}, body=" \n")

    with pytest.raises(SkillInvalid, match=r"SKILL.md:4 has no body"):
        own["mail"]


def test_a_composite_needs_no_body(tmp_path: Path) -> None:
    own = library(tmp_path, {"skill.yaml": "type: composite\n"}, body="")

    assert own["mail"].system_prompt == ""


SCHEMA = '{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}'
MODEL = "from pydantic import BaseModel\n\n\nclass Output(BaseModel):\n    count: int\n"


@pytest.mark.parametrize(
    "files",
    [
        {"skill.yaml": f"output: {SCHEMA}\n"},
        {"skill.yaml": "output: schemas/counted.json\n", "schemas/counted.json": SCHEMA},
        {"schemas/output.json": SCHEMA},
    ],
)
def test_a_json_schema_stands_in_skill_yaml_or_in_a_file(tmp_path: Path, files: dict[str, str]) -> None:
    skill = library(tmp_path, files)["mail"]

    assert skill.output == {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    assert skill.parameters is None


@pytest.mark.parametrize(
    "files",
    [
        {"schemas/output.py": MODEL},
        {"schemas/tool_schema.py": MODEL.replace("Output", "Counted")},
        {"skill.yaml": "output: schemas/models.py:Counted\n", "schemas/models.py": MODEL.replace("Output", "Counted")},
    ],
)
def test_a_trusted_skill_may_have_a_pydantic_model(tmp_path: Path, files: dict[str, str]) -> None:
    skill = library(tmp_path, files)["mail"]

    assert skill.output is not None
    assert skill.output["required"] == ["count"]
    assert skill.output_model is not None
    assert skill.output_model(count=3).count == 3
    with pytest.raises(ValidationError):
        skill.output_model(count="many")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"skill.yaml": "output: {type: nonsense}\n"}, "is no JSON schema"),
        ({"schemas/output.json": "{"}, "is not JSON"),
        ({"schemas/output.json": "[]"}, "is not a JSON object"),
        ({"schemas/output.json": "[" * 100_000}, "is not JSON"),
        ({"skill.yaml": "output: {$ref: 'http://127.0.0.1/x.json'}\n"}, "outside of itself"),
        ({"skill.yaml": "output: {properties: {a: {$ref: 'file:///etc/passwd'}}}\n"}, "outside of itself"),
        ({"skill.yaml": "output: ../../secret.json\n"}, "cannot leave"),
        ({"skill.yaml": "output: nowhere.json\n"}, "cannot be read"),
        ({"schemas/output.py": "x = 1\n"}, "no pydantic model"),
        ({"schemas/output.py": "raise SystemExit\n"}, "cannot be run"),
        ({"schemas/output.py": "def"}, "cannot be run"),
        ({"skill.yaml": "type: code\n"}, "without a `function`"),
        ({"skill.yaml": "function: gate.py\n", "gate.py": ""}, "file.py:name"),
        ({"skill.yaml": "function: gate.py:check\n", "gate.py": ""}, "there is no 'check'"),
        ({"skill.yaml": "function: gate.py:check\n", "gate.py": "check = 1\n"}, "cannot be called"),
        ({"skill.yaml": "function: ../gate.py:check\n"}, "cannot leave"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_its_reason(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    own = library(tmp_path, files)

    with pytest.raises(SkillInvalid, match=reason):
        own["mail"]


def test_a_code_skill_brings_its_function(tmp_path: Path) -> None:
    code = "from __future__ import annotations\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    n: int\n\n\ndef count(n: int) -> int:\n    return A(n).n + 1\n"

    skill = library(tmp_path, {"skill.yaml": "function: count.py:count\n", "count.py": code})["mail"]

    assert skill.manifest is not None
    assert skill.manifest.type == "code"
    assert skill.function is not None
    assert skill.function(2) == 3
    assert sorted(path.name for path in (tmp_path / "mail").iterdir()) == ["SKILL.md", "count.py", "skill.yaml"]


def test_changed_code_is_run_anew_and_unchanged_code_once(tmp_path: Path) -> None:
    own = library(tmp_path, {"skill.yaml": "function: count.py:count\n", "count.py": "def count(): return 1\n"})
    first, again = own["mail"].function, own["mail"].function
    (tmp_path / "mail" / "count.py").write_text("def count(): return 2\n")

    changed = own["mail"].function

    assert first is again
    assert changed is not None
    assert changed() == 2


@pytest.mark.parametrize(
    "files", [{"skill.yaml": "function: gate.py:check\n"}, {"skill.yaml": "output: schemas/output.py\n"}]
)
def test_no_code_of_an_untrusted_skill_is_run(tmp_path: Path, files: dict[str, str]) -> None:
    trap = f"from pathlib import Path\nPath({str(tmp_path / 'trap')!r}).touch()\ndef check(): pass\n"
    own = library(tmp_path, {**files, "gate.py": trap, "schemas/output.py": trap})

    with pytest.raises(SkillInvalid, match="is not trusted"):
        load(replace(own.manifest("mail"), is_trusted=False))

    assert not (tmp_path / "trap").exists()


def test_an_untrusted_skill_does_without_a_model_that_nobody_named(tmp_path: Path) -> None:
    own = library(tmp_path, {"schemas/output.py": "raise SystemExit"})

    assert load(replace(own.manifest("mail"), is_trusted=False)).output is None


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../../x", "..", "a\0b", "C:/x", "\\\\server\\x", "..\\x", "a/b/../../../c"]
)
def test_a_path_that_leads_out_is_seen_by_its_words(path: str) -> None:
    assert leads_out(path)


@pytest.mark.parametrize("path", ["x", "a/b", "./x", "a/../x", ""])
def test_a_path_that_stays_inside_is_taken(path: str) -> None:
    assert not leads_out(path)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda place: place.symlink_to("../secret.md"), "leads out"),
        (lambda place: place.symlink_to("/etc/hostname"), "leads out"),
        (lambda place: place.symlink_to(place.name), "cannot be read"),
        (lambda place: os.mkfifo(place), "not a file"),
        (lambda place: place.mkdir(), "not a file"),
        (lambda place: place.write_bytes(b"x" * 2_000_000), "larger than"),
        (lambda place: None, "cannot be read"),
    ],
)
def test_a_file_that_is_none_of_the_skills_is_refused(tmp_path: Path, make, reason: str) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "mail").mkdir()
    make(tmp_path / "mail" / "terms.md")

    with pytest.raises(SkillInvalid, match=reason):
        read_inside(tmp_path / "mail", "terms.md")


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "mail" / "docs").mkdir(parents=True)
    (tmp_path / "mail" / "docs" / "terms.md").write_text("Terms")
    (tmp_path / "mail" / "references").symlink_to("docs")

    assert read_inside(tmp_path / "mail", "references/terms.md") == "Terms"


def test_a_folder_that_is_swapped_for_a_link_after_the_test_opens_nothing(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "terms.md").write_text("secret")
    (tmp_path / "mail" / "docs").mkdir(parents=True)
    (tmp_path / "mail" / "docs" / "terms.md").write_text("Terms")
    plain = os.open

    def swap(path, flags, *rest, **more):
        if path == "docs":
            (tmp_path / "mail" / "docs").rename(tmp_path / "mail" / "moved")
            (tmp_path / "mail" / "docs").symlink_to("../outside")
        return plain(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", swap)

    with pytest.raises(SkillInvalid, match="cannot be read"):
        read_inside(tmp_path / "mail", "docs/terms.md")
