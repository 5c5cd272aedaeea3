"""Citations: every mark of an answer mapped into its document and judged by code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestra.document.citing.claims import Claim, claims
from orchestra.document.citing.columns import other_year
from orchestra.document.citing.judging import Judgement, Status, judge
from orchestra.document.citing.quoting import best_quote
from orchestra.document.citing.targets import Target, targets_of
from orchestra.document.document import DocumentSet
from orchestra.document.grammar import facts
from orchestra.document.grammar.periods import declared_scales
from orchestra.document.marks import parse_citations

MAX_CLAIMS = 500  # of one text; what goes beyond is no answer that a person reads
_SURPLUS = Judgement.doubtful(f"only the first {MAX_CLAIMS} claims of a text are judged")
MAX_JUDGED_LINES = 1000  # a mark over more lines points at nothing in particular


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark of an answer after judgement. Lines are 1-indexed and inclusive, clipped to the document.

    `status`: "verified" when the lines state every number, date, quote and name of the claim, "derived" when what
    they do not state are numbers that follow from theirs, else "unverified". `reason` says what is missing, or how
    a number was derived. `quote` is the line that bears the claim out best. `claim` has one line for each place in
    the answer that the number stands at.
    """

    number: int
    key: str
    document: str
    first_line: int
    last_line: int
    page: int | None
    quote: str
    status: Status
    claim: str
    reason: str


def cite(text: str, documents: DocumentSet) -> tuple[str, tuple[Citation, ...]]:
    """The text with every mark replaced by its number, and the citations in the order of their numbers.

    Numbers count from 1 by first appearance; the same lines have the same number where their judgement is the same.
    A mark that is not borne out stays, shown as [n?].
    """
    numbers: dict[tuple[Target, Judgement], int] = {}
    told: dict[int, list[str]] = {}
    pieces: list[str] = []
    position = 0
    for count, claim in enumerate(claims(text, parse_citations(text))):
        targets = [list(targets_of(mark, documents)) for mark in claim.marks]
        cited = [target for group in targets for target in group]
        judgement = _judge(claim, cited) if count < MAX_CLAIMS else _SURPLUS
        for mark, group in zip(claim.marks, targets, strict=True):
            shown: list[str] = []
            for target in group:
                number = numbers.setdefault((target, judgement), len(numbers) + 1)
                told.setdefault(number, []).append(claim.text)
                shown.append(f"[{number}?]" if judgement.status == "unverified" else f"[{number}]")
            pieces += (text[position : mark.start], *shown)
            position = mark.end
    citations = (_citation(number, target, judgement, told[number]) for (target, judgement), number in numbers.items())
    return "".join([*pieces, text[position:]]), tuple(citations)


def _citation(number: int, target: Target, judgement: Judgement, told: Sequence[str]) -> Citation:
    document, lines = target.document, target.lines
    return Citation(
        number=number,
        key=lines.key,
        document=target.name,
        first_line=lines.first,
        last_line=lines.last,
        page=document.page_of(lines.first) if document else None,
        quote=best_quote(facts(told[0]), target.text),
        status=judgement.status,
        claim="\n".join(dict.fromkeys(told)),
        reason=judgement.reason,
    )


def _judge(claim: Claim, targets: Sequence[Target]) -> Judgement:
    """A claim against the lines of all its marks together."""
    sound = [target for target in targets if not target.doubt]
    if not sound:
        return Judgement.doubtful(next((target.doubt for target in targets), "the mark names no lines"))
    if sum(target.lines.last - target.lines.first + 1 for target in sound) > MAX_JUDGED_LINES:
        return Judgement.doubtful(f"the mark covers more than {MAX_JUDGED_LINES} lines")
    context = "\n".join(target.context for target in sound)
    whole = [target.document.text for target in sound if target.document]
    judgement = judge(claim.text, "\n".join(target.text for target in sound), context, dict.fromkeys(whole))
    if judgement.status != "verified":
        return judgement
    places = [(target.document, target.lines.first, target.lines.last) for target in sound if target.document]
    doubt = other_year(facts(claim.text), places, declared_scales(context))
    return Judgement.doubtful(doubt) if doubt else judgement
