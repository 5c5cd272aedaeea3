"""What nodes cost, at list prices of the models that answered them, as far as the record of their run says which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from orchestra import Usage
from orchestra.panel.view.amounts import token_count
from orchestra.reporting import AROUND, JOINING, PLANNING
from orchestra.result import UsageReport
from orchestra.store import NodeRecord, RunRecord

_PROBE = 1_000  # tokens
_LONGEST_FLAT = 100_000  # tokens of a request that no list prices higher for its length
_KINDS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")


def node_prices(run: RunRecord) -> Callable[[NodeRecord], float | None]:
    """Gives US dollars for a node; None where its price is not known.

    A subtask of a finished run, with nothing below it, costs what the run's result says: that knows of stand-ins. Any
    other node is priced by the model of its phase.
    """
    billed, hosts = _billed(run), _hosts(run)

    def price_of(node: NodeRecord) -> float | None:
        usage, phase = node.usage or {}, _phase(node)
        bill = billed.get(node.node_id)
        if bill is not None and bill[0] == _counts(usage):
            return bill[1]
        return list_price(str(run.models.get(phase) or ""), usage, hosts.get(phase, ""))

    return price_of


def model_of(run: RunRecord, node: NodeRecord) -> tuple[str, str]:
    """The model that a node's phase asks, and its host, where they are known."""
    phase = _phase(node)
    return str(run.models.get(phase) or ""), _hosts(run).get(phase, "")


def list_price(model: str, usage: Mapping[str, Any], host: str = "") -> float | None:
    """US dollars for tokens that one model took; None for a model without a known price."""
    if not model:
        return None
    counts = _counts(usage)
    if sum(counts) > _LONGEST_FLAT:
        return _looked_up(model, host, counts)
    rates = _rates(model, host)
    return None if rates is None else sum(rate * count for rate, count in zip(rates, counts, strict=True))


@lru_cache(maxsize=64)
def _rates(model: str, host: str) -> tuple[float, ...] | None:
    """What one token of each kind costs; looking every node up would take a second for a few thousand."""
    found = [_looked_up(model, host, tuple(_PROBE * (kind == each) for each in _KINDS)) for kind in _KINDS]
    return None if None in found else tuple((price or 0.0) / _PROBE for price in found)


@lru_cache(maxsize=1024)
def _looked_up(model: str, host: str, counts: tuple[int, ...]) -> float | None:
    plain, cached, written, output = counts
    return UsageReport.of(model, Usage(plain, cached, written, output), host=host).cost_usd


def _phase(node: NodeRecord) -> str:
    if node.node_id.startswith(AROUND):
        return "subtasks"
    return "plan" if node.kind in PLANNING else "synthesis" if node.kind in JOINING else "subtasks"


def _counts(usage: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(token_count(usage, kind) for kind in _KINDS)


def _billed(run: RunRecord) -> dict[str, tuple[tuple[int, ...], float | None]]:
    """The tokens and the price of each subtask with all below it."""
    subtasks = (run.result or {}).get("subtasks")
    found: dict[str, tuple[tuple[int, ...], float | None]] = {}
    for subtask in subtasks if isinstance(subtasks, list) else ():
        usage = subtask.get("usage") if isinstance(subtask, Mapping) else None
        if isinstance(usage, Mapping) and usage.get("calls"):
            cost = usage.get("cost_usd")
            price = float(cost) if isinstance(cost, int | float) else None
            found[f"run/subtask-{subtask.get('id')}"] = _counts(usage), price
    return found


def _hosts(run: RunRecord) -> dict[str, str]:
    usage = (run.result or {}).get("usage")
    phases = usage.items() if isinstance(usage, Mapping) else ()
    return {name: str(phase.get("host") or "") for name, phase in phases if isinstance(phase, Mapping)}
