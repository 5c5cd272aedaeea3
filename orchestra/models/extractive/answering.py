"""What a subtask gets: the best sentences and rows of its slice, and by name what the slice does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestra.document import DocumentSet, Slice
from orchestra.models.extractive.by_skill import BY_SKILL, about_the_whole, absent, most_relevant
from orchestra.models.extractive.choosing import best
from orchestra.models.extractive.clear import CLEAR_COVERAGE, clear
from orchestra.models.extractive.listing import table_by
from orchestra.models.extractive.measures import Measure, measures_in, rows_for
from orchestra.models.extractive.notice import with_notice, without_notice
from orchestra.models.extractive.query import Query, make_query
from orchestra.models.extractive.questions import Question, split
from orchestra.models.extractive.quoting import bullets
from orchestra.models.extractive.ranking import Ranked, rank
from orchestra.models.extractive.skill_words import FACTS, choose_skill
from orchestra.models.extractive.sources import Library, passages
from orchestra.models.extractive.statements import Statement
from orchestra.models.extractive.vocabulary import YEAR, contains, stems
from orchestra.models.extractive.whole_tasks import is_about_the_whole, whole_skill

LEAST_COVERAGE, BESIDE_COVERAGE, SENTENCES = 0.26, 0.5, 2
FIGURE_SKILLS = frozenset({"fact-extraction", "analytical-comparison"})
MARK = "INSUFFICIENT:"
_PART = re.compile(r"\bpart \d+ of \d+\b.*\n\nThe task: (?P<task>.+)\Z", re.DOTALL)
_NOT_HERE = re.compile(r"^INSUFFICIENT:.*", re.MULTILINE)
NOTHING_HERE = "Nothing here bears on the task."


@dataclass(frozen=True, slots=True)
class Answer:
    """The lines of an answer, and what is missing, "" if nothing is."""

    lines: Sequence[str]
    missing: str = ""

    @property
    def text(self) -> str:
        said = re.sub(r"\n{3,}", "\n\n", "\n".join(self.lines).strip())
        return "\n\n".join(filter(None, [said, self.missing and f"{MARK} {self.missing}"]))


def answer(slices: Iterable[Slice], task: str, earlier: str = "") -> str:
    """The reply to a subtask over one or more slices: quotes with their lines; what is missing after INSUFFICIENT.

    `earlier` is what was found in other lines before: it is kept, and what it holds is not missing.
    """
    shown = list(slices)
    subjects = tuple(dict.fromkeys(passage.document for slice_ in shown for passage in slice_.passages))
    part = _PART.search(task)  # one part of all there is: what it lacks, another may hold
    asked = part["task"] if part else task
    found = _answer(list(passages(shown)), asked, subjects, without_notice(earlier))
    return with_notice(_NOT_HERE.sub(NOTHING_HERE, found) if part else found)


def answer_over_documents(documents: DocumentSet, task: str) -> str:
    """The same, from whatever in the documents has to do with the task."""
    library = Library(documents)
    found = [statement for place in library.candidates(task) for statement in library.statements(place)]
    return with_notice(_answer(found, task, documents.names, ""))


def _answer(statements: Sequence[Statement], task: str, subjects: Sequence[str], earlier: str) -> str:
    """The answer to each question of the task, under the question where there are several."""
    questions = split(task)
    if len(questions) == 1:
        found = _answer_one(statements, questions[0], subjects, earlier)
        return "\n\n".join(filter(None, [earlier, found.text]))
    answers = ((each.asked, _answer_one(statements, each, subjects, earlier)) for each in questions)
    found = "\n\n".join(f"**{asked}**\n\n{each.text}" for asked, each in answers)
    return "\n\n".join(filter(None, [earlier, found]))


def _answer_one(statements: Sequence[Statement], question: Question, subjects: Sequence[str], earlier: str) -> Answer:
    is_whole = is_about_the_whole([question], subjects)
    skill = whole_skill(question.asked) if is_whole else choose_skill(question.asked)
    query = make_query(question.asked, [statement.text for statement in statements], skill, subjects)
    ranked = rank(query, statements)
    measures = measures_in(question) if _may_be_figures(query, skill, ranked) else ()
    rows = rows_for(measures, query, statements)
    if rows:
        beside = _beside(query, rows, ranked)
        return Answer(bullets(query, [*rows, *beside]), _lacking(query, skill, measures, rows, statements, earlier))
    if is_whole and statements:
        return Answer(about_the_whole(query, skill, statements))
    if not ranked or max(each.coverage for each in ranked[:5]) < LEAST_COVERAGE:
        return Answer((), "" if earlier else _missing(query, statements))
    is_vague = not ranked[0].answers or ranked[0].coverage < CLEAR_COVERAGE
    missing = _lacking(query, skill, measures, rows, statements, earlier) if is_vague else ""
    return Answer(BY_SKILL.get(skill, most_relevant)(query, ranked, statements), missing)


def _may_be_figures(query: Query, skill: str, ranked: Sequence[Ranked]) -> bool:
    """Whether rows of measures may answer: not where a single statement says it all, or a table by its column."""
    if skill not in FIGURE_SKILLS or "who" in query.kinds or table_by(query, ranked):
        return False
    return len(query.years) > 1 or clear(query, ranked) is None


def _beside(query: Query, rows: Sequence[Ranked], ranked: Sequence[Ranked]) -> list[Ranked]:
    """Sentences that say more than the rows do, unless a row holds the one figure that is asked for."""
    if "number" in query.kinds and any(row.column for row in rows):
        return []
    said = (each for each in ranked if not each.statement.is_row and not each.statement.is_title)
    return best((each for each in said if each.coverage >= BESIDE_COVERAGE and each.answers), SENTENCES, share=0.7)


def _lacking(
    query: Query,
    skill: str,
    measures: Sequence[Measure],
    rows: Sequence[Ranked],
    statements: Sequence[Statement],
    earlier: str,
) -> str:
    """What a computation lacks: rows of financial statements, and years that no head above the rows has."""
    if skill != FACTS or "number" not in query.kinds:
        return ""
    lacking = [each for each in measures if each.is_of_statement and not rows_for([each], query, statements)]
    named = list(dict.fromkeys(each.rows[0] for each in lacking if not _holds(earlier, each)))
    heads = " ".join((earlier, *(head for each in rows for head in each.statement.header)))
    years = [year for year in query.years if rows and YEAR.search(heads) and not _is_dated(heads, year)]
    missing = ", ".join([*named, *([f"figures of {', '.join(years)}"] if years else [])])
    return f"no row of {missing}." if missing else ""


def _is_dated(heads: str, year: str) -> bool:
    """Whether heads name a year; a fiscal year may end, or begin, in the one before."""
    return year in heads or str(int(year) - 1) in heads


def _holds(text: str, measure: Measure) -> bool:
    """Whether what was found before has a row of a measure."""
    said = tuple(stems(text))
    return bool(said) and any(label and contains(said, label) for label in measure.labels)


def _missing(query: Query, statements: Sequence[Statement]) -> str:
    unsaid = absent(query, statements)
    return f"nothing on {', '.join(unsaid)}." if unsaid else f"no sentence answers: {query.text}"
