"""A result as text: the answer with its sources, and the line that sums up the run."""

from __future__ import annotations

import json
from collections import Counter
from shlex import quote
from typing import TYPE_CHECKING

from orchestra.cli.terminal import one_line

if TYPE_CHECKING:
    from orchestra.document import Citation
    from orchestra.result import LayerMetrics, LayerSkillReport, Result, Savings, StepReport, SubtaskResult

QUOTE_LENGTH = 90
ASKED = {"approval": "approval", "permission": "permission", "ask_user": "words"}


def answer_text(result: Result) -> str:
    """The answer, the data if a schema was asked for, and one line per source."""
    blocks = [result.answer.strip()]
    if result.data is not None:
        data = result.model_dump(mode="json", include={"data"})["data"]
        blocks.append("Data\n" + json.dumps(data, ensure_ascii=False, indent=2))
    if result.citations:
        blocks.append("Sources\n" + "\n".join(source_line(citation) for citation in result.citations))
    blocks.extend(map(_enhancement, result.layers))
    return "\n\n".join(block for block in blocks if block)


def _enhancement(skill: LayerSkillReport) -> str:
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


def source_line(citation: Citation) -> str:
    """`[1] report.md L120-L134, p. 12 verified "quote..."`."""
    mark = f"[{citation.number}{'?' if citation.status == 'unverified' else ''}]"
    last = f"-L{citation.last_line}" if citation.last_line != citation.first_line else ""
    page = f", p. {citation.page}" if citation.page is not None else ""
    quote = f' "{shortened(citation.quote)}"' if citation.quote else ""
    reason = f" ({citation.reason})" if citation.reason and citation.status != "verified" else ""
    return f"{mark} {citation.document} L{citation.first_line}{last}{page} {citation.status}{quote}{reason}"


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_LENGTH else line[: QUOTE_LENGTH - 3].rstrip() + "..."


def capsule(result: Result) -> str:
    """The run in one line: how many skills, how long, how it went, what it took, and what that saved.

    Of a route: how many steps, and how many of them came to something; there is no fan-out that it could be held to.
    """
    if result.strategy is not None and result.strategy.chosen == "route":
        return _route_capsule(result)
    parts = [
        f"routed {result.delegated} {'skill' if result.delegated == 1 else 'skills'}",
        f"{result.self_answered} self-answered" if result.self_answered else "",
        _duration(result.duration_ms),
        _outcome(result),
        _tokens(result),
        _price(result.usage.cost_usd),
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
        _price(metrics.cost_usd),
        _duration(metrics.duration_ms),
    ]
    return f"{layer}: {' · '.join(part for part in parts if part)}"


def _tokens(result: Result) -> str:
    tokens = result.usage.total_input_tokens
    is_comparable = tokens and result.route is None and not result.waiting
    return f"{tokens:,} tokens in" + (f" ({compared(result.savings)})" if is_comparable else "")


def _route_capsule(result: Result) -> str:
    parts = [
        _counted(len(result.subtasks), "skill"),
        _counted(sum(map(_done_or_tried, result.subtasks)), "step"),
        _duration(result.duration_ms),
        "waiting" if result.status == "waiting" else "",
        "" if result.route is None else f"success rate {result.route.success_rate:.0%}".replace("%", " %"),
        f"{result.usage.total_input_tokens:,} tokens in",
        f"{result.usage.output_tokens:,} out",
        _price(result.usage.cost_usd),
    ]
    return " · ".join(part for part in parts if part)


def _done_or_tried(step: SubtaskResult | StepReport) -> int:
    """The steps that do work themselves, but those that a query did not need."""
    if step.steps:
        return sum(map(_done_or_tried, step.steps))
    return int(step.status != "skipped" or step.error is not None)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def compared(savings: Savings) -> str:
    """`78 % less than naive fan-out`, `more` when that is the truth."""
    percent = round(savings.input_saved("fanout") * 100)
    if percent == 0:
        return "as many as naive fan-out"
    return f"{abs(percent)} % {'less' if percent > 0 else 'more'} than naive fan-out"


def _outcome(result: Result) -> str:
    sent = [subtask for subtask in result.subtasks if subtask.status != "self-answered"]
    succeeded = sum(subtask.status == "completed" for subtask in sent)
    if result.status == "completed":
        return "all succeeded"
    if result.status == "waiting":
        return f"{succeeded} of {len(sent)} succeeded, waiting"
    if result.status == "failed" and not succeeded:
        return "failed"
    return f"{succeeded} of {len(sent)} succeeded" if succeeded < len(sent) else result.status


def waiting_text(result: Result, store: str | None = None) -> str:
    """What is asked, and the commands that answer it and go on. `store` is what `--store` said."""
    lines: list[str] = []
    where = store_words(store)
    for waiting in result.waiting:
        lines.append(f"waiting: {one_line(waiting.node_id)} asks for {ASKED[waiting.kind]}: {one_line(waiting.title)}")
        answer = ' --answer "..."' if waiting.kind == "ask_user" else ""
        lines.append(f"  orchestra approve {result.run_id} {quote(one_line(waiting.node_id))}{answer}{where}")
    return "\n".join([*lines, f"then: orchestra resume {result.run_id}{where}"])


def store_words(store: str | None) -> str:
    """`--store` as it stands in a command that is shown; a URL that holds a password is not repeated."""
    if store is None:
        return ""
    return f" --store {'URL' if '@' in store and '://' in store else quote(one_line(store))}"


def _duration(duration_ms: float) -> str:
    seconds = duration_ms / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _price(cost_usd: float | None) -> str:
    """Nothing when it is not known, and nothing when nothing was charged."""
    if not cost_usd:
        return ""
    return f"${cost_usd:.3f}" if cost_usd >= 0.001 else "under $0.001"
