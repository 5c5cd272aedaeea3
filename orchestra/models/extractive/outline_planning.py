"""The engine's plan from an outline view: retrieval fills each subtask's slice, a line that was shown may answer one.

It reads no more of the documents than the places that retrieval found, so a text of any length costs the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from orchestra.document import DocumentSet, LineRange, cut
from orchestra.document.retrieval import Hits, Place, find, places_of
from orchestra.models.extractive.clear import clear
from orchestra.models.extractive.drafts import Draft, at_most_six
from orchestra.models.extractive.query import make_query
from orchestra.models.extractive.questions import Question, split
from orchestra.models.extractive.quoting import quote
from orchestra.models.extractive.ranking import rank
from orchestra.models.extractive.skill_words import FACTS, choose_skill
from orchestra.models.extractive.sources import passages
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.whole_tasks import is_about_the_whole, names_of, whole_skill

if TYPE_CHECKING:
    from orchestra.document.view import OutlineView

ONE_SUBTASK_TOKENS = 5_500  # the slice of a lone lookup
FURTHER_SUBTASK_SHARE = 0.45  # what each further subtask adds to what all of them share
BROAD_SHARE = 1.4  # of a subtask that gathers rather than looks up
BROAD_SKILLS = frozenset({"summarization", "structured-synthesis", "gap-analysis", "classification", "critique"})
LEAST_TOKENS, SEPARATOR_TOKENS = 40, 2  # less room holds no place
MOST_PLACES = 40
SPREAD_PLACES = 12  # for a question without a topic among others
SHOWN_REACH_LINES = 40  # around a shown line: where the table or paragraph that it belongs to may begin
TEXT_PLACES = 24  # whose words tell how rare a word is


def plan_from_outline(
    view: OutlineView, catalogue: Sequence[tuple[str, str]], task: str, check: Callable[[], None]
) -> dict[str, Any]:
    """A plan in the outline planner's compact form. `check` may raise."""
    questions = split(task)
    names = names_of(view.documents)
    if is_about_the_whole(questions, names):
        return _reply([Draft(" ".join(task.split()), whole_skill(task, catalogue))], is_whole=True)
    shares = _shares([choose_skill(question.asked, catalogue) for question in questions])
    drafts: list[Draft] = []
    for question, (skill, budget) in zip(questions, shares, strict=True):
        check()
        hits = view.hits if len(questions) == 1 else find(question.full, view.documents, most_places=MOST_PLACES)
        is_topicless = len(questions) > 1 and is_about_the_whole([question], names)
        drafts.append(_draft(view, question, skill, budget, None if is_topicless else hits))
    return _reply(at_most_six(drafts), is_whole=False)


def _reply(drafts: Sequence[Draft], *, is_whole: bool) -> dict[str, Any]:
    subtasks = [
        {
            "id": str(number),
            "task": draft.task,
            "skill": "self" if draft.answer else draft.skill,
            "sections": draft.sections,
            "answer": draft.answer,
            "depends_on": [],
        }
        for number, draft in enumerate(drafts, start=1)
    ]
    return {"look": [], "whole": is_whole, "subtasks": subtasks}


def _shares(skills: Sequence[str]) -> list[tuple[str, int]]:
    """Each skill with the tokens that its slice may hold: several subtasks share what is more than one's."""
    each = ONE_SUBTASK_TOKENS * (1 + FURTHER_SUBTASK_SHARE * (len(skills) - 1)) / max(len(skills), 1)
    return [(skill, round(each * (BROAD_SHARE if skill in BROAD_SKILLS else 1.0))) for skill in skills]


def _draft(view: OutlineView, question: Question, skill: str, budget: int, hits: Hits | None) -> Draft:
    if hits is None:
        return Draft(question.full, skill, _spread(view.documents, budget))
    if skill == FACTS and (answered := _answered(view, question, hits)):
        return answered
    return Draft(question.full, skill, list(_filled(view.documents, [hit.place for hit in hits.places], budget)))


def _answered(view: OutlineView, question: Question, hits: Hits) -> Draft | None:
    """A lookup that a statement answers beyond doubt of which every line was shown; nothing else is considered.

    A row that is set with spaces leaves a doubt: which column is whose was read from the spaces.
    """
    shown = list(_shown_statements(view))
    if not shown:
        return None
    texts = [_text(view.documents, hit.place.lines) for hit in hits.places[:TEXT_PLACES]]
    query = make_query(question.asked, texts, FACTS, view.documents.names)
    best = clear(query, rank(query, shown))
    if best is None or best.statement.is_aligned:
        return None
    lines = LineRange(best.statement.key, best.statement.first_line, best.statement.last_line)
    return Draft(question.full, FACTS, [str(lines)], quote(query, best))


def _shown_statements(view: OutlineView) -> Iterator[Statement]:
    """The statements all of whose lines were shown, the head of a row's table included."""
    shown = {(lines.key, line) for lines in view.shown for line in range(lines.first, lines.last + 1)}
    around = [
        LineRange(lines.key, max(lines.first - SHOWN_REACH_LINES, 1), lines.last + SHOWN_REACH_LINES)
        for lines in view.shown
    ]
    for statement in passages([cut(around, view.documents)]):
        lines = range(statement.first_line, statement.last_line + 1)
        if all((statement.key, line) in shown for line in (*lines, *filter(None, [statement.header_line]))):
            yield statement


def _filled(documents: DocumentSet, places: Iterable[Place], budget: int) -> Iterator[str]:
    """Pointers to the first places that fit a token budget together; the first is always taken."""
    left = budget
    for number, place in enumerate(places):
        cost = _cost(documents, place)
        if cost > left and number:
            continue
        yield _pointer(documents, place)
        left -= cost
        if left <= LEAST_TOKENS:
            return


def _spread(documents: DocumentSet, budget: int) -> list[str]:
    """As many places as the budget holds, spread evenly over the documents: for a question without a topic."""
    places = [place for key, _, document in documents.items() for place in places_of(key, document)]
    sample = places[:: max(len(places) // SPREAD_PLACES, 1)][:SPREAD_PLACES]
    mean = sum(_cost(documents, place) for place in sample) / max(len(sample), 1)
    count = min(max(int(budget // max(mean, 1)), 1), len(places))
    return list(_filled(documents, (places[at * len(places) // count] for at in range(count)), budget))


def _cost(documents: DocumentSet, place: Place) -> int:
    """The tokens that a place adds to a slice, as it will be read."""
    return cut([place.lines], documents).tokens + SEPARATOR_TOKENS


def _text(documents: DocumentSet, lines: LineRange) -> str:
    return documents.find(lines.key).lines(lines.first, lines.last)


def _pointer(documents: DocumentSet, place: Place) -> str:
    """The id of a page or unit, or its lines where the id would bring subsections along."""
    document = documents.find(place.key)
    if not document.page_starts:
        section = document.outline.at(place.first_line)
        if section.id == place.id and section.last_line > place.last_line:
            return str(place.lines)
    return documents.qualify(place.key, place.id)
