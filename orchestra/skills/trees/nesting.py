"""How deep skills may call one another, held before any of them is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from orchestra.errors import CallCycleDetected, CallDepthExceeded
from orchestra.skills.manifest import Manifest

SubSkillsOf = Callable[[Manifest], Mapping[str, Manifest]]


def check_nesting(manifest: Manifest, subs_of: SubSkillsOf, max_depth: int, above: Sequence[Manifest] = ()) -> None:
    """Go through the tree below `manifest`, as far as manifests tell it. `max_depth` counts skills from the root.

    `above` are the skills from the root that led to it; a composite's own `max_depth` counts from it. Two skills are
    the same if they come from the same file, or are the same in memory. Raises `CallCycleDetected` with the path,
    `CallDepthExceeded`.
    """
    path: list[Manifest] = []
    for each in above:
        max_depth = _most(each, len(path), max_depth)
        path.append(each)
    _check(manifest, subs_of, max_depth, path, set())


def _check(
    manifest: Manifest, subs_of: SubSkillsOf, most: int, path: list[Manifest], seen: set[tuple[object, int, int]]
) -> None:
    """`seen` are skills that were gone through at the same depth and limit: without a cycle, and not too deep."""
    key = _identity(manifest)
    names = [each.name for each in path]
    at = next((at for at, each in enumerate(path) if _identity(each) == key), None)
    if at is not None:
        cycle = (*names[at:], manifest.name)
        raise CallCycleDetected(f"the skill {manifest.name!r} would call itself", cause=" → ".join(cycle))
    if len(path) + 1 > most:
        what = f"the skill {manifest.name!r} is {len(path) + 1} deep, and {most} is the most"
        raise CallDepthExceeded(what, cause=" → ".join((*names, manifest.name)))
    if not manifest.is_composite or (key, len(path), most) in seen:
        return
    path.append(manifest)
    for sub in subs_of(manifest).values():
        _check(sub, subs_of, _most(manifest, len(path) - 1, most), path, seen)
    path.pop()
    seen.add((key, len(path), most))


def _most(manifest: Manifest, depth: int, most: int) -> int:
    own = manifest.routing.max_depth
    return most if own is None else min(most, depth + 1 + own)


def _identity(manifest: Manifest) -> object:
    return manifest.file or (manifest.name if manifest.given is None else id(manifest.given))
