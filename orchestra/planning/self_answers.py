"""The planner's own answers, held against the document by code."""

from __future__ import annotations

from dataclasses import dataclass

from orchestra.document import DocumentSet, LineRange, cite, locate, parse_citations, unsupported
from orchestra.planning.plan import Plan, Subtask
from orchestra.planning.pointing import resolve_pointers, with_places

DEMOTED_SKILL = "fact-extraction"


@dataclass(frozen=True, slots=True)
class Demotion:
    """A self-answer that does not stand: the subtask goes out as `fact-extraction` instead."""

    subtask: Subtask
    reason: str


def check_self_answers(
    plan: Plan, documents: DocumentSet, *, needs_lines: bool = False
) -> tuple[Plan, tuple[Demotion, ...]]:
    """Keep the self-answers that the document bears out, with the lines that do as a citation; delegate the others.

    Numbers, dates, quotes and names of an answer must occur in the document; an answer without any must share its
    words with some lines. With `needs_lines`, as after a planner that saw only some lines, they must occur together:
    what is scattered over the document may be a guess. What is delegated points at the places that the answer cited.
    Checking a checked plan changes nothing.
    """
    checked: list[Subtask] = []
    demotions: list[Demotion] = []
    for subtask in plan.subtasks:
        if not subtask.is_self_answered:
            checked.append(subtask)
            continue
        cited, reason = _cited_answer(subtask, documents)
        if cited is not None and needs_lines:
            if not parse_citations(cited):
                cited, reason = None, "its facts stand in no lines together"
            elif parse_citations(subtask.answer or "") and not _cited_lines(subtask.answer or "", documents):
                cited, reason = None, "there are no such lines as it cites"
        if cited is not None:
            checked.append(subtask.model_copy(update={"answer": cited}))
            continue
        pointers = with_places(subtask.context_pointers, _cited_lines(subtask.answer or "", documents), documents)
        update = {"skill": DEMOTED_SKILL, "answer": None, "context_pointers": pointers}
        checked.append(subtask.model_copy(update=update))
        demotions.append(Demotion(subtask, reason))
    return plan.model_copy(update={"subtasks": checked}), tuple(demotions)


def _cited_answer(subtask: Subtask, documents: DocumentSet) -> tuple[str | None, str]:
    """The answer with a citation that holds (its own, or one found here), or None and the reason."""
    if not subtask.answer:
        return None, "it has no answer"
    if _citations_hold(subtask.answer, documents):
        return subtask.answer, ""
    answer = _without_citations(subtask.answer)
    pointers = subtask.context_pointers
    pointed = [lines for resolution in resolve_pointers(pointers, documents) for lines in resolution.ranges]
    if pointed:
        found = locate(answer, documents, pointed)
        as_pointed = f"{answer} [{', '.join(map(str, [found] if found else pointed))}]"
        if found is not None or _citations_hold(as_pointed, documents):
            return as_pointed, ""
    found = locate(answer, documents)
    if found is not None:
        return f"{answer} [{found}]", ""
    missing = unsupported(answer, "\n".join(document.text for document in documents))
    if missing:
        return None, f"the document does not hold {', '.join(missing)}"
    has_facts = bool(unsupported(answer, ""))
    return (answer, "") if has_facts else (None, "no line of the document bears it out")


def _cited_lines(answer: str, documents: DocumentSet) -> list[LineRange]:
    """The lines that an answer cites, as far as there are such lines."""
    from orchestra.document.citing.targets import targets_of

    targets = [target for mark in parse_citations(answer) for target in targets_of(mark, documents)]
    return [target.lines for target in targets if target.document is not None and not target.doubt]


def _citations_hold(answer: str, documents: DocumentSet) -> bool:
    _, citations = cite(answer, documents)
    return bool(citations) and all(citation.status != "unverified" for citation in citations)


def _without_citations(answer: str) -> str:
    for mark in reversed(parse_citations(answer)):
        answer = answer[: mark.start].rstrip() + answer[mark.end :]
    return answer.strip()
