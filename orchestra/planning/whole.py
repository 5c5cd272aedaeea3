"""A task about the documents as a whole, read in parts: every line goes to one call, and what these report is joined.

The parts are cut by code, in document order and of even size, at headings and pages where that is possible. Findings
too many for one last call are first joined in groups of neighbours, level by level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from orchestra.document import Document, DocumentSet, LineRange, count_tokens, cut, resolve_section
from orchestra.document.retrieval import places_of
from orchestra.models.blocks import Finding, Findings, Instructions, Task
from orchestra.models.protocol import ModelRequest, Usage
from orchestra.planning.assemble import DEFAULT_CONTEXT_TOKENS
from orchestra.planning.plan import ContextPointers, Plan, Subtask
from orchestra.planning.prompt_files import prompt

PIECE_TOKENS = 16_000  # of one part: longer ones are read less closely, shorter ones pay the rules more often
FINDINGS_SHARE = 0.6  # of a window that the findings of one joining call may take
SHRINKING = 4  # findings of one group become one of at most a fourth of their room, so each level is much shorter

_PART_PROMPT_TOKENS = 480  # rules, skill prompt and words of one part
_JOIN_PROMPT_TOKENS = 260
_PART_REPLY_TOKENS = 350
_ANSWER_TOKENS = 600
_NUMBERED = 1.07  # tokens of excerpts with their heads and line numbers, over those of the text
_SEPARATOR_TOKENS = 2
_EVENNESS = 0.15  # how far from even a part may be for the sake of a better boundary
_AT_A_PAGE, _INSIDE, _NO_BOUNDARY = 50, 100, 101  # what is no heading, after every level of headings


@dataclass(frozen=True, slots=True)
class _Atom:
    """Lines that stay together. `rank` is how good a boundary their beginning is: the smaller, the better."""

    lines: LineRange
    tokens: int
    rank: int


def map_reduce_plan(
    documents: DocumentSet,
    task: str,
    skill: str,
    *,
    context_tokens: int = DEFAULT_CONTEXT_TOKENS,
    piece_tokens: int = PIECE_TOKENS,
) -> Plan:
    """One subtask for each part of the documents; together they hold every line once, in order.

    A part has at most `piece_tokens` and `context_tokens` as it is sent; only a single line may be longer.
    """
    parts = pieces(documents, min(piece_tokens, context_tokens))
    count = len(parts)
    subtasks = [
        Subtask(
            id=str(number),
            task=part_words(task, number, count),
            skill=skill,
            context_pointers=pointers_to(part, documents),
        )
        for number, part in enumerate(parts, start=1)
    ]
    return Plan(subtasks=subtasks, reasoning=f"the task is about the whole: it is read in {count} parts")


def pointers_to(ranges: Sequence[LineRange], documents: DocumentSet) -> ContextPointers:
    """Exactly these lines: bare ranges in a lone document, ranges under the document's key among several."""
    if len(documents) == 1:
        return ContextPointers(line_ranges=[[lines.first, lines.last] for lines in ranges])
    return ContextPointers(sections=[_reference(lines, documents) for lines in ranges])


def _reference(lines: LineRange, documents: DocumentSet) -> str:
    """A reference to lines in a wording that is no heading's: "L1-L2" is a vertebra's too, "lines 1-2" a form's."""
    first, last = lines.first, lines.last
    wordings = [
        f"{lines.key}:{words}" for words in (f"L{first}-L{last}", f"lines {first}-{last}", f"L{first} to L{last}")
    ]
    exact = (each for each in wordings if resolve_section(each, documents).ranges == (lines,))
    return next(exact, wordings[0])


def part_words(task: str, number: int, count: int) -> str:
    """What the call for one part is told."""
    words = prompt("whole_part").replace("{number}", str(number)).replace("{count}", str(count))
    return words.replace("{task}", task)


def pieces(documents: DocumentSet, limit_tokens: int) -> list[tuple[LineRange, ...]]:
    """Every line once, in order, in as few even pieces as `limit_tokens` allow; each is counted as a slice of it."""
    atoms = [atom for key, _, document in documents.items() for atom in _atoms(key, document, documents, limit_tokens)]
    return [_ranges(atoms[start:end]) for start, end in _packed(atoms, limit_tokens)]


def map_reduce_estimate(
    tokens: int, *, piece_tokens: int = PIECE_TOKENS, context_tokens: int = DEFAULT_CONTEXT_TOKENS
) -> tuple[int, Usage]:
    """Calls and tokens of reading documents of `tokens` tokens in parts and joining what is found.

    About the documents once, and a tenth more: cheap beside naive ways, dear beside any that need not read it all.
    """
    read = ceil(tokens * _NUMBERED)
    parts = max(1, ceil(read / max(1, min(piece_tokens, context_tokens))))
    calls, sent, written = parts, read + parts * _PART_PROMPT_TOKENS, parts * _PART_REPLY_TOKENS
    if parts == 1:
        return calls, Usage(sent, output_tokens=written)
    found, room = written, max(1, int(context_tokens * FINDINGS_SHARE))
    while found > room:
        groups = ceil(found / room)
        reply = min(room // SHRINKING, _ANSWER_TOKENS * 2)
        calls, sent, written = calls + groups, sent + found + groups * _JOIN_PROMPT_TOKENS, written + groups * reply
        if groups * reply >= found:
            break
        found = groups * reply
    return calls + 1, Usage(sent + found + _JOIN_PROMPT_TOKENS, output_tokens=written + _ANSWER_TOKENS)


def findings_tokens(findings: Sequence[Finding]) -> int:
    """Tokens of findings as a joining call is sent them."""
    return count_tokens(Findings(tuple(findings)).text)


def grouped(findings: Sequence[Finding], room_tokens: int) -> list[tuple[Finding, ...]]:
    """Neighbours together, as many as `room_tokens` hold; one that is too long alone is a group by itself."""
    groups: list[list[Finding]] = []
    left = 0
    for finding in findings:
        tokens = findings_tokens([finding]) + _SEPARATOR_TOKENS
        if not groups or tokens > left:
            groups.append([])
            left = room_tokens
        groups[-1].append(finding)
        left -= tokens
    return [tuple(group) for group in groups]


def of_parts(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of a map-reduce plan as a joining call reads them: each under the number of its part.

    The words of a part stand in none of them, and neighbours that failed with one error code are one.
    """
    count = len(findings)
    named = [Finding(each.id, f"part {each.id} of {count}", each.text, each.is_missing) for each in findings]
    runs = [list(run) for _, run in groupby(named, key=_reason)]
    return [run[0] if len(run) == 1 else _named(run, run[0].text, is_missing=True) for run in runs]


def _reason(finding: Finding) -> str:
    """Why a finding is missing; its own id for one that is there."""
    return finding.text if finding.is_missing else finding.id


def join_request(
    task: str, findings: Sequence[Finding], *, max_tokens: int, temperature: float | None = None
) -> ModelRequest:
    """Findings of neighbouring parts, to be made one."""
    return ModelRequest(
        blocks=(Instructions(prompt("join")), Findings(tuple(findings)), Task(task)),
        purpose="synthesis",
        max_tokens=max_tokens,
        temperature=temperature,
    )


def joined_finding(group: Sequence[Finding], text: str) -> Finding:
    """What a group of findings became."""
    return _named(group, text)


def _named(group: Sequence[Finding], text: str, *, is_missing: bool = False) -> Finding:
    first, last = group[0].id.partition("-")[0], group[-1].id.rpartition("-")[2]
    return Finding(f"{first}-{last}", f"parts {first} to {last}", text, is_missing)


def _atoms(key: str, document: Document, documents: DocumentSet, limit_tokens: int) -> Iterator[_Atom]:
    for place in places_of(key, document):
        section = document.outline.at(place.first_line)
        rank = _AT_A_PAGE if document.page_starts else _INSIDE
        if place.first_line in (1, section.first_line):
            rank = 0 if place.first_line == 1 else section.level
        for lines in _halved(place.lines, documents, limit_tokens - _SEPARATOR_TOKENS):
            tokens = cut((lines,), documents).tokens + _SEPARATOR_TOKENS
            yield _Atom(lines, tokens, rank if lines.first == place.first_line else _INSIDE)


def _halved(lines: LineRange, documents: DocumentSet, limit_tokens: int) -> Iterator[LineRange]:
    """The lines, halved until each piece fits or is a single line."""
    if lines.first == lines.last or cut((lines,), documents).tokens <= limit_tokens:
        yield lines
        return
    middle = (lines.first + lines.last) // 2
    yield from _halved(LineRange(lines.key, lines.first, middle), documents, limit_tokens)
    yield from _halved(LineRange(lines.key, middle + 1, lines.last), documents, limit_tokens)


def _packed(atoms: Sequence[_Atom], limit_tokens: int) -> Iterator[tuple[int, int]]:
    """Bounds of pieces, as even as few pieces allow; near the even size, the best boundary is taken."""
    start, left = 0, sum(atom.tokens for atom in atoms)
    while start < len(atoms):
        end, size = _end(atoms, start, left, limit_tokens)
        yield start, end
        start, left = end, left - size


def _end(atoms: Sequence[_Atom], start: int, left: int, limit_tokens: int) -> tuple[int, int]:
    """Where a piece that begins at `start` ends (exclusive), and its tokens; `left` are those from `start` on."""
    count = ceil(left / limit_tokens)
    even = left / count
    ends: list[tuple[int, float, int, int]] = []
    size = 0
    for end, atom in enumerate(atoms[start:], start=start + 1):
        if ends and size + atom.tokens > min(limit_tokens, even * (1 + _EVENNESS)):
            break
        size += atom.tokens
        is_near = size >= even * (1 - _EVENNESS) and left - size <= (count - 1) * limit_tokens
        rank = atoms[end].rank if is_near and end < len(atoms) else _NO_BOUNDARY
        ends.append((rank, abs(size - even), end, size))
    _, _, end, size = min(ends)
    return end, size


def _ranges(atoms: Sequence[_Atom]) -> tuple[LineRange, ...]:
    """Neighbouring atoms of one document as one range."""
    return tuple(
        LineRange(key, run[0].lines.first, run[-1].lines.last)
        for key, run in ((key, list(each)) for key, each in groupby(atoms, key=lambda atom: atom.lines.key))
    )
