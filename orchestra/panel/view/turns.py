"""A run as the chat shows it: what was asked, what came of it, and what a person can do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markupsafe import Markup
from pydantic import ValidationError

from orchestra.document import Citation
from orchestra.panel.ids import session_key
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.chart import Chart, chart_of
from orchestra.panel.view.markdown import CitationLink, answer_html
from orchestra.panel.view.visible import visible
from orchestra.result import ErrorReport, Result
from orchestra.result.words import capsule, enhancement_text
from orchestra.store import NodeRecord, RunRecord

State = Literal["running", "interrupted", "waiting", "answered", "completed", "partial", "failed", "cancelled"]

SIGNS: Mapping[str, tuple[str, str]] = {
    "running": ("▸", "running"),
    "interrupted": ("!", "interrupted"),
    "waiting": ("…", "waits for you"),
    "answered": ("…", "answered, and can go on"),
    "completed": ("✓", "completed"),
    "partial": ("!", "partly completed"),
    "failed": ("✗", "failed"),
    "cancelled": ("✗", "cancelled"),
}
_RESUMABLE = ("interrupted", "answered", "partial", "failed", "cancelled")
_LIVE = ("running", "waiting", "answered", "interrupted")
_CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True)
class Failure:
    """One sentence for people, and the page that shows the failing node."""

    sentence: str
    href: str


@dataclass(frozen=True, slots=True)
class Extra:
    """What stands below an answer, from an enhancement or as data."""

    heading: str
    html: Markup


@dataclass(frozen=True, slots=True)
class Turn:
    """One run of a chat. `href` is the page that shows it. `is_live`: it may change without anything being clicked."""

    run_id: str
    href: str
    task: str
    documents: tuple[str, ...]
    started_at: float
    state: State
    answer: Markup | None = None
    sources: tuple[CitationLink, ...] = ()
    extras: tuple[Extra, ...] = ()
    failure: Failure | None = None
    capsule: str = ""
    chart: Chart | None = None

    @property
    def sign(self) -> str:
        return SIGNS[self.state][0]

    @property
    def word(self) -> str:
        return SIGNS[self.state][1]

    @property
    def is_live(self) -> bool:
        return self.state in _LIVE

    @property
    def is_resumable(self) -> bool:
        return self.state in _RESUMABLE

    @property
    def sources_line(self) -> str:
        """`3 sources: 2 verified, 1 unverified`."""
        count = len(self.sources)
        words = [source.word for source in self.sources]
        kinds = [f"{words.count(word)} {word}" for word in ("verified", "derived", "unverified") if word in words]
        return f"{count} {'source' if count == 1 else 'sources'}: {', '.join(kinds)}"


def page_of(run_id: str, session_id: str, **chosen: str) -> str:
    """The page that shows a run, with what is chosen in it: `tab`, `node`."""
    query = [f"{name}={in_address(value)}" for name, value in chosen.items() if value]
    run = in_address(run_id)
    if session_id:
        return f"/sessions/{session_key(session_id)}?{'&'.join([f'run={run}', *query])}"
    return f"/runs/{run}" + (f"?{'&'.join(query)}" if query else "")


def state_of(record: RunRecord, *, is_held: bool, has_questions: bool) -> State:
    """How a run stands. `is_held`: somebody works on it; `has_questions`: some of its questions are open."""
    if record.status == "running":
        return "running" if is_held else "interrupted"
    if record.status == "waiting" and not has_questions:
        return "running" if is_held else "answered"
    return record.status


def turn_of(record: RunRecord, state: State, nodes: Sequence[NodeRecord] = ()) -> Turn:
    """`nodes` of a run that did not succeed say where it failed."""
    result = _result_of(record)
    failure = None if state in ("running", "interrupted", "completed") else _failure(record, result, state, nodes)
    turn = Turn(
        run_id=record.id,
        href=page_of(record.id, record.session_id, tab="graph"),
        task=visible(record.task),
        documents=tuple(visible(document.name) for document in record.documents),
        started_at=record.started_at,
        state=state,
        failure=failure,
    )
    if result is None or state in ("running", "interrupted", "waiting", "answered"):
        return turn
    sources = tuple(_link(record.id, each) for each in result.citations)
    return replace(
        turn,
        answer=answer_html(visible(result.answer), sources) if result.answer.strip() else None,
        sources=sources,
        extras=_extras(result),
        capsule=_capsule(result),
        chart=chart_of(result),
    )


def failing_node(nodes: Sequence[NodeRecord]) -> str:
    """The id of the node where a run failed: the deepest of those that failed first; empty where none did."""
    failed = [node for node in nodes if node.status == "failed"] or [node for node in nodes if node.error]
    inner = {node.parent_node_id for node in failed}
    return next((node.node_id for node in failed if node.node_id not in inner), "")


def _result_of(record: RunRecord) -> Result | None:
    try:
        return None if record.result is None else Result.model_validate(record.result)
    except ValidationError:
        return None  # of another version


def _capsule(result: Result) -> str:
    """The run in a line, in the words of the design: it was routed by itself."""
    line = capsule(result)
    return f"Auto-{line}" if line.startswith("routed") else f"Auto-routed {line}"


def _link(run_id: str, citation: Citation) -> CitationLink:
    last = f"-L{citation.last_line}" if citation.last_line != citation.first_line else ""
    page = f", p. {citation.page}" if citation.page is not None else ""
    label = visible(f"{citation.document} L{citation.first_line}{last}{page}")
    return CitationLink(
        citation.number,
        citation.status,
        label,
        f"/runs/{in_address(run_id)}/source?n={citation.number}",
        visible(" ".join(citation.quote.split()) or citation.reason),
    )


def _extras(result: Result) -> tuple[Extra, ...]:
    extras: list[Extra] = []
    if result.data is not None:
        data = json.dumps(result.model_dump(mode="json", include={"data"})["data"], ensure_ascii=False, indent=2)
        extras.append(Extra("Data", Markup("<pre>{}</pre>").format(visible(data))))
    for skill in result.layers:
        heading, _, text = enhancement_text(skill).partition("\n")
        if text:
            extras.append(Extra(visible(heading), answer_html(visible(text))))
    return tuple(extras)


def _failure(record: RunRecord, result: Result | None, state: State, nodes: Sequence[NodeRecord]) -> Failure | None:
    node = failing_node(nodes)
    sentence = _failure_words(record, result, state)
    return Failure(sentence, page_of(record.id, record.session_id, tab="graph", node=node)) if sentence else None


def _failure_words(record: RunRecord, result: Result | None, state: State) -> str:
    if state in ("waiting", "answered"):
        return ""
    errors = _errors(record, result)
    first = next((error for error in errors if error.code != _CANCELLED), None)
    if first is None:
        return "This run was ended before it was done." if state == "cancelled" else _without_error(state)
    sentence = _sentence(visible(first.message))
    failed = [each for each in result.subtasks if each.error is not None] if result else []
    if state == "partial" and result is not None and failed:
        return f"{len(failed)} of {len(result.subtasks)} parts of the task failed: {sentence}"
    return sentence


def _without_error(state: State) -> str:
    if state == "partial":
        return "Something that was asked for is missing from this answer."
    return "This run came to nothing."


def _errors(record: RunRecord, result: Result | None) -> list[ErrorReport]:
    errors: list[ErrorReport] = []
    if result is not None:
        errors = [*(each.error for each in result.subtasks if each.error), *result.errors]
    if record.error:
        try:
            errors.append(ErrorReport.model_validate(record.error))
        except ValidationError:
            errors.append(ErrorReport(code="", message="this run failed"))
    return errors


def _sentence(message: str) -> str:
    """One line that ends with a full stop and begins with a capital, unless with the name of a node or model."""
    line = " ".join(message.split())
    line = line if len(line) <= 300 else f"{line[:297].rstrip()}..."
    first, blank, others = line.partition(" ")
    first = first if "/" in first or ":" in first else f"{first[:1].upper()}{first[1:]}"
    return line if not line else f"{first}{blank}{others}{'' if line.endswith(('.', '!', '?')) else '.'}"
