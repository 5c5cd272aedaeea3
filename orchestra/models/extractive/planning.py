"""The engine's plan: questions, each answered on the spot if one line does, else sent out with its sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from orchestra.document import DocumentSet, LineRange, count_tokens
from orchestra.models.extractive.clear import clear
from orchestra.models.extractive.comparison import compared
from orchestra.models.extractive.drafts import Draft, at_most_six
from orchestra.models.extractive.query import Query, make_query, title_fit
from orchestra.models.extractive.questions import Question, split
from orchestra.models.extractive.quoting import quote
from orchestra.models.extractive.ranking import Ranked, place_worth, rank
from orchestra.models.extractive.skill_words import choose_skill
from orchestra.models.extractive.sources import Library, Place
from orchestra.models.extractive.vocabulary import stems

BUDGET_TOKENS = {"fact-extraction": 1_200, "summarization": 3_500, "structured-synthesis": 3_500, "gap-analysis": 3_000}
DEFAULT_BUDGET_TOKENS = 2_200
BROAD_SKILLS = frozenset({"summarization", "structured-synthesis", "gap-analysis", "classification"})
PLACES, BROAD_PLACES = (5, 0.6), (6, 0.6)
BROAD_FIT, BROAD_TITLES = 0.3, 4
PLACES_PER_THING = 2

# A place and its statements that have something of the question, best first.
Found: TypeAlias = tuple[Place, list[Ranked]]


def plan(
    documents: DocumentSet | None, catalogue: Sequence[tuple[str, str]], task: str, check: Callable[[], None]
) -> dict[str, Any]:
    """A plan as the planner's schema has it; without documents it points nowhere. `check` may raise."""
    library = Library(documents) if documents is not None else None
    drafts: list[Draft] = []
    for question in split(task):
        check()
        skill = choose_skill(question.asked, catalogue)
        drafts.append(_draft(library, question, skill) if library else Draft(question.full, skill))
    drafts = at_most_six(drafts)
    return {
        "subtasks": [
            {
                "id": str(number),
                "task": draft.task,
                "skill": "self" if draft.answer else draft.skill,
                "context_pointers": {"sections": draft.sections, "line_ranges": []},
                "answer": draft.answer,
                "depends_on": [],
            }
            for number, draft in enumerate(drafts, start=1)
        ],
        "reasoning": _reasoning(drafts),
    }


def _draft(library: Library, question: Question, skill: str) -> Draft:
    query = make_query(question.asked, library.texts, skill, library.documents.names)
    found = [(place, rank(query, library.statements(place))) for place in library.candidates(question.full)]
    found = [(place, ranked) for place, ranked in found if ranked]
    best = clear(query, (each for _, ranked in found for each in ranked)) if skill == "fact-extraction" else None
    if best is not None:
        place = next(place for place, ranked in found if any(each is best for each in ranked))
        return Draft(question.full, skill, [_pointer(library, place)], quote(query, best))
    places = _places(library, query, skill, found)
    return Draft(question.full, skill, _within_budget(library, places, BUDGET_TOKENS.get(skill, DEFAULT_BUDGET_TOKENS)))


def _places(library: Library, query: Query, skill: str, found: Sequence[Found]) -> list[Place]:
    """The places to send, in the order in which they are taken while the budget lasts."""
    ordered = sorted(found, key=lambda each: -place_worth(query, each[0].path, each[1]))
    worths = [place_worth(query, place.path, ranked) for place, ranked in ordered]
    most, share = BROAD_PLACES if skill in BROAD_SKILLS else PLACES
    leading = [place for (place, _), worth in zip(ordered, worths, strict=True) if worth >= share * worths[0]][:most]
    if skill in BROAD_SKILLS:
        return list(dict.fromkeys([*library.under(_best_titles(library, query)), *leading]))
    if skill == "analytical-comparison":
        return list(dict.fromkeys([*_by_turns(query, ordered), *leading[:3]]))
    return leading


def _best_titles(library: Library, query: Query) -> list[tuple[str, ...]]:
    """The few headings that fit the question best, at whatever level they stand; none inside another."""
    fits = {path: fit for path in library.paths() if (fit := title_fit(query, path[-1])) >= BROAD_FIT}
    best: list[tuple[str, ...]] = []
    for path in sorted(fits, key=lambda path: (-fits[path], len(path))):
        if len(best) < BROAD_TITLES and not any(path[: len(other)] == other for other in best):
            best.append(path)
    return best


def _by_turns(query: Query, ordered: Sequence[Found]) -> list[Place]:
    """Places about each of the compared things, one of each in turn."""
    things = compared(query.text, [each.statement for _, ranked in ordered for each in ranked])
    queues = [[place for place, _ in ordered if _names(place, set(stems(thing)))] for thing in things]
    turns = zip_longest(*(queue[:PLACES_PER_THING] for queue in queues))
    return [place for turn in turns for place in turn if place is not None]


def _names(place: Place, thing: set[str]) -> bool:
    return thing <= {each for title in place.path for each in stems(title)}


def _within_budget(library: Library, places: Sequence[Place], budget: int) -> list[str]:
    """Pointers to the first places that fit a token budget together; the first is always taken."""
    pointers: list[str] = []
    left = budget
    for place in places:
        document = library.documents.find(place.key)
        tokens = count_tokens(document.lines(place.unit.first_line, place.unit.last_line))
        if pointers and tokens > left:
            continue
        pointers.append(_pointer(library, place))
        left -= tokens
        if left <= 0:
            break
    return pointers


def _pointer(library: Library, place: Place) -> str:
    """The id of a unit, or its lines when the id would bring subsections along."""
    document = library.documents.find(place.key)
    unit = place.unit
    if unit.id == unit.section and document.outline.section(unit.section).last_line > unit.last_line:
        return str(LineRange(place.key, unit.first_line, unit.last_line))
    return library.documents.qualify(place.key, unit.id)


def _reasoning(drafts: Sequence[Draft]) -> str:
    answered = sum(1 for draft in drafts if draft.answer)
    return f"{answered} of {len(drafts)} answered by one line; the others point at the sections that share most words."
