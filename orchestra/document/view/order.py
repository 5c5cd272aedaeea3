"""Which entries a view should list before which others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from orchestra.document.retrieval import Hits
from orchestra.document.search import STOP_WORDS
from orchestra.document.view.tree import Path, Tree

_LEAST_SHARE = 0.1  # of the best place's score, for a place to count
_FIRST = 4  # hits that stand before the top level
_BEST = 12  # hits that stand before the levels below it
_OPENED = 6  # of these, the places whose siblings and subsections stand with them
_MOST_BESIDE = 24
_DOCUMENTS = 12  # that are opened in one view
_WORD = re.compile(r"[^\W\d_]+|\d+")


def by_importance(tree: Tree, hits: Hits, task: str, most: int) -> list[Path]:
    """About `most` paths, each after its parent: the longest front of them that fits a view is what it lists.

    Several documents take turns, those with better hits, and those that the task names, more often. Within one: the
    best hits (of pages all), its top level, then the second level, what stands around the best hits, the other hits,
    the branches that hold hits, and the rest level by level. A long level is taken at even distances, so that any
    front of it spans the whole.
    """
    found: dict[Path, list[tuple[float, Path]]] = {top: [] for top in tree.tops}
    least = _LEAST_SHARE * hits.places[0].score if hits.places else 0.0
    for hit in hits.places:
        if hit.score < least:
            break
        path = tree.path_of(hit.place)
        found[path[: len(tree.tops[0])]].append((hit.score, path))
    weights = _weights({top: sum(score for score, _ in each) for top, each in found.items()}, tree, task)
    ranked = sorted(tree.tops, key=lambda top: (-weights[top], top))
    opened = [top for top in ranked if weights[top] or len(ranked) <= _DOCUMENTS][:_DOCUMENTS]
    order: dict[Path, None] = dict.fromkeys(top for top in opened if top)
    queues = [
        (weights[top] + 1 / (4 * len(opened)), _of_one(tree, top, [path for _, path in found[top]], most))
        for top in opened
    ]
    order.update(dict.fromkeys(islice(_by_turns(queues), most)))
    if len(tree.tops) > len(opened):
        order.update(dict.fromkeys(islice(_below(tree, ()), most)))
    return list(order)


def within(tree: Tree, path: Path, hits: Hits, most: int) -> list[Path]:
    """The same for what lies below one entry."""
    found = [tree.path_of(hit.place) for hit in hits.places]
    below = [hit for hit in found if hit[: len(path)] == path and hit != path]
    return list(islice(_of_one(tree, path, below, most), most))


def _weights(scores: Mapping[Path, float], tree: Tree, task: str) -> dict[Path, float]:
    """Each document's share of the scores, and of the task's words that its name holds, rare ones counting more."""
    if len(tree.tops) == 1:
        return {tree.tops[0]: 1.0}
    total = sum(scores.values()) or 1.0
    names = [frozenset(_WORD.findall(name.casefold())) for name in tree.documents.names]
    wanted = frozenset(_WORD.findall(task.casefold())) - STOP_WORDS
    holders = {word: sum(word in name for name in names) for word in sorted(wanted)}
    named = [sum(1 / holders[word] for word in sorted(wanted & name)) for name in names]
    all_named = sum(named) or 1.0
    return {top: scores[top] / total + share / all_named for top, share in zip(tree.tops, named, strict=True)}


def _by_turns(queues: Sequence[tuple[float, Iterator[Path]]]) -> Iterator[Path]:
    """From each queue in proportion to its weight."""
    waiting = [(1 / weight, at, weight, queue) for at, (weight, queue) in enumerate(queues)]
    while waiting:
        waiting.sort(key=lambda each: each[:2])
        due, at, weight, queue = waiting[0]
        path = next(queue, None)
        if path is None:
            waiting.pop(0)
            continue
        waiting[0] = (due + 1 / weight, at, weight, queue)
        yield path


def _of_one(tree: Tree, top: Path, hits: Sequence[Path], most: int) -> Iterator[Path]:
    """The paths below one document, no path twice, each after its parent."""
    seen = {top}
    for path in _wanted(tree, top, hits, most):
        for length in range(len(top) + 1, len(path) + 1):
            ancestor = path[:length]
            if ancestor not in seen:
                seen.add(ancestor)
                yield ancestor


def _wanted(tree: Tree, top: Path, hits: Sequence[Path], most: int) -> Iterator[Path]:
    level = _top_level(tree, top, most)
    are_pages = bool(level) and tree.entry(level[0]).kind == "page"
    yield from hits if are_pages else hits[:_FIRST]
    yield from level[: most // 2]
    yield from hits[:_BEST]
    second = _level_below(tree, level, most)
    yield from second
    for hit in hits[:_OPENED]:
        yield from _around(tree, hit)
    yield from hits[_BEST:]
    yield from level[most // 2 :]
    deep = len(level[0]) + 1 if level else 0
    for branch in dict.fromkeys(hit[:deep] for hit in hits if len(hit) > deep):
        yield from _descendants(tree, [branch], most)
    yield from _descendants(tree, second, most)


def _top_level(tree: Tree, top: Path, most: int) -> list[Path]:
    """The top level, or the one under a lone entry; pages on which upper sections begin come before the others."""
    level = [top]
    while len(level) == 1 and tree.count(level[0]):
        level = list(_below(tree, level[0]))
    if len(level) > 1 and tree.entry(level[0]).kind == "page":
        level.sort(key=tree.rank)
    return [path for path in level[:most] if path != top]


def _below(tree: Tree, path: Path) -> Iterator[Path]:
    return ((*path, at) for at in _spread(tree.count(path)))


def _level_below(tree: Tree, paths: Iterable[Path], most: int) -> list[Path]:
    return list(islice((child for path in paths for child in _below(tree, path)), most))


def _around(tree: Tree, hit: Path) -> Iterator[Path]:
    """The subsections of a hit, and its nearest siblings."""
    yield from islice(_below(tree, hit), _MOST_BESIDE)
    count = tree.count(hit[:-1])
    for distance in range(1, _MOST_BESIDE // 2):
        for at in (hit[-1] + distance, hit[-1] - distance):
            if 0 <= at < count:
                yield (*hit[:-1], at)


def _descendants(tree: Tree, paths: Sequence[Path], most: int) -> Iterator[Path]:
    """What lies below some entries, level by level."""
    level = paths
    while level:
        level = _level_below(tree, level, most)
        yield from level


def _spread(count: int) -> Iterator[int]:
    """Each number below `count`, at even distances first: every 2^k-th, then those halfway between, and so on."""
    stride = 1
    while stride < count:
        stride *= 2
    yield from range(min(count, 1))
    while stride > 1:
        yield from range(stride // 2, count, stride)
        stride //= 2
