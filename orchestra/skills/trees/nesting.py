"""How deep skills may call one another, held before any of them is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestra.errors import CallCycleDetected, CallDepthExceeded
from orchestra.skills.manifest import Manifest

SubSkillsOf = Callable[[Manifest], Mapping[str, Manifest]]


def check_nesting(manifest: Manifest, subs_of: SubSkillsOf, max_depth: int, path: tuple[str, ...] = ()) -> None:
    """Go through the tree below `manifest`, as far as manifests tell it. `max_depth` counts skills from the root.

    A composite's own `max_depth` counts from it. Raises `CallCycleDetected` with the path, `CallDepthExceeded`.
    """
    if manifest.name in path:
        cycle = (*path[path.index(manifest.name) :], manifest.name)
        raise CallCycleDetected(f"the skill {manifest.name!r} would call itself", cause=" → ".join(cycle))
    path = (*path, manifest.name)
    if len(path) > max_depth:
        what = f"the skill {manifest.name!r} is {len(path)} deep, and {max_depth} is the most"
        raise CallDepthExceeded(what, cause=" → ".join(path))
    if not manifest.is_composite:
        return
    own = manifest.routing.max_depth
    least = max_depth if own is None else min(max_depth, len(path) + own)
    for sub in subs_of(manifest).values():
        check_nesting(sub, subs_of, least, path)
