"""Gates and enhancements that mean harm, or meet texts that do: the run goes on, in time."""

from __future__ import annotations

from typing import Any

import pytest
from models_for_tests import REPORT, ScriptedModel

from orchestra.document import Document, DocumentSet
from orchestra.pipeline import orchestrate
from orchestra.result import Result
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.code import CodeContext, call_code
from orchestra.skills.loading import read_skill
from orchestra.skills.manifest import Manifest

SHIPPED = SkillLibrary.builtin()


def shipped(name: str, **context: Any) -> Any:
    skill, _ = read_skill(SHIPPED.manifests[name].folder / "SKILL.md")
    return call_code(skill.function, {}, CodeContext(**context))


def documents_of(text: str) -> DocumentSet:
    return DocumentSet.of(text)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_an_enhancement_whose_output_is_too_deep_to_be_kept_is_left_out(tmp_path):
    skill = Skill("deep", "Goes deep.", "-", layer="enhancement", function=lambda: nested(300))
    library = SkillLibrary([Manifest("deep", "Goes deep.", type="code", layer="enhancement", given=skill)])
    model = ScriptedModel(subtask="Revenue was $40 million.")

    result: Result = orchestrate(
        REPORT, "What was revenue?", library, model, strategy="direct", mode="standard", store=tmp_path / "runs.db"
    )

    assert result.status == "completed"
    assert next(each for each in result.layers if each.skill == "deep").status == "failed"


def test_terms_are_looked_up_in_a_large_text_without_holding_it_up():
    text = "the revenue from contracts rose on account of prices and volumes " * 60_000 + "\n" + "a" * 2_000_000
    answer = "BOD, CEO, IBM, USA, EBITDA, GAAP, SEC, FTC and IRS agree."

    outcome = shipped("glossary", answer=answer, documents=documents_of(text))

    assert outcome == {"terms": []}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("It was the Board of Directors (BOD) that said so.", "Board of Directors"),
        ('In 2024, the Board of Directors ("BOD") met.', "Board of Directors"),
        ("“BOD” means the body that\ndirects.", "the body that"),
        ("Der Beirat der Öl-Dienste (BOD) tagte.", "Beirat der Öl-Dienste"),
        ("(BOD) BOD (BOD", ""),
        ("מועצת המנהלים (BOD) החליטה", ""),
    ],
)
def test_a_term_means_what_the_document_says(text: str, meaning: str):
    outcome = shipped("glossary", answer="The BOD met.", documents=documents_of(f"# A\n\n{text}\n"))

    assert [term["meaning"] for term in outcome["terms"]] == ([meaning] if meaning else [])
    assert all(term["line"] == 3 for term in outcome["terms"])


@pytest.mark.parametrize("task", ["a" * 300_000, "a.-" * 100_000, "a.pdf" * 50_000])
def test_a_long_task_holds_no_gate_up(task: str):
    assert shipped("task-answerable", query=task, documents=documents_of("x"))["ok"] in (True, False)


@pytest.mark.parametrize(
    ("task", "missing"),
    [
        ("What does Annual Report.pdf say?", False),
        ("What does ANNUAL REPORT.PDF say?", False),
        ("What does old-Annual Report.pdf say?", True),
        ("What does other.pdf say?", True),
    ],
)
def test_a_file_name_may_have_blanks(task: str, missing: bool):
    documents = DocumentSet.of(Document("x", name="Annual Report.pdf"))

    assert shipped("task-answerable", query=task, documents=documents)["ok"] is not missing
