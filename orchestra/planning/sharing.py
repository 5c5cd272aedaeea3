"""Subtasks that share most of a slice share a prompt prefix: the common passages first, so that a prompt cache serves.

Costs are in plain input tokens. A prefix that n calls share costs `write` for the first and `read` for each further
one, provided that these wait until the first has written it; else every call pays for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from orchestra.document import DocumentSet, LineRange, Slice, count_tokens, cut
from orchestra.models.blocks import SliceBlock
from orchestra.planning.merging import Bundle
from orchestra.planning.prompt_files import prompt

LEAST_SHARE = 0.5  # of a slice, in tokens: passages out of the document's order read worse, so it must be worth it


@dataclass(frozen=True, slots=True)
class CachePrices:
    """A model's prompt cache: tokens of the shortest prefix that it holds, and what writing and reading a token
    costs, over a plain one. The defaults are what most price lists have.
    """

    minimum_tokens: int
    write: float = 1.25
    read: float = 0.1

    def cost(self, prefix_tokens: int, calls: int) -> float:
        """Of a prefix in `calls` calls, the first of which writes it before the others go out."""
        return prefix_tokens * (self.write + self.read * (calls - 1))

    def pays(self, prefix_tokens: int, calls: int) -> bool:
        """Whether marking a prefix, and waiting for it, is cheaper than sending it plainly each time."""
        is_held = prefix_tokens >= self.minimum_tokens
        return is_held and self.cost(prefix_tokens, calls) < prefix_tokens * calls


@dataclass(frozen=True, slots=True)
class _Group:
    """Calls, by position, and the lines that all of them show."""

    members: tuple[int, ...]
    lines: tuple[LineRange, ...]


def share(
    bundles: Sequence[Bundle], documents: DocumentSet, prices: Callable[[], CachePrices] | None
) -> tuple[tuple[SliceBlock, ...], ...]:
    """The slice of each bundle as blocks: what it shares first and marked cacheable, then the rest.

    `prices` is None for a model without a prompt cache, and asked for only where there is something to share.
    """
    blocks = [_alone(bundle) for bundle in bundles]
    sendable = [at for at, bundle in enumerate(bundles) if bundle.first.error is None and bundle.first.slice.passages]
    if prices is None or not _has_overlap([bundles[at].first.slice for at in sendable]):
        return tuple(blocks)
    cache = prices()
    slices = [bundle.first.slice for bundle in bundles]
    for group in _groups(sendable, slices, documents, cache):
        if len(group.members) > 1:
            for at in group.members:
                blocks[at] = _divided(slices[at], group.lines, documents)
    return tuple(blocks)


def _alone(bundle: Bundle) -> tuple[SliceBlock, ...]:
    """Writing to a cache costs extra, so a slice that one call alone has is marked on request only."""
    return (SliceBlock(bundle.first.slice, cacheable=bundle.first.is_slice_kept),)


def _has_overlap(slices: Sequence[Slice]) -> bool:
    return any(
        any(common(one.line_ranges, other.line_ranges)) for at, one in enumerate(slices) for other in slices[at + 1 :]
    )


def _groups(
    positions: Iterable[int], slices: Sequence[Slice], documents: DocumentSet, cache: CachePrices
) -> list[_Group]:
    """Each call joins the group with which it saves most, or begins its own; in plan order."""
    groups: list[_Group] = []
    for at in positions:
        alone = _cost(_Group((at,), slices[at].line_ranges), slices, documents, cache)
        best: tuple[float, int, _Group] | None = None
        for number, group in enumerate(groups):
            joined = _Group((*group.members, at), tuple(common(group.lines, slices[at].line_ranges)))
            if not _is_worth_it(joined, slices, documents, cache):
                continue
            saved = _cost(group, slices, documents, cache) + alone - _cost(joined, slices, documents, cache)
            if saved > 0 and (best is None or saved > best[0]):
                best = (saved, number, joined)
        if best is None:
            groups.append(_Group((at,), slices[at].line_ranges))
        else:
            groups[best[1]] = best[2]
    return groups


def _is_worth_it(group: _Group, slices: Sequence[Slice], documents: DocumentSet, cache: CachePrices) -> bool:
    if not group.lines:
        return False
    shared = cut(group.lines, documents).tokens
    is_most = all(shared >= LEAST_SHARE * slices[at].tokens for at in group.members)
    return is_most and cache.pays(_rules_tokens() + shared, len(group.members))


def _cost(group: _Group, slices: Sequence[Slice], documents: DocumentSet, cache: CachePrices) -> float:
    """Of the rules and slices of a group's calls."""
    if len(group.members) == 1:
        return _rules_tokens() + slices[group.members[0]].tokens
    prefix = _rules_tokens() + cut(group.lines, documents).tokens
    rests = [_rest(slices[at], group.lines, documents) for at in group.members]
    return cache.cost(prefix, len(group.members)) + sum(cut(rest, documents).tokens for rest in rests if rest)


def _divided(slice_: Slice, lines: Sequence[LineRange], documents: DocumentSet) -> tuple[SliceBlock, ...]:
    """A slice as the lines that it shares, then the others."""
    shared = SliceBlock(cut(lines, documents), cacheable=True)
    rest = _rest(slice_, lines, documents)
    return (shared, SliceBlock(cut(rest, documents), cacheable=False)) if rest else (shared,)


def _rest(slice_: Slice, lines: Sequence[LineRange], documents: DocumentSet) -> tuple[LineRange, ...]:
    """What a slice shows beyond `lines`; blank lines alone are nothing."""
    left = without(slice_.line_ranges, lines)
    return tuple(each for each in left if documents.find(each.key).lines(each.first, each.last).strip())


def _rules_tokens() -> int:
    return count_tokens(prompt("subtask"))


def common(ones: Iterable[LineRange], others: Sequence[LineRange]) -> Iterator[LineRange]:
    """The lines that are in both, in the order of the first."""
    for one in ones:
        for other in others:
            if one.key == other.key and one.first <= other.last and other.first <= one.last:
                yield LineRange(one.key, max(one.first, other.first), min(one.last, other.last))


def without(ones: Iterable[LineRange], others: Sequence[LineRange]) -> Iterator[LineRange]:
    """The lines of the first that are not in the second, in order."""
    for one in ones:
        first = one.first
        for other in sorted(others, key=lambda each: each.first):
            if other.key != one.key or other.last < first or other.first > one.last:
                continue
            if first < other.first:
                yield LineRange(one.key, first, other.first - 1)
            first = other.last + 1
        if first <= one.last:
            yield LineRange(one.key, first, one.last)
