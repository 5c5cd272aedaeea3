"""The outline of a view: entries a line each, those that are not listed collapsed into their neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from orchestra.document.tokens import count_tokens
from orchestra.document.view.tree import Path, Tree
from orchestra.document.view.wording import clipped, joined

WIDTHS = (140, 110, 88, 70, 56, 44)
"""Characters of titles in an entry, widest first; the entries that speak for the task have twice as many."""

NARROW_WIDTHS = (70, 56, 44, 36)
"""When the entries do not fit like this, first those go that no title of their own speaks for."""

_INDENT = " "
_RUN_WIDTHS = 3  # titles' room in a run, against that of one entry
_NAMED_IN_RUN = 50
_NAME_IN_RUN = 48
_KINDS = {"document": "documents", "section": "sections", "part": "parts"}


def listing(
    tree: Tree, order: Sequence[Path], rich: Collection[Path], budget_tokens: int, root: Path = ()
) -> list[str]:
    """Lines of at most `budget_tokens` tokens: all of `order` at the widest width that holds it, else its front.

    `rich` are the entries that speak for the task; with a `root`, only what lies below it is listed.
    """
    named = [path for path in order if path in rich or tree.is_named(path)]
    for paths, widths in ((order, WIDTHS), (named, NARROW_WIDTHS)):
        for width in widths:
            lines = render(tree, paths, rich, width, root)
            if _fits(lines, budget_tokens):
                return lines
    low, high = 0, len(named)
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(render(tree, named[:middle], rich, NARROW_WIDTHS[-1], root), budget_tokens):
            low = middle
        else:
            high = middle
    return render(tree, named[:low], rich, NARROW_WIDTHS[-1], root)


def render(tree: Tree, listed: Sequence[Path], rich: Collection[Path], width: int, root: Path = ()) -> list[str]:
    """The entries of `listed` in document order, each with what follows it unlisted where nothing speaks for it."""
    below: dict[Path, list[int]] = defaultdict(list)
    for path in listed:
        below[path[:-1]].append(path[-1])
    return list(_rows(tree, root, below, frozenset(rich), width))


def lines_of(first: int, last: int) -> str:
    """Lines as a citation has them, without a document's key."""
    return f"L{first}-L{last}" if last > first else f"L{first}"


def _rows(tree: Tree, parent: Path, below: dict[Path, list[int]], rich: frozenset[Path], width: int) -> Iterator[str]:
    """The rows of a parent's children. What stands unlisted before the first of them becomes a run of its own."""
    chosen = sorted(below.get(parent, ()))
    if not chosen:
        return
    if chosen[0] > 0:
        yield from _run(tree, parent, 0, chosen[0], width)
    for at, following in zip(chosen, (*chosen[1:], tree.count(parent)), strict=True):
        path = (*parent, at)
        if path in below or path in rich:
            yield _row(tree, path, 2 * width if path in rich else width, is_open=path in below)
            yield from _rows(tree, path, below, rich, width)
            yield from _run(tree, parent, at + 1, following, width)
        else:
            yield from _run(tree, parent, at, following, width)


def _row(tree: Tree, path: Path, width: int, *, is_open: bool) -> str:
    entry = tree.entry(path)
    indent = _INDENT * (len(path) - 1)
    if entry.kind == "document":
        return f"{indent}{entry.id}: {clipped(tree.titles(path)[0], width)}, {tree.extent(path)}"
    titles = joined(tree.titles(path), width) or tree.opening(path, width // 2)
    if entry.kind == "page":
        return f"{indent}{entry.id} {titles}".rstrip()
    inside = tree.count(path)
    more = f" (+{inside})" if inside and not is_open else ""
    size = f"{tree.size(path)}t" if tree.size(path) else "empty"
    return f"{indent}{entry.id} {lines_of(entry.first_line, entry.last_line)} {size} {titles}{more}".rstrip()


def _run(tree: Tree, parent: Path, first: int, following: int, width: int) -> Iterator[str]:
    """One row for the neighbours first..following-1; pages without a title need none, they go on with those before."""
    paths = [(*parent, at) for at in range(first, following)]
    if not paths:
        return
    indent = _INDENT * len(parent)
    start, end = tree.entry(paths[0]), tree.entry(paths[-1])
    if start.kind == "page":
        titled = [path for path in paths if tree.is_named(path)] or [path for path in paths if tree.titles(path)][:1]
        if titled:
            ids = _span(tree.entry(titled[0]).id, tree.entry(titled[-1]).id)
            names = tree.titles(titled[0]) if len(titled) == 1 else _firsts(tree, titled)
            yield f"{indent}{ids} {joined(names, width * min(len(titled), _RUN_WIDTHS))}"
        return
    if len(paths) == 1:
        yield _row(tree, paths[0], width, is_open=False)
        return
    names = (clipped(title, _NAME_IN_RUN) for path in paths[:_NAMED_IN_RUN] for title in tree.titles(path))
    labels = joined(names, width * min(len(paths), _RUN_WIDTHS))
    lines = "" if start.kind == "document" else f" {lines_of(start.first_line, end.last_line)}"
    yield f"{indent}{_span(start.id, end.id)}{lines} {len(paths)} {_KINDS[start.kind]}: {labels}"


def _firsts(tree: Tree, paths: Sequence[Path]) -> Iterator[str]:
    return (title for path in paths for title in tree.titles(path)[:1])


def _span(first: str, last: str) -> str:
    """Ids from first to last, the document named once: "d2:s3-s5"."""
    return first if first == last else f"{first}-{last.rpartition(':')[2]}"


def _fits(lines: Sequence[str], budget_tokens: int) -> bool:
    return count_tokens("\n".join(lines)) <= budget_tokens
