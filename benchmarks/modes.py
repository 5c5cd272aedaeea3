"""What each mode costs on the same tasks: tokens and price of eco beside standard and deep-work.

    python benchmarks/modes.py [--tasks 8]

The tasks are those of examples/questions.json, over the report beside it, with the built-in engine; tokens are counted,
and priced as claude-sonnet-5-5 would price them. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from orchestra import Document, orchestrate
from orchestra.models.prices import price
from orchestra.models.protocol import Usage

EXAMPLES = Path(__file__).parents[1] / "examples"
MODES = ("eco", "standard", "deep-work")
MODEL = "claude-sonnet-5-5"


def spent(document: Document, task: str, mode: str) -> tuple[Usage, dict[str, int]]:
    """What one run takes, and the input tokens of each layer."""
    result = orchestrate(document, task, model="builtin:extractive", mode=mode, store=False)
    usage = Usage(result.usage.total_input_tokens, output_tokens=result.usage.output_tokens)
    return usage, {layer: metrics.input_tokens for layer, metrics in result.layer_metrics.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=8)
    arguments = parser.parse_args()
    document = Document.from_path(EXAMPLES / "annual-report.md")
    asked = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))
    kinds = [entries for entries in asked.values() if isinstance(entries, list)]
    tasks = [entry["question"] for entries in zip(*kinds, strict=False) for entry in entries][: arguments.tasks]
    print(f"{len(tasks)} tasks over {document.name}")
    heads = ("guarantee", "enhancement", "execution")
    print(f"{'mode':<10} {'in':>8} {'out':>7} {'price':>9}  {' '.join(f'{head:>11}' for head in heads)}  eco saves")
    bills: dict[str, Usage] = {}
    for mode in MODES:
        each = [spent(document, task, mode) for task in tasks]
        whole = Usage(
            sum(usage.input_tokens for usage, _ in each), output_tokens=sum(usage.output_tokens for usage, _ in each)
        )
        layers = [sum(layer[head] for _, layer in each) for head in heads]
        bills[mode] = whole
        saved = 1 - total(bills["eco"]) / total(whole)
        figures = " ".join(f"{tokens:>11,}" for tokens in layers)
        cost = price(MODEL, whole) or 0.0
        print(f"{mode:<10} {whole.input_tokens:>8,} {whole.output_tokens:>7,} {cost:>9.4f}  {figures}  {saved:>8.1%}")


def total(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


if __name__ == "__main__":
    main()
