"""The judgement of a claim against lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from orchestra.document.citing.arithmetic import derivation
from orchestra.document.citing.evidence import Source, missing
from orchestra.document.citing.naming import ordinary_words
from orchestra.document.citing.wording import wording_doubt
from orchestra.document.grammar import Facts, Number, facts

Status = Literal["verified", "derived", "unverified"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What code finds of a claim. `reason` is a formula where it is derived, the doubt where it is unverified."""

    status: Status
    reason: str = ""

    @classmethod
    def doubtful(cls, reason: str) -> Judgement:
        return cls("unverified", reason)


def judge(claim: str, lines: str, context: str = "", whole: Iterable[str] = ()) -> Judgement:
    """A claim against the lines it cites; `context` stands around them, `whole` are the documents' texts: see `Source`.

    "verified" when the claim is a copy of the lines, when they state every number, date, quote and name of it, or,
    for a claim without any, when they share its wording: see `wording_doubt`. "derived" when all they do not state
    are numbers that follow from theirs: see `derivation`. Else "unverified".
    """
    claimed = facts(claim)
    source = Source(lines, context, ordinary_words(claimed, whole))
    if source.holds_wording(claim):
        return Judgement("verified")
    if not len(claimed):
        doubt = wording_doubt(claim, lines)
        return Judgement.doubtful(doubt) if doubt else Judgement("verified")
    lost = missing(claimed, source)
    if not lost:
        return Judgement("verified")
    formulas = [_formula(fact, claimed, source) if isinstance(fact, Number) else "" for fact in lost]
    if all(formulas):
        return Judgement("derived", "; ".join(formulas))
    absent = [fact.text for fact, formula in zip(lost, formulas, strict=True) if not formula]
    return Judgement.doubtful(f"not in the lines: {', '.join(absent)}")


def _formula(number: Number, claimed: Facts, source: Source) -> str:
    return derivation(number, claimed, source.plain, source.scales)
