"""When one statement answers a lookup beyond doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestra.models.extractive.kinds import asks_for_several
from orchestra.models.extractive.query import Query
from orchestra.models.extractive.ranking import Ranked, answer_facts
from orchestra.models.extractive.statements import is_figure

CLEAR_COVERAGE, CLEAR_MARGIN, RIVAL_COVERAGE = 0.74, 0.06, 0.75
MAX_CHARACTERS = 420
_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)  # a quote leaves the judging to the reader


def clear(query: Query, found: Iterable[Ranked]) -> Ranked | None:
    """The statement that covers the question, if no other answer comes near; None for what no single line answers."""
    everywhere = sorted(found, key=lambda each: -each.score)
    if not everywhere or query.kinds == ("other",) or asks_for_several(query.text) or _YES_OR_NO.match(query.text):
        return None
    best = everywhere[0]
    if _is_ambiguous(query, best) or not _has_years(query, best):
        return None
    is_short = len(best.statement.text) <= MAX_CHARACTERS and not best.statement.text.endswith(":")
    if not best.answers or best.coverage < CLEAR_COVERAGE or not is_short:
        return None
    facts = answer_facts(query, best)
    near = (each for each in everywhere[1:] if each.answers and each.coverage >= RIVAL_COVERAGE * best.coverage)
    rival = next((each for each in near if not facts & answer_facts(query, each)), None)
    return best if rival is None or best.score - rival.score >= CLEAR_MARGIN else None


def _has_years(query: Query, found: Ranked) -> bool:
    """Whether a statement speaks of every year, where several are asked for."""
    own = " ".join((found.statement.text, *found.statement.header))
    return len(query.years) < 2 or all(year in own for year in query.years)


def _is_ambiguous(query: Query, row: Ranked) -> bool:
    """Whether it is a row with several figures, and nothing tells which is asked for."""
    figures = sum(1 for cell in row.statement.cells if is_figure(cell) and any(each.isdigit() for each in cell))
    return "number" in query.kinds and figures > 1 and not row.column and not row.statement.header
