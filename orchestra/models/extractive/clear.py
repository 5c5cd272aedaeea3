"""When one statement answers a lookup beyond doubt."""

from __future__ import annotations

from collections.abc import Iterable

from orchestra.models.extractive.kinds import asks_for_several
from orchestra.models.extractive.query import Query
from orchestra.models.extractive.ranking import Ranked, answer_facts
from orchestra.models.extractive.statements import is_figure

CLEAR_COVERAGE, CLEAR_MARGIN, RIVAL_COVERAGE = 0.74, 0.06, 0.75
MAX_CHARACTERS = 420


def clear(query: Query, found: Iterable[Ranked]) -> Ranked | None:
    """The statement that covers the question, if no other answer comes near; None for what no single line answers."""
    everywhere = sorted(found, key=lambda each: -each.score)
    if not everywhere or query.kinds == ("other",) or asks_for_several(query.text):
        return None
    best = everywhere[0]
    if best.statement.is_row and _is_ambiguous(query, best):
        return None
    is_short = len(best.statement.text) <= MAX_CHARACTERS and not best.statement.text.endswith(":")
    if not best.answers or best.coverage < CLEAR_COVERAGE or not is_short:
        return None
    facts = answer_facts(query, best)
    near = (each for each in everywhere[1:] if each.answers and each.coverage >= RIVAL_COVERAGE * best.coverage)
    rival = next((each for each in near if not facts & answer_facts(query, each)), None)
    return best if rival is None or best.score - rival.score >= CLEAR_MARGIN else None


def _is_ambiguous(query: Query, row: Ranked) -> bool:
    """Whether a row has several figures and nothing tells which is asked for."""
    figures = sum(1 for cell in row.statement.cells if is_figure(cell) and any(each.isdigit() for each in cell))
    return "number" in query.kinds and figures > 1 and not row.column and not row.statement.header
