"""The built-in engine as the planner of an outline: what it points at, what it answers itself, what it never reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, count_tokens, cut, resolve_section
from orchestra.document.retrieval import find
from orchestra.document.view import OutlineView, outline_view
from orchestra.models.blocks import Catalogue, Instructions, OutlineBlock, Task
from orchestra.models.extractive import ExtractiveModel
from orchestra.models.extractive.outline_planning import ONE_SUBTASK_TOKENS
from orchestra.models.extractive.questions import split
from orchestra.models.extractive.whole_tasks import is_about_the_whole
from orchestra.models.protocol import ModelReply, ModelRequest
from orchestra.planning.outline_planner import OUTLINE_SCHEMA, outline_request, read_outline_reply
from orchestra.skills import SkillLibrary

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOKUPS = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))["lookups"]
HANDBOOK = """# Handbook

## Opening hours

The library opens at nine and closes at six.

## Fees

| Item | 2024 | 2025 |
| --- | ---: | ---: |
| Late return | 0.40 | 0.50 |
| Lost card | 4.00 | 5.00 |

## Staff

Maria Lindqvist-Ode leads the library.
She is said to lead it
since the spring of 2011.
"""
PAGE = "The {topic} of the works is described here. It was measured in March and again in June by the same crew.\n"
TOPICS = ("drainage", "lighting", "heating", "roofing", "fencing", "paving", "plumbing", "glazing")


@pytest.fixture(scope="module")
def handbook() -> DocumentSet:
    return DocumentSet.of(HANDBOOK)


@pytest.fixture(scope="module")
def paged() -> DocumentSet:
    return DocumentSet.of("\f".join(PAGE.format(topic=topic) * 40 for topic in TOPICS))


@pytest.fixture(scope="module")
def report() -> DocumentSet:
    return DocumentSet.of(EXAMPLES / "annual-report.md")


def seen(documents: DocumentSet, task: str, shown: Sequence[LineRange]) -> OutlineView:
    """A view that shows the planner just these lines."""
    text = "\n".join(documents.find(lines.key).lines(lines.first, lines.last) for lines in shown)
    return OutlineView(documents, find(task, documents), text, count_tokens(text), tuple(shown))


def reply_to(view: OutlineView, task: str) -> ModelReply:
    skills = SkillLibrary.of(None).catalogue
    blocks = (Instructions("rules"), Catalogue(skills), OutlineBlock(view), Task(task))
    return ExtractiveModel().complete(ModelRequest(blocks, purpose="plan", schema=OUTLINE_SCHEMA))


def planned(documents: DocumentSet, task: str) -> list[dict[str, Any]]:
    return reply_to(outline_view(documents, task, 2_000), task).data["subtasks"]


def pointed(documents: DocumentSet, subtask: dict[str, Any]) -> list[LineRange]:
    return [found for pointer in subtask["sections"] for found in resolve_section(pointer, documents).ranges]


def test_pages_are_pointed_at_whole(paged: DocumentSet) -> None:
    (subtask,) = planned(paged, "Why was the heating of the works described?")

    assert subtask["sections"][0] == "p3"
    assert LineRange("", 81, 120) in pointed(paged, subtask)


def test_a_slice_keeps_within_the_budget_of_a_lone_subtask(paged: DocumentSet) -> None:
    (subtask,) = planned(paged, "Why were the works measured in March?")

    slice_ = cut(pointed(paged, subtask), paged)
    assert ONE_SUBTASK_TOKENS / 2 < slice_.tokens <= ONE_SUBTASK_TOKENS


def test_several_subtasks_share_what_is_more_than_the_budget_of_one(paged: DocumentSet) -> None:
    subtasks = planned(
        paged, "Why was the heating described? Why was the roofing described? Why was the paving described?"
    )

    tokens = [cut(pointed(paged, each), paged).tokens for each in subtasks]
    assert len(tokens) == 3
    assert sum(tokens) < 2 * ONE_SUBTASK_TOKENS


def test_each_question_has_places_of_its_own(paged: DocumentSet) -> None:
    heating, glazing = planned(paged, "Why was the heating described? Why was the glazing described?")

    assert (heating["sections"][0], glazing["sections"][0]) == ("p3", "p8")


def test_sections_are_pointed_at_by_their_ids(handbook: DocumentSet) -> None:
    (subtask,) = planned(handbook, "Why does the library close at six?")

    assert subtask["sections"][0] == "s2"


def test_a_text_without_headings_is_pointed_at_by_its_parts() -> None:
    documents = DocumentSet.of("\n\n".join(PAGE.format(topic=topic) * 40 for topic in TOPICS))

    (subtask,) = planned(documents, "Why was the glazing of the works described?")

    shown = "\n".join(passage.text for passage in cut(pointed(documents, subtask), documents).passages)
    assert "glazing" in shown


def test_with_several_documents_a_pointer_says_which(handbook: DocumentSet) -> None:
    pump = Document.from_text("# Manual\n\n## Pump\n\nThe pump stops at forty degrees because it is dry.\n")
    documents = DocumentSet.of([handbook[0], pump])

    (subtask,) = planned(documents, "Why does the pump stop?")

    assert subtask["sections"][0].startswith("d2:")


@pytest.mark.parametrize("lookup", LOOKUPS, ids=lambda lookup: lookup["id"])
def test_a_lookup_is_answered_from_a_line_that_the_planner_was_shown(
    report: DocumentSet, lookup: dict[str, Any]
) -> None:
    request = outline_request(report, lookup["question"], SkillLibrary.of(None))
    (block,) = [block for block in request.blocks if isinstance(block, OutlineBlock)]

    decision = read_outline_reply(ExtractiveModel().complete(request), report)

    assert decision.plan is not None
    (subtask,) = decision.plan.subtasks
    cited = {
        line for found in pointed(report, {"sections": subtask.context_pointers.sections}) for line in lines_of(found)
    }
    assert subtask.is_self_answered
    assert cited & {*lookup["gold_lines"]}
    assert cited <= {line for lines in block.view.shown for line in lines_of(lines)}


def lines_of(lines: LineRange) -> range:
    return range(lines.first, lines.last + 1)


def test_a_line_that_was_not_shown_answers_nothing(handbook: DocumentSet) -> None:
    task = "Who leads the library?"

    (subtask,) = reply_to(seen(handbook, task, [LineRange("", 1, 15)]), task).data["subtasks"]

    assert subtask["skill"] == "fact-extraction"
    assert subtask["answer"] is None


def test_a_shown_line_answers_with_its_citation(handbook: DocumentSet) -> None:
    task = "Who leads the library?"

    (subtask,) = reply_to(seen(handbook, task, [LineRange("", 16, 16)]), task).data["subtasks"]

    assert subtask["skill"] == "self"
    assert subtask["answer"] == "Maria Lindqvist-Ode leads the library. [L16]"
    assert subtask["sections"] == ["L16"]


def test_a_row_whose_head_was_not_shown_answers_nothing(handbook: DocumentSet) -> None:
    task = "What is the fee for a late return in 2025?"

    (alone,) = reply_to(seen(handbook, task, [LineRange("", 11, 11)]), task).data["subtasks"]
    (headed,) = reply_to(seen(handbook, task, [LineRange("", 9, 9), LineRange("", 11, 11)]), task).data["subtasks"]

    assert alone["answer"] is None
    assert headed["answer"] == "Late return, 2025: 0.50 [L9, L11]"


def test_a_row_set_with_spaces_is_left_to_a_closer_reading() -> None:
    documents = DocumentSet.of("# Fees\n\n                2025    2024\n\nLate return fee  0.50    0.40\n")
    task = "What was the late return fee in 2025?"

    (subtask,) = reply_to(seen(documents, task, [LineRange("", 1, 5)]), task).data["subtasks"]

    assert subtask["answer"] is None


@pytest.mark.parametrize(
    "task", ["Does Maria Lindqvist-Ode lead the library?", "Who leads the library, in 2024 or in 2025?"]
)
def test_a_question_that_a_quote_does_not_settle_is_sent_out(handbook: DocumentSet, task: str) -> None:
    (subtask,) = reply_to(seen(handbook, task, [LineRange("", 1, 18)]), task).data["subtasks"]

    assert subtask["answer"] is None


@settings(max_examples=60, deadline=None)
@given(
    shown=st.lists(st.integers(1, 18), max_size=8, unique=True),
    task=st.sampled_from(
        ["Who leads the library?", "What is the fee for a lost card in 2024?", "When does the library open?"]
    ),
)
def test_a_self_answer_cites_only_lines_that_were_shown(shown: list[int], task: str) -> None:
    documents = DocumentSet.of(HANDBOOK)
    view = seen(documents, task, [LineRange("", line, line) for line in sorted(shown)])

    subtasks = reply_to(view, task).data["subtasks"]

    answered = [each for each in subtasks if each["answer"]]
    cited = {line for each in answered for found in pointed(documents, each) for line in lines_of(found)}
    assert cited <= {*shown}


@pytest.mark.parametrize(
    "task",
    [
        "Summarize this document",
        "Summarize the report in three sentences.",
        "Give a critique of the report",
        "What is this about?",
        "What are the main points?",
        "Summarize the annual report and evaluate its main arguments.",
        "Write an executive summary of the document in 200 words",
        "Evaluate the strengths and weaknesses of this paper.",
        "What is missing from this report?",
    ],
)
def test_a_task_without_a_topic_is_about_the_whole(task: str) -> None:
    assert is_about_the_whole(split(task), ())


@pytest.mark.parametrize(
    "task",
    [
        "Summarize the risks from competition",
        "What are the main risks?",
        "Summarize the legal proceedings of the report",
        "Describe the business",
        "What does the report say about debt?",
        "What are the key findings on water quality?",
        "When was this document written?",
        "Who is the author?",
        "Summarize the document, and who audits the company?",
    ],
)
def test_a_task_with_a_topic_is_not_about_the_whole(task: str) -> None:
    assert not is_about_the_whole(split(task), ())


def test_the_name_of_a_document_is_no_topic() -> None:
    assert is_about_the_whole(split("Summarize the Ostermere report"), ("Ostermere Annual Report 2025",))


def test_a_task_about_the_whole_is_said_to_be_one(handbook: DocumentSet) -> None:
    reply = reply_to(outline_view(handbook, "Summarize this document"), "Summarize this document")

    decision = read_outline_reply(reply, handbook)
    assert decision.whole
    assert decision.skill == "summarization"


def test_a_question_without_a_topic_among_others_sees_places_all_over(paged: DocumentSet) -> None:
    summary, _ = planned(paged, "Summarize the document, and who measured the roofing?")

    assert summary["sections"] == ["p1", "p2", "p4", "p5", "p7"]


def test_a_plan_fits_the_schema_and_the_parser(report: DocumentSet) -> None:
    task = "Summarize the legal proceedings, compare Europe and Asia Pacific, and who is the chief financial officer?"

    reply = reply_to(outline_view(report, task, 2_000), task)

    jsonschema.validate(reply.data, dict(OUTLINE_SCHEMA))
    decision = read_outline_reply(reply, report)
    assert decision.plan is not None
    assert decision.notes == ()
    assert [each.skill for each in decision.plan.subtasks][:2] == ["summarization", "analytical-comparison"]


def test_only_the_places_that_were_found_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    filler = "\n\n".join(f"## Part {number}\n\n{PAGE.format(topic='lawn') * 30}" for number in range(60))
    document = Document.from_text(f"{filler}\n\n## Pump\n\nThe pump stops because it is dry.\n")
    documents = DocumentSet.of(document)
    view = seen(documents, "Why does the pump stop?", [])
    assert len(document.outline.sections) > 60
    read: list[int] = []
    original = Document.lines

    def recorded(self: Document, first: int, last: int) -> str:
        read.append(last - first + 1)
        return original(self, first, last)

    monkeypatch.setattr(Document, "lines", recorded)
    monkeypatch.delattr(document, "text")

    (subtask,) = reply_to(view, "Why does the pump stop?").data["subtasks"]

    assert subtask["sections"]
    assert sum(read) < 100


def test_the_outline_counts_as_it_was_counted(handbook: DocumentSet) -> None:
    view = outline_view(handbook, "Who leads the library?")
    request = ModelRequest((OutlineBlock(view), Task("Who leads the library?")), purpose="plan")

    reply = ExtractiveModel().complete(request)

    assert abs(reply.usage.input_tokens - count_tokens(request.prompt)) <= 4


def test_the_same_view_gives_the_same_bytes(report: DocumentSet) -> None:
    task = "What drove the gross margin, and who audits the company?"

    first, second = (reply_to(outline_view(report, task, 2_000), task).text for _ in range(2))

    assert first == second
