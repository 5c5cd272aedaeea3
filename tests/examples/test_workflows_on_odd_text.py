"""Whatever the text, the shipped code skills give an output of their schema, or say in one of our errors why not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestra.document import Document
from orchestra.errors import OrchestraError
from orchestra.skills import Skill, SkillLibrary
from orchestra.skills.code import CodeContext, call_code
from orchestra.skills.trees.triggers import triggered

PIECES = st.sampled_from(
    [
        "# Results\n", "## Note 1: Costs\n", "\n\n", "- From: Ann <a@x.example>\n", "- Date: 2026-03-02\n",
        "- Subject: URGENT: today\n", "Date: 31.31.2026\n", "Please pay by February 31.\n", "Revenue rose 9.5% to $2,839.5, from $0.\n",
        "Costs fell 3% to $1.2.3 million, from $9,9,9 million.\n", "| a | 2024 | 2025 |\n", "| --- | --- | --- |\n",
        "| Total | 1,2 | (3.4) |\n", "| x | 1 | – |\n", "|\n", "```\n", "**Term**: what it means, in six words or more.\n",
        "The plant has 1,234 people and 5.6 percent of the sales of 2025.\n", "Der Umsatz stieg auf 2.839,5 Millionen.\n",
        "公司收入增长了 9.5%。\n", "  EBITDA EBITDA EBITDA (Earnings Before)\n", "see Note 9 and Table A\n", "\u2028", "²³ ٣٤ ①\n",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=12), min_size=1, max_size=30).map("".join).filter(lambda text: text.strip())


def skill(*path: str) -> Skill:
    """A shipped skill, or one of its sub-skills."""
    library = SkillLibrary.builtin()
    manifest = library.manifest(path[0])
    for name in path[1:]:
        manifest = next(child for child in library.sub_skills(manifest) if child.name == name)
    return library.load(manifest)


def output(made: Skill, text: str, **parameters: Any) -> Any:
    found = call_code(made.function, parameters, CodeContext(documents=Document.from_text(text).alone))
    jsonschema.validate(found, dict(made.output or {}))
    return found


@pytest.mark.parametrize(
    "path",
    [
        ("email-workflow", "email-classifier"),
        ("exam-mode-tuner", "question-generation"),
        ("report-review", "report-ready"),
        ("report-review", "figure-checks"),
        ("report-review", "terms-and-references"),
    ],
)
def test_any_text_gives_an_output_of_the_schema_or_an_error_of_ours(path: tuple[str, ...]) -> None:
    made = skill(*path)

    @settings(deadline=None, max_examples=80)
    @given(TEXTS)
    @example("- From: a\n- Subject: b\n- Date: 0000-00-00\n\nby May 32\n")
    @example("# A\n\n| a | b |\n| --- | --- |\n| Total | 1 |\n| Total | 2 |\n| Total | 3 |\n")
    def holds(text: str) -> None:
        with suppress(OrchestraError):
            output(made, text)

    holds()


@settings(deadline=None, max_examples=80)
@given(TEXTS)
def test_a_question_with_its_answer_is_the_sentence_of_its_lines(text: str) -> None:
    try:
        found = output(skill("exam-mode-tuner", "question-generation"), text)["questions"]
    except OrchestraError:
        found = []

    assert all(each["question"].replace("_____", each["answer"]) == each["sentence"] for each in found)
    assert all(each["answer"] in each["options"] for each in found if each["options"])
    assert all(len(set(each["options"])) == len(each["options"]) for each in found)


LEVELS = ("easy", "medium", "hard")


@given(st.sampled_from(LEVELS), st.lists(st.booleans(), max_size=6))
def test_difficulty_moves_by_one_level_at_most_and_never_against_the_answer(level: str, rights: list[bool]) -> None:
    made = skill("exam-mode-tuner", "adaptive-difficulty")

    adapted = output(made, "x", difficulty=level, answers=[{"is_right": right} for right in rights])["difficulty"]

    step = LEVELS.index(adapted) - LEVELS.index(level)
    assert step in (-1, 0, 1)
    assert not (step > 0 and not rights[-1])
    assert not (step < 0 and rights[-1])


@pytest.mark.parametrize(
    ("query", "skills"),
    [
        ("Organize my inbox and reply to urgent emails", ("email-workflow",)),
        ("Reply to the urgent mails", ("email-workflow",)),
        ("Give me a practice test on this", ("exam-mode-tuner",)),
        ("Quiz me on the risks", ("exam-mode-tuner",)),
        ("Review this report", ("report-review",)),
        ("Check the totals, please", ("report-review",)),
        ("Summarize the customer reviews", ()),
        ("What did the committee on exams decide?", ()),
        ("Write a mail to Bob", ()),
    ],
)
def test_a_workflow_is_chosen_by_words_that_mean_it(query: str, skills: tuple[str, ...]) -> None:
    triggers = {name: manifest.triggers for name, manifest in SkillLibrary.builtin().manifests.items()}

    assert triggered(query, triggers) == skills
