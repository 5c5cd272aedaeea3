"""A result in words that every surface says alike: the line that sums up a run, its layers, what was saved."""

from __future__ import annotations

from collections import Counter

from orchestra.result.parts import LayerMetrics, LayerSkillReport, StepReport, SubtaskResult
from orchestra.result.result import Result
from orchestra.result.usage import Savings


def capsule(result: Result) -> str:
    """The run in one line: how many skills, how long, how it went, what it took, and what that saved.

    Of a route: how many steps, and how many of them came to something; there is no fan-out that it could be held to.
    """
    if result.strategy is not None and result.strategy.chosen == "route":
        return _route_capsule(result)
    parts = [
        "" if result.plan is None else f"routed {_counted(result.delegated, 'skill')}",
        f"{result.self_answered} self-answered" if result.self_answered else "",
        duration_words(result.duration_ms),
        _outcome(result),
        _tokens(result),
        price_words(result.usage.cost_usd),
    ]
    return " · ".join(part for part in parts if part)


def layer_lines(result: Result) -> list[str]:
    """A line per layer, where more than gates stood around the task: its skills, and what they took."""
    if all(each.layer == "guarantee" or each.status == "skipped" for each in result.layers):
        return []
    return [_layer_line(result, layer, metrics) for layer, metrics in result.layer_metrics.items()]


def _layer_line(result: Result, layer: str, metrics: LayerMetrics) -> str:
    statuses = Counter(each.status for each in result.layers if each.layer == layer and each.status != "skipped")
    amiss = [f"{count} {status}" for status, count in statuses.items() if status != "completed"]
    skills = _counted(statuses.total(), "skill") if statuses else ""
    if layer == "execution":
        skills = f"the task and {skills}" if skills else "the task"
    parts = [
        ", ".join((skills or "no skill", *amiss)),
        _counted(metrics.calls, "call") if metrics.calls else "",
        f"{metrics.input_tokens:,} tokens in" if metrics.calls else "",
        f"{metrics.output_tokens:,} out" if metrics.calls else "",
        price_words(metrics.cost_usd),
        duration_words(metrics.duration_ms),
    ]
    return f"{layer}: {' · '.join(part for part in parts if part)}"


def _tokens(result: Result) -> str:
    """The whole input; what the skills around the task had of it is no part of the comparison."""
    around = result.usage.layers.total_input_tokens
    told = f"{result.usage.total_input_tokens:,} tokens in"
    if not result.savings.input_tokens or result.route is not None or result.waiting:
        return told
    if not around:
        return f"{told} ({compared(result.savings)})"
    return f"{told}, {around:,} of them around the task (the rest {compared(result.savings)})"


def _route_capsule(result: Result) -> str:
    parts = [
        _counted(len(result.subtasks), "skill"),
        _counted(sum(map(_done_or_tried, result.subtasks)), "step"),
        duration_words(result.duration_ms),
        "waiting" if result.status == "waiting" else "",
        "" if result.route is None else f"success rate {result.route.success_rate:.0%}".replace("%", " %"),
        f"{result.usage.total_input_tokens:,} tokens in",
        f"{result.usage.output_tokens:,} out",
        price_words(result.usage.cost_usd),
    ]
    return " · ".join(part for part in parts if part)


def _done_or_tried(step: SubtaskResult | StepReport) -> int:
    """The steps that do work themselves, but those that a query did not need."""
    own = [each for each in step.steps if not each.is_call]
    if own:
        return sum(map(_done_or_tried, own))
    return int(step.status != "skipped" or step.error is not None)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def compared(savings: Savings) -> str:
    """Input tokens: `78 % less than naive fan-out`, `more` when that is the truth."""
    percent = round(savings.input_saved("fanout") * 100)
    if percent == 0:
        return "as many as naive fan-out"
    return f"{abs(percent)} % {'less' if percent > 0 else 'more'} than naive fan-out"


def _outcome(result: Result) -> str:
    sent = [subtask for subtask in result.subtasks if subtask.status != "self-answered"]
    succeeded = sum(subtask.status == "completed" for subtask in sent)
    if result.status == "completed":
        return "all succeeded"
    if result.plan is None:
        return result.status
    if result.status == "waiting":
        return f"{succeeded} of {len(sent)} succeeded, waiting"
    if result.status == "failed" and not succeeded:
        return "failed"
    return f"{succeeded} of {len(sent)} succeeded" if succeeded < len(sent) else result.status


def enhancement_text(skill: LayerSkillReport) -> str:
    """What an enhancement has for the reader: its text, or the terms that it explains; empty for anything else."""
    if skill.layer != "enhancement" or skill.status != "completed":
        return ""
    heading = skill.skill.replace("-", " ").capitalize()
    if isinstance(skill.output, str):
        return f"{heading}\n{skill.output.strip()}"
    terms = skill.output.get("terms") if isinstance(skill.output, dict) else None
    if not isinstance(terms, list) or not terms:
        return ""
    lines = [f"- {each['term']}: {each['meaning']}" for each in terms if isinstance(each, dict) and "meaning" in each]
    return "\n".join((heading, *lines))


def duration_words(duration_ms: float) -> str:
    seconds = duration_ms / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def price_words(cost_usd: float | None) -> str:
    """Of what was paid: nothing when it is not known, and nothing when nothing was charged."""
    if not cost_usd:
        return ""
    return f"${cost_usd:.3f}" if cost_usd >= 0.001 else "under $0.001"


def estimate_words(cost_usd: float | None) -> str:
    """Of what would be paid."""
    if cost_usd is None:
        return "unknown"
    return f"${cost_usd:.4f}" if cost_usd else "$0"
