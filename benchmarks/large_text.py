"""What very long texts cost: CPU time and peak memory of each step from a file to an answer.

    python benchmarks/large_text.py [--sizes 1 10 100] [--kinds markdown prose log pages oneline] [--no-run]

Each text is measured in a process of its own. Printed for every step: CPU seconds, CPU per MB as a multiple of that
at the first size (1.0 is linear), and the peak of resident memory so far, less what the process held before it read
the text, as a multiple of the text. `run` is a whole run with strategy "outline" and the built-in engine; behind it
stand the input tokens that it sent, which must not grow with the text. Aims at 100 MB: document work under 60 s and
4 times the text, the run under 6 times.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parent))
from outline_speed import MEGABYTE, peak_bytes

TASK = "Which figure does the report give for the wind farm at Kestrel Point?"
ANSWER = "The wind farm at Kestrel Point produced 8,417 gigawatt hours in the year."
BLOCK_BYTES = 4 * MEGABYTE  # made once and repeated, under new headings
T = TypeVar("T")


class Words:
    """Made-up words, a few of them frequent and most of them rare, as in any language."""

    def __init__(self, dice: random.Random, vocabulary: int = 40_000) -> None:
        syllables = [consonant + vowel for consonant in "bcdfghklmnprstvw" for vowel in ("a", "e", "i", "o", "u", "er")]
        self._words = ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(vocabulary)]
        self._words[20:2_000:400] = ["report", "figure", "point", "farm", "year"]  # what is asked for is not all rare
        self._weights = list(accumulate(1 / rank for rank in range(1, vocabulary + 1)))
        self._dice = dice

    def some(self, count: int) -> str:
        return " ".join(self._dice.choices(self._words, cum_weights=self._weights, k=count))

    def paragraph(self) -> str:
        """Hard-wrapped lines that end as a sentence."""
        return "\n".join(self.some(13) for _ in range(self._dice.randint(2, 9))) + ".\n\n"


def markdown(dice: random.Random, words: Words) -> Iterator[str]:
    """Sections four levels deep."""
    while True:
        yield f"{'#' * dice.randint(1, 4)} {words.some(4).title()}\n\n"
        yield from (words.paragraph() for _ in range(dice.randint(2, 8)))


def prose(dice: random.Random, words: Words) -> Iterator[str]:
    """Paragraphs without a heading."""
    while True:
        yield words.paragraph()


def log(dice: random.Random, words: Words) -> Iterator[str]:
    """Lines with figures, none of them blank."""
    while True:
        clock = f"2024-03-{dice.randint(1, 28):02} {dice.randint(0, 23):02}:{dice.randint(0, 59):02}:07"
        yield f"{clock} INFO worker-{dice.randint(1, 64)} took {dice.randint(1, 9000)} ms {words.some(5)}\n"


def pages(dice: random.Random, words: Words) -> Iterator[str]:
    """Pages parted by form feeds, each under a running head and a title."""
    while True:
        yield f"Annual Report of the Company\n\n{words.some(4).title()}\n\n"
        yield from (words.paragraph() for _ in range(6))
        yield "\f"


def oneline(dice: random.Random, words: Words) -> Iterator[str]:
    """Sentences without a line end."""
    while True:
        yield f"{words.some(18)}. "


KINDS: dict[str, Callable[[random.Random, Words], Iterator[str]]] = {
    "markdown": markdown,
    "prose": prose,
    "log": log,
    "pages": pages,
    "oneline": oneline,
}


def write(path: Path, kind: str, size: int) -> None:
    """About `size` bytes of one kind of text, the same on every run, the answer to `TASK` in the middle."""
    dice = random.Random(7)
    end = "\n" if kind != "oneline" else " "
    pieces: list[str] = []
    length = 0
    for piece in KINDS[kind](dice, Words(dice)):
        pieces.append(piece)
        length += len(piece)
        if length >= min(size // 2, BLOCK_BYTES):
            break
    block = "".join(pieces)
    blocks = max(size // length, 2)
    with path.open("w") as file:
        for number in range(blocks):
            file.write(f"{end}{ANSWER}{end}{end}{block}" if number == blocks // 2 else block)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100], metavar="MB")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--no-run", action="store_true", help="measure the document work only")
    parser.add_argument("--write", type=Path, metavar="FILE", help="only write the first text, to FILE")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.write, arguments.kinds[0], arguments.sizes[0] * MEGABYTE)
        return
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, with_run=not arguments.no_run)))
        return
    print(f"{'text':10}{'MB':>5} {'step':14}{'CPU s':>8}{'per MB':>8}{'peak':>8}")
    for kind in arguments.kinds:
        first: dict[str, float] = {}
        for size in arguments.sizes:
            report(kind, size, first, ["--no-run"] if arguments.no_run else [])


def report(kind: str, size: int, first: dict[str, float], options: list[str]) -> None:
    """Write a text, measure it in a fresh process, print a row for each step; `first` keeps the first size's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}.md"
        write(path, kind, size * MEGABYTE)
        command = [sys.executable, __file__, "--measure", str(path), *options]
        measured = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    for row in measured:
        step, seconds = row["step"], row["cpu_s"]
        growth = seconds / size / first.setdefault(step, seconds / size or 1.0)
        head = f"{kind:10}{size:5} {step:14}{seconds:8.2f}{growth:8.1f}{row['peak_ratio']:7.2f}x"
        print(f"{head}  {row['note']}", flush=True)


def measure(path: Path, *, with_run: bool) -> list[dict[str, float | str]]:
    """CPU seconds and peak memory after each step, libraries and tables already loaded."""
    from orchestra.document import Document
    from orchestra.document.citing import cite
    from orchestra.document.retrieval import find
    from orchestra.document.view import outline_view

    warm = Document.from_text("# Warm *up*\n\nA text of 5 words.\n")
    outline_view(warm.alone, TASK)
    cite("Five words [L3].", warm.alone)
    size, before = path.stat().st_size, peak_bytes()
    rows: list[dict[str, float | str]] = []

    def step(name: str, work: Callable[[], T], note: Callable[[T], str] = lambda _: "") -> T:
        started = time.process_time()
        made = work()
        seconds = time.process_time() - started
        peak = (peak_bytes() - before) / size
        row: dict[str, float | str] = {"step": name, "cpu_s": seconds, "peak_ratio": peak, "note": note(made)}
        rows.append(row)
        return made

    document = step("load", lambda: Document.from_path(path), lambda made: f"{made.line_count:,} lines")
    documents = document.alone
    step("outline", lambda: document.outline, lambda made: f"{len(made.sections):,} sections")
    step("units", lambda: document.units, lambda made: f"{len(made):,} units")
    step("index", lambda: document.index)
    step("size", lambda: documents.size, lambda made: f"{made.tokens:,} tokens")
    step("find", lambda: find(TASK, documents), lambda made: f"{len(made.places)} places")
    step("outline_view", lambda: outline_view(documents, TASK), lambda made: f"{made.tokens:,} tokens")
    step("cite", lambda: cite(f"{ANSWER[:-1]} [L3].", documents), lambda made: f"{made[1][0].status}")
    if with_run:
        from orchestra import orchestrate

        result = step(
            "run",
            lambda: orchestrate(document, TASK, model="builtin:extractive", strategy="outline"),
            lambda made: f"{made.usage.input_tokens:,} input tokens; {' '.join(made.answer.split())[:60]}",
        )
        rows[-1]["input_tokens"] = result.usage.input_tokens
    return rows


if __name__ == "__main__":
    main()
