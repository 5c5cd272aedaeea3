"""The line of a document that bears a claim out best, to be shown with it."""

from __future__ import annotations

from orchestra.document.citing.evidence import Source, missing
from orchestra.document.citing.wording import stems
from orchestra.document.grammar import Facts

QUOTE_LENGTH = 200
_MAX_LINES = 200  # of a longer range the first lines are looked at
_LEAD = 40  # characters shown before the first fact of a line that is cut


def best_quote(claimed: Facts, lines: str) -> str:
    """The line that holds most facts of the claim, then most of its words; the first of equals; cut to 200."""
    wanted = stems(claimed.text)
    candidates = [line.strip() for line in lines.split("\n", _MAX_LINES)[:_MAX_LINES] if line.strip()]
    if not candidates:
        return ""
    best = max(candidates, key=lambda line: (-len(missing(claimed, Source(line))), len(wanted & stems(line))))
    return _cut(best, claimed)


def _cut(line: str, claimed: Facts) -> str:
    """At most QUOTE_LENGTH characters of a line, whole words, around the first fact that it holds."""
    if len(line) <= QUOTE_LENGTH:
        return line
    places = [line.find(fact.text) for fact in (*claimed.numbers, *claimed.dates, *claimed.names)]
    fact = min((place for place in places if place >= 0), default=0)
    start = 0 if fact < QUOTE_LENGTH - _LEAD else line.rfind(" ", 0, fact - _LEAD) + 1
    end = len(line) if len(line) - start <= QUOTE_LENGTH else line.rfind(" ", start + 1, start + QUOTE_LENGTH)
    end = end if end > start else start + QUOTE_LENGTH
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
