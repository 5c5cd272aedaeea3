"""Which model does a skill's work: that of a tier, where the workspace says which models the tiers are."""

from __future__ import annotations

from orchestra.models.protocol import Model
from orchestra.run.state import Run
from orchestra.skills.manifest import Layer, ModelTier

EASIEST, HARDEST = 3, 8  # estimated complexity, of 10: up to here "fast", from there on "strong"


def model_for(run: Run, layer: Layer, tier: ModelTier) -> Model:
    """The model of the tier that a skill names; else guarantees and enhancements take "fast", and execution goes by the
    complexity that the router estimated. The run's own where that tier is not configured, or nothing was estimated.
    """
    return run.tier_models.get(tier or _tier_of(run, layer), run.worker)


def _tier_of(run: Run, layer: Layer) -> ModelTier:
    if layer != "execution":
        return "fast"
    if run.complexity is None:
        return ""
    return "fast" if run.complexity <= EASIEST else "strong" if run.complexity >= HARDEST else "balanced"
