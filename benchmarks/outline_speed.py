"""How fast outlines are made, and how much memory that takes.

    python benchmarks/outline_speed.py [--sizes 1 10 50] [--kinds prose lists code]

Prints MB/s of text to outline, and the peak growth of resident memory (file, text and outline together) as a
multiple of the text, each measured in a process of its own. Aims: 5 MB/s on prose, 2 MB/s on lists, under 8 times
the text, the same speed at every size.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MEGABYTE = 1_000_000
VOCABULARY = """
    the of and revenue margin segment growth customers because although quarterly increase decline cash flow operating
    results management expects demand supply cost pricing currency products services regions contracts backlog
"""
WORDS = VOCABULARY.split()


def prose(dice: random.Random) -> Iterator[str]:
    """Sections of hard-wrapped paragraphs."""
    while True:
        yield f"{'#' * dice.randint(1, 4)} {_words(dice, 4).title()}\n\n"
        for _ in range(dice.randint(2, 8)):
            yield "\n".join(_words(dice, 13) for _ in range(dice.randint(2, 9))) + ".\n\n"


def lists(dice: random.Random) -> Iterator[str]:
    """Nested bullet and numbered lists, tight and loose, with a heading now and then."""
    while True:
        yield f"{'#' * dice.randint(1, 4)} {_words(dice, 3).title()}\n\n"
        for number in range(1, dice.randint(10, 60)):
            indent = "  " * dice.choice((0, 0, 1, 1, 2))
            marker = dice.choice(("-", "-", "-", f"{number}."))
            yield f"{indent}{marker} {_words(dice, dice.randint(2, 9))}\n" + dice.choice(("", "", "", "\n"))
        yield "\n"


def code(dice: random.Random) -> Iterator[str]:
    """What hides headings: fences and HTML, within list items and at the top."""
    while True:
        yield f"{_words(dice, 3).title()}\n---\n\n"
        for _ in range(dice.randint(2, 8)):
            yield f"- {_words(dice, 6)}\n\n  ```\n  # {_words(dice, 4)}\n  {_words(dice, 8)}\n  ```\n\n"
        yield f"```python\n# {_words(dice, 4)}\n{_words(dice, 8)}\n```\n\n<div>\n{_words(dice, 9)}\n</div>\n\n"


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {"prose": prose, "lists": lists, "code": code}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 50], metavar="MB")
    parser.add_argument("--kinds", nargs="+", default=["prose", "lists"], choices=list(KINDS))
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    print(f"{'text':8}{'MB':>5}{'MB/s':>9}{'peak':>9}{'sections':>10}")
    for kind in arguments.kinds:
        for size in arguments.sizes:
            report(kind, size)


def report(kind: str, size: int) -> None:
    """Write a text, measure it in a fresh process, print one row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}.md"
        write(path, KINDS[kind], size * MEGABYTE)
        command = [sys.executable, __file__, "--measure", str(path)]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"{kind:8}{size:5}{row['mb_per_s']:9.1f}{row['peak_ratio']:8.1f}x{row['sections']:10}", flush=True)


def write(path: Path, pieces: Callable[[random.Random], Iterator[str]], size: int) -> None:
    """At least `size` bytes of one kind of text, the same on every run."""
    with path.open("w") as file:
        for piece in pieces(random.Random(7)):
            file.write(piece)
            if file.tell() >= size:
                return


def measure(path: Path) -> dict[str, float]:
    """MB/s and peak memory of reading and outlining one file, parser and tables already loaded."""
    from orchestra.document import Document

    _ = Document.from_text("# Warm *up*\n").outline
    size, before = path.stat().st_size, peak_bytes()
    data = path.read_bytes()
    started = time.perf_counter()
    sections = len(Document.from_text(data).outline.sections)
    seconds = time.perf_counter() - started
    return {
        "mb_per_s": size / MEGABYTE / seconds,
        "peak_ratio": (peak_bytes() - before) / size,
        "sections": sections,
    }


def peak_bytes() -> int:
    """The most memory this process has held at once."""
    status = Path("/proc/self/status")
    if status.exists():  # the resource module counts the parent's memory from before exec
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choices(WORDS, k=count))


if __name__ == "__main__":
    main()
