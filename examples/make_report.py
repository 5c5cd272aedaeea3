"""Write the example report and its questions: `python examples/make_report.py`.

The hand-written sections in `report_parts/` hold directives in double braces, which are filled from one seeded
set of figures: `{{table balance_sheet}}`, `{{prose sites}}`, `{{moved revenue 2025}}`. The same seed gives the
same bytes, and the lines that answer a question are found in the text that was written.
"""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from report_figures import Figures, make_figures, margin_points
from report_prose import PROSE, change, money
from report_tables import PARTS, TABLES, cents, facts, percent

SEED = 2025
FOLDER = Path(__file__).parent
_DIRECTIVE = re.compile(r"\{\{(.+?)\}\}")
_HEADING = re.compile(r"(#{1,6}) (.+)")
_GROWTH_PARTS = ("volume", "price", "acquisitions", "currency")


def _moved(figures: Figures, name: str, year: str) -> str:
    verb, size = change(figures, name, int(year))
    before, now = figures.money[name][int(year) - 1], figures.money[name][int(year)]
    return f"{verb} {size} to {money(now)}, from {money(before)}"


def _organic(figures: Figures, segment: str, year: str) -> str:
    volume, price, _, _ = figures.growth[segment][int(year)]
    name = "revenue" if segment == "total" else f"{segment}.revenue"
    return percent(volume + price, figures.money[name][int(year) - 1])


def _bridge(figures: Figures, year: str, word: str) -> str:
    return str(next(abs(points) for label, points in figures.bridge[int(year)] if label.startswith(word)))


_DIRECTIVES: dict[str, Callable[..., str]] = {
    "money": lambda figures, name, year: money(figures.money[name][int(year)]),
    "moved": _moved,
    "growth": lambda figures, name, year: change(figures, name, int(year))[1],
    "share": lambda figures, part, whole, year: percent(
        figures.money[part][int(year)], figures.money[whole][int(year)]
    ),
    "ratio": lambda figures, part, whole, year: (
        f"{figures.money[part][int(year)] / figures.money[whole][int(year)]:.1f}"
    ),
    "count": lambda figures, name, year: f"{figures.count[name][int(year)]:,}",
    "cents": lambda figures, name, year: cents(figures.count[name][int(year)]),
    "growthpart": lambda figures, segment, part, year: money(
        figures.growth[segment][int(year)][_GROWTH_PARTS.index(part)]
    ),
    "organic": _organic,
    "bridge": _bridge,
    "bridgechange": lambda figures, year: str(
        abs(margin_points(figures, int(year)) - margin_points(figures, int(year) - 1))
    ),
}


def fill(text: str, figures: Figures, rng: random.Random) -> str:
    """`text` with its directives replaced; an unknown one raises `KeyError`."""

    def replace(match: re.Match[str]) -> str:
        name, *arguments = shlex.split(match[1])
        if name == "include":
            return fill((PARTS / arguments[0]).read_text(encoding="utf-8").strip(), figures, rng)
        if name == "table":
            return TABLES[arguments[0]](figures)
        if name == "prose":
            return PROSE[arguments[0]](figures, rng)
        return _DIRECTIVES[name](figures, *arguments)

    return _DIRECTIVE.sub(replace, text)


def make_report(seed: int = SEED) -> str:
    """The report as markdown: about 25,000 words, one sentence on each line of prose."""
    figures, rng = make_figures(seed), random.Random(seed)
    parts = sorted(PARTS.glob("[0-9][0-9]-*.md"))
    return "\n\n".join(fill(part.read_text(encoding="utf-8").strip(), figures, rng) for part in parts) + "\n"


def make_questions(report: str, seed: int = SEED) -> dict[str, object]:
    """The questions with `gold_lines`: for each gold text, the lines that hold it within its section."""
    figures, rng = make_figures(seed), random.Random(seed)
    questions = json.loads(fill(json.dumps(facts("questions"), ensure_ascii=False), figures, rng))
    paths = _paths(report)
    for question in questions["lookups"]:
        golds = question.pop("gold")
        question["gold_sections"] = list(dict.fromkeys(section for section, _ in golds))
        question["gold_lines"] = sorted(
            {line for section, text in golds for line in _find(paths, report, section, text)}
        )
    for question in questions["analyses"]:
        for section in question["gold_sections"]:
            if section not in paths.values():
                raise LookupError(f"no section has the path {section!r}")
    return questions


def _paths(report: str) -> dict[int, str]:
    """The path of the section, without the report's own title, for each line of the report."""
    path: list[str] = []
    paths = {}
    for number, line in enumerate(report.splitlines(), start=1):
        if heading := _HEADING.fullmatch(line):
            path = [*path[: len(heading[1]) - 1], heading[2]]
        paths[number] = " > ".join(path[1:])
    return paths


def _find(paths: dict[int, str], report: str, section: str, text: str) -> list[int]:
    found = [
        number for number, line in enumerate(report.splitlines(), start=1) if text in line and paths[number] == section
    ]
    if not found:
        raise LookupError(f"{text!r} is not in {section!r}")
    return found


def main() -> None:
    report = make_report()
    questions = json.dumps(make_questions(report), indent=1, ensure_ascii=False) + "\n"
    (FOLDER / "annual-report.md").write_text(report, encoding="utf-8", newline="\n")
    (FOLDER / "questions.json").write_text(questions, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
