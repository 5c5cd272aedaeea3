"""The built-in engine through its one method, with requests made by hand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, cut, resolve_section, whole
from orchestra.errors import ModelTimeout, RunCancelled
from orchestra.models.blocks import Catalogue, DocumentBlock, Finding, Findings, Instructions, SliceBlock, Task
from orchestra.models.deadline import Deadline
from orchestra.models.extractive import NOTICE, ExtractiveModel
from orchestra.models.protocol import Message, ModelReply, ModelRequest
from orchestra.planning.parse import parse_plan
from orchestra.planning.plan import PLAN_SCHEMA

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTIONS = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))
SKILLS = (
    ("fact-extraction", "Extracts facts."),
    ("summarization", "Condenses a text."),
    ("classification", "Assigns categories."),
    ("analytical-comparison", "Compares things."),
    ("causal-reasoning", "Explains why."),
    ("critique", "Judges arguments."),
    ("gap-analysis", "Finds what is missing."),
    ("structured-synthesis", "Puts parts together."),
)
TEXT = """# Handbook

## Opening hours

The library opens at nine and closes at six.
It is closed on public holidays because the caretaker is away.

## Fees

| Item | 2024 | 2025 |
| --- | ---: | ---: |
| Late return | 0.40 | 0.50 |
| Lost card | 4.00 | 5.00 |

## Staff

Maria Lindqvist-Ode leads the library.
"""


@pytest.fixture(scope="module")
def report() -> DocumentSet:
    return DocumentSet.of(EXAMPLES / "annual-report.md")


@pytest.fixture(scope="module")
def handbook() -> DocumentSet:
    return DocumentSet.of(TEXT)


def planned(documents: DocumentSet, task: str, skills: tuple[tuple[str, str], ...] = SKILLS) -> dict[str, Any]:
    blocks = (Instructions("rules"), DocumentBlock(documents), Catalogue(skills), Task(task))
    return ExtractiveModel().complete(ModelRequest(blocks, purpose="plan", schema=PLAN_SCHEMA)).data


def pointed(documents: DocumentSet, subtask: dict[str, Any]) -> list[LineRange]:
    pointers = subtask["context_pointers"]["sections"]
    return [found for pointer in pointers for found in resolve_section(pointer, documents).ranges]


def replied(documents: DocumentSet, task: str, ranges: list[LineRange] | None = None) -> str:
    shown = whole(documents) if ranges is None else cut(ranges, documents)
    request = ModelRequest((Instructions("rules"), SliceBlock(shown), Task(task)), purpose="subtask")
    return ExtractiveModel().complete(request).text


def answered(documents: DocumentSet, task: str) -> str:
    """All findings of a plan, each self-answered or replied to from the lines that its pointers mean."""
    subtasks = planned(documents, task)["subtasks"]
    return "\n".join(each["answer"] or replied(documents, each["task"], pointed(documents, each)) for each in subtasks)


def joined(*findings: Finding, schema: dict[str, Any] | None = None) -> ModelReply:
    blocks = (Instructions("rules"), Findings(findings), Task("the whole task"))
    return ExtractiveModel().complete(ModelRequest(blocks, purpose="synthesis", schema=schema))


def cited_lines(text: str) -> set[int]:
    marks = re.findall(r"\[((?:d\d+:)?L\d[^\]]*)\]", text)
    spans = [span for mark in marks for span in re.findall(r"L(\d+)(?:-L(\d+))?", mark)]
    return {line for first, last in spans for line in range(int(first), int(last or first) + 1)}


def test_at_least_eight_of_the_ten_lookups_are_answered_with_the_right_line(report: DocumentSet) -> None:
    replies = {lookup["id"]: answered(report, lookup["question"]) for lookup in QUESTIONS["lookups"]}

    wrong = [
        each["id"] for each in QUESTIONS["lookups"] if not cited_lines(replies[each["id"]]) & {*each["gold_lines"]}
    ]

    assert len(QUESTIONS["lookups"]) == 10
    assert len(wrong) <= 2, wrong


@pytest.mark.parametrize("analysis", QUESTIONS["analyses"], ids=lambda analysis: analysis["id"])
def test_an_analysis_is_pointed_at_a_section_that_holds_its_answer(
    report: DocumentSet, analysis: dict[str, Any]
) -> None:
    outline = report[0].outline
    gold = {
        line
        for section in outline.sections
        if " > ".join(section.path[1:]) in analysis["gold_sections"]
        for line in range(section.first_line, section.last_line + 1)
    }

    subtasks = planned(report, analysis["question"])["subtasks"]

    shown = {line for each in subtasks for r in pointed(report, each) for line in range(r.first, r.last + 1)}
    assert shown & gold


def test_the_first_example_answers_two_lookups_itself_and_sends_the_analysis_out(report: DocumentSet) -> None:
    task = "Who audits the company, what was revenue in 2025, and what drove the change in gross margin?"

    subtasks = planned(report, task)["subtasks"]

    assert [each["skill"] for each in subtasks] == ["self", "self", "causal-reasoning"]
    assert subtasks[0]["answer"].startswith("Pellworth & Crane LLP of Minneapolis")
    assert subtasks[1]["answer"].startswith("Revenue was $2,839.5 million in 2025")
    assert subtasks[2]["answer"] is None


def test_causes_are_quoted_in_order_after_the_outcome(report: DocumentSet) -> None:
    reply = answered(report, "What drove the change in gross margin?")

    first, second, *_ = reply.splitlines()
    assert first.startswith("- The gross margin rose by 166 basis points")
    assert second.startswith("- The increase was driven mainly by selling prices")
    assert cited_lines(reply) == set(range(min(cited_lines(second)), max(cited_lines(reply)) + 1)) | cited_lines(first)


def test_a_plan_fits_the_schema_and_the_parser(report: DocumentSet) -> None:
    task = "Summarize the legal proceedings, compare Europe and Asia Pacific, and who is the chief financial officer?"

    data = planned(report, task)

    jsonschema.validate(data, dict(PLAN_SCHEMA))
    plan, notes = parse_plan(data)
    assert [subtask.id for subtask in plan.subtasks] == ["1", "2", "3"]
    assert notes == ()


def test_more_than_six_questions_become_six_subtasks_without_losing_one(handbook: DocumentSet) -> None:
    names = [f"Who leads department number {number}?" for number in range(1, 10)]

    subtasks = planned(handbook, " ".join(names))["subtasks"]

    assert len(subtasks) == 6
    assert all(name in " ".join(each["task"] for each in subtasks) for name in names)


def test_a_table_cell_is_answered_with_its_row_its_column_and_both_lines(handbook: DocumentSet) -> None:
    (subtask,) = planned(handbook, "What is the fee for a late return in 2025?")["subtasks"]

    assert subtask["answer"] == "Late return, 2025: 0.50 [L10, L12]"


def test_a_name_is_answered_by_the_sentence_that_holds_it(handbook: DocumentSet) -> None:
    (subtask,) = planned(handbook, "Who leads the library?")["subtasks"]

    assert subtask["skill"] == "self"
    assert subtask["answer"] == "Maria Lindqvist-Ode leads the library. [L17]"
    assert subtask["context_pointers"]["sections"] == ["s4"]


def test_what_the_text_does_not_hold_is_said_to_be_missing(handbook: DocumentSet) -> None:
    reply = replied(handbook, "What is the melting point of tungsten?")

    assert reply.startswith("INSUFFICIENT: nothing on melting, point, tungsten.")


def test_a_subtask_of_several_questions_answers_each_under_its_own(handbook: DocumentSet) -> None:
    reply = replied(handbook, "Who leads the library? Why is the library closed on public holidays?")

    assert reply.startswith("**Who leads the library?**\n\nMaria Lindqvist-Ode leads the library. [L17]\n\n**Why is")


def test_with_several_documents_marks_and_pointers_say_which() -> None:
    other = Document.from_text("# Manual\n\n## Pump\n\nThe pump stops at forty degrees Celsius.\n", name="manual")
    documents = DocumentSet.of([Document.from_text(TEXT, name="handbook"), other])

    (subtask,) = planned(documents, "Why does the pump stop?")["subtasks"]
    reply = replied(documents, "Why does the pump stop?", pointed(documents, subtask))

    assert subtask["context_pointers"]["sections"] == ["d2:s2"]
    assert reply.startswith("- The pump stops at forty degrees Celsius. [d2:L5]")


def test_a_section_that_has_subsections_is_pointed_at_by_its_own_lines() -> None:
    documents = DocumentSet.of("# Guide\n\nRates are low because demand is low.\n\n## Other\n\nNothing here.\n")

    (subtask,) = planned(documents, "Why are rates low?")["subtasks"]

    assert subtask["context_pointers"]["sections"] == ["L1-L4"]


def test_a_skill_of_the_callers_own_is_chosen_by_its_name(report: DocumentSet) -> None:
    own = ("legal-risk", "Lists legal claims against the company.")

    (subtask,) = planned(report, "Which legal claims does the company face?", (*SKILLS, own))["subtasks"]

    assert subtask["skill"] == "legal-risk"


def test_every_quote_stands_in_the_lines_that_it_names(report: DocumentSet) -> None:
    reply = answered(report, "Summarize the risk factors of the company, and why did inventories grow?")

    quotes = re.findall(r"^(?:- )?(.+?) \[L(\d+)(?:-L(\d+))?\]$", reply, re.MULTILINE)
    shown = [quote for quote, first, last in quotes if quote in report[0].lines(int(first), int(last or first))]
    assert len(quotes) >= 6
    assert shown == [quote for quote, _, _ in quotes]


def test_a_comparison_has_one_block_for_each_thing(report: DocumentSet) -> None:
    reply = answered(report, "How do Flow Measurement and Pumps and Drives compare in growth and profitability?")

    blocks = re.findall(r"^\*\*(.+)\*\*$", reply, re.MULTILINE)
    assert blocks == ["Flow Measurement", "Pumps and Drives"]


def test_what_differs_between_two_things_is_quoted_though_no_line_says_that_it_differs() -> None:
    text = "# Layers\n\n## Guarantee\n\nIt may block the work.\n\n## Enhancement\n\nIt never blocks the work.\n"

    reply = replied(DocumentSet.of(text), "What is the difference between a guarantee and an enhancement?")

    assert reply.startswith("**Guarantee**\n\n- It may block the work. [L5]\n\n**Enhancement**\n\n- It never blocks")


def test_the_joined_answer_has_a_heading_per_question_and_says_once_that_it_quotes() -> None:
    reply = joined(
        Finding("1", "Who leads?", "Maria leads. [L17]"),
        Finding("2", "Why closed?", f"- The caretaker is away. [L6]\n\nINSUFFICIENT: no row of 2014.\n\n*{NOTICE}*"),
        Finding("3", "How large?", "the model was overloaded", is_missing=True),
    )

    assert reply.text == (
        "### Who leads?\n\nMaria leads. [L17]\n\n"
        "### Why closed?\n\n- The caretaker is away. [L6]\n\nMissing: no row of 2014.\n\n"
        "### How large?\n\nMissing: the model was overloaded\n\n"
        f"*{NOTICE}*"
    )
    assert reply.data is None


def test_an_answer_schema_is_filled_from_the_findings() -> None:
    inner = {
        "type": "object",
        "properties": {
            "leader": {"type": "string"},
            "fee": {"type": "number", "description": "late return fee"},
            "open_days": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            "kind": {"enum": ["office", "library"]},
            "notes": {"type": "array", "items": {"$ref": "#/$defs/Note"}},
        },
        "required": ["leader", "fee", "open_days", "kind", "notes"],
    }
    note = {"type": "object", "properties": {"text": {"type": "string"}, "sure": {"type": "boolean"}}}
    properties = {"answer": {"type": "string"}, "data": inner}
    schema = {"type": "object", "properties": properties, "required": ["answer", "data"], "$defs": {"Note": note}}

    reply = joined(
        Finding("1", "Who is the leader of the library?", "Maria Ode leads the library. [L17]"),
        Finding("2", "What is the late return fee?", "Late return, 2025: 0.50 [L10, L12]"),
        schema=schema,
    )

    jsonschema.validate(reply.data, schema)
    assert json.loads(reply.text) == reply.data
    assert reply.data["data"]["leader"] == "Maria Ode leads the library."
    assert reply.data["data"]["kind"] == "library"
    assert "### Who is the leader" in reply.data["answer"]


def test_usage_is_counted_here(handbook: DocumentSet) -> None:
    request = ModelRequest((DocumentBlock(handbook), Task("Who leads the library?")), purpose="plan")

    reply = ExtractiveModel().complete(request)

    assert reply.usage.is_estimated
    assert reply.usage.input_tokens > handbook.tokens
    assert reply.usage.output_tokens > 0
    assert reply.model == "builtin:extractive"


def test_the_text_is_handed_on_line_by_line(handbook: DocumentSet) -> None:
    pieces: list[str] = []
    blocks = (SliceBlock(whole(handbook)), Task("Why is the library closed on public holidays?"))

    reply = ExtractiveModel().complete(ModelRequest(blocks, purpose="subtask", on_delta=pieces.append))

    assert "".join(pieces) == reply.text
    assert len(pieces) > 1


def test_a_reply_longer_than_allowed_is_cut_at_a_line_and_says_so(report: DocumentSet) -> None:
    blocks = (SliceBlock(whole(report)), Task("Summarize the risks."))

    reply = ExtractiveModel().complete(ModelRequest(blocks, purpose="subtask", max_tokens=60))

    assert reply.stop_reason == "max_tokens"
    assert reply.usage.output_tokens <= 60
    assert reply.text.startswith("- ")


def test_a_list_is_asked_for_by_its_heading(report: DocumentSet) -> None:
    reply = answered(report, "List the directors.")

    names = re.findall(r"^- \*\*(.+?)\*\*", reply, re.MULTILINE)
    assert len(names) == 10
    assert names[0] == "Margarethe Osei-Lind"


def test_a_table_is_asked_for_by_its_first_column(report: DocumentSet) -> None:
    reply = answered(report, "What was revenue by region in 2025?")

    assert reply.startswith("| Region | 2021 |")
    assert "| Total | 2,105.3 |" in reply


def test_without_a_document_a_plan_points_nowhere() -> None:
    request = ModelRequest((Task("Who leads, and why?"),), purpose="plan", schema=PLAN_SCHEMA)

    data = ExtractiveModel().complete(request).data

    jsonschema.validate(data, dict(PLAN_SCHEMA))
    assert [each["context_pointers"]["sections"] for each in data["subtasks"]] == [[]]


def test_long_lines_and_long_tasks_do_not_hold_it_up() -> None:
    text = "a1 " * 60_000 + "\n\n" + "Mr. A. B. Corp. " * 8_000 + "\n\n" + "1 2 3 4 5 " * 9_000
    task = " ".join(f"word{number}" for number in range(3_000))

    data = planned(DocumentSet.of(text), task)

    assert len(data["subtasks"]) == 1


def test_a_cancelled_call_ends(handbook: DocumentSet) -> None:
    deadline = Deadline()
    deadline.cancel()
    blocks = (DocumentBlock(handbook), Task("Who leads the library?"))

    with pytest.raises(RunCancelled):
        ExtractiveModel().complete(ModelRequest(blocks, purpose="plan", deadline=deadline))


def test_a_call_past_its_deadline_ends(handbook: DocumentSet) -> None:
    blocks = (DocumentBlock(handbook), Task("Who leads the library?"))

    with pytest.raises(ModelTimeout):
        ExtractiveModel().complete(ModelRequest(blocks, purpose="plan", deadline=Deadline(0.0)))


def test_another_purpose_is_answered_from_the_document(handbook: DocumentSet) -> None:
    request = ModelRequest((DocumentBlock(handbook),), messages=(Message("user", "Who leads the library?"),))

    reply = ExtractiveModel().complete(request)

    assert reply.text.startswith("Maria Lindqvist-Ode leads the library. [L17]")


def test_a_request_without_anything_to_quote_gets_the_notice() -> None:
    reply = ExtractiveModel().complete(ModelRequest((Instructions("Say hello."),)))

    assert reply.text == NOTICE


def test_the_same_request_gives_the_same_bytes_under_any_hash_seed() -> None:
    script = (
        "import sys; from orchestra.document import DocumentSet; from pathlib import Path\n"
        "from orchestra.models.extractive import ExtractiveModel; from orchestra.models.blocks import *; from orchestra.models.protocol import *\n"
        "blocks = (DocumentBlock(DocumentSet.of(Path(sys.argv[1]))), Task(sys.argv[2]))\n"
        "print(ExtractiveModel().complete(ModelRequest(blocks, purpose='plan')).text)\n"
    )
    task = "Summarize the legal proceedings, what drove the gross margin, and compare Europe with Asia Pacific."
    command = [sys.executable, "-c", script, str(EXAMPLES / "annual-report.md"), task]
    path = str(EXAMPLES.parent)

    outputs = [
        subprocess.run(
            command, env={"PYTHONHASHSEED": seed, "PYTHONPATH": path}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]

    assert outputs[0] == outputs[1]
    assert outputs[0].startswith(b'{"subtasks"')


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(
        alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\ufeff\x00"), min_size=1, max_size=400
    ).filter(str.strip),
    task=st.text(max_size=120),
)
def test_no_text_and_no_task_makes_it_fail(text: str, task: str) -> None:
    documents = DocumentSet.of(text)

    data = planned(documents, task)
    reply = replied(documents, task)

    jsonschema.validate(data, dict(PLAN_SCHEMA))
    assert reply.endswith(f"*{NOTICE}*")


LINE = st.sampled_from(
    ["# Fees", "## Staff", "", "", "| a | 2025 |", "| --- | --- |", "| fee | 5.0 |", "The fee rose. It fell: why?", "- item",
     "```", "Total fees  4.0  5.0", "> quote", "**Run in.** Text follows", "===", "<!-- note -->", "1. First, in 2024."]
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=25).map("\n".join).filter(str.strip))
def test_marks_never_leave_the_document(text: str) -> None:
    documents = DocumentSet.of(text)

    lines = cited_lines(replied(documents, "Why did the fee rise in 2025, and what is the total?"))

    assert lines <= set(range(1, documents[0].line_count + 1))
