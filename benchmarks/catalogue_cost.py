"""What a large library costs a run: tokens sent with 10, 100 and 5,000 skills, and the time to index them.

    python benchmarks/catalogue_cost.py [--counts 10 100 5000] [--rounds 3]

Tokens are those of the requests that a run sends, counted offline, the same document and plan throughout. Beside them
stand the same libraries with ten sub-skills below each skill, which nobody loads: what the run sends more is the tool
that would load them. Times are CPU milliseconds, and their ratio to reading the same files and nothing more, in turns
in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from orchestra import orchestrate
from orchestra.document import Document, count_tokens
from orchestra.models.protocol import ModelReply, ModelRequest, Usage
from orchestra.planning.strategy import StrategyChoice
from orchestra.skills import SkillLibrary

TASK = "Which invoices of the turbine contract are overdue, and what follows for the audit?"
SUBJECTS = ("invoices", "shipments", "contracts", "payroll", "patents", "audits", "turbines", "permits")
TEXT = "\n\n".join(
    f"# Section {number}\n\n" + "\n".join(f"Invoice {line} of contract {number} is overdue." for line in range(150))
    for number in range(1, 9)
)
STRATEGIES: tuple[StrategyChoice, ...] = ("outline", "full")
BODY = "Look at each entry, say whether it holds, and cite the line that shows it.\n" * 40


class Counting:
    """A model that plans one subtask and answers; it counts what it is sent."""

    name = "counting"

    def __init__(self) -> None:
        self.tokens: dict[str, int] = {}

    def complete(self, request: ModelRequest) -> ModelReply:
        self.tokens[request.purpose] = self.tokens.get(request.purpose, 0) + count_tokens(request.prompt)
        if request.purpose != "plan":
            return ModelReply("Invoice 3 is overdue [L6].", Usage(1))
        subtask = {"id": "1", "task": TASK, "skill": "skill-0006", "answer": None, "depends_on": []}
        plan = {"look": [], "whole": False, "subtasks": [{**subtask, "sections": ["s1"]}]}
        return ModelReply(json.dumps(plan), Usage(1))


def write(folder: Path, count: int, *, sub_skills: int = 0) -> Path:
    """`count` skills, each with a body and so many sub-skills with one as long."""
    for number in range(count):
        subject, other = SUBJECTS[number % 8], SUBJECTS[number // 8 % 8]
        put(folder / f"skill-{number:04}", f"Checks {subject} against {other}, kind {number}; use when they disagree.")
        for below in range(sub_skills):
            put(folder / f"skill-{number:04}" / "sub_skills" / f"part-{below}", f"Does part {below}.")
    return folder


def put(folder: Path, description: str) -> None:
    folder.mkdir(parents=True)
    front = f"---\nname: {folder.name}\ndescription: {description}\nlicense: MIT\nmetadata:\n  author: someone\n---\n"
    (folder / "SKILL.md").write_text(front + BODY, encoding="utf-8")


def tokens_of_run(library: SkillLibrary, strategy: StrategyChoice) -> dict[str, int]:
    model = Counting()
    document = Document.from_text(TEXT, name="contracts.md")
    result = orchestrate(document, TASK, library, model, strategy=strategy, max_followups=0)
    assert result.status == "completed", result.errors
    return model.tokens


def plainly(folder: Path) -> None:
    """Every front matter read, nothing made of it."""
    for entry in os.scandir(folder):
        with open(os.path.join(entry.path, "SKILL.md"), "rb") as file:
            file.read(2048)


def cpu_ms(work: Callable[[Path], object], folder: Path) -> float:
    began = time.process_time()
    work(folder)
    return (time.process_time() - began) * 1000


def forget(cache: Path) -> None:
    for file in cache.rglob("*.json"):
        file.unlink()


def tokens_table(counts: list[int], place: Path) -> None:
    print(
        f"{'skills':>8} {'sub-skills':>10} {'strategy':>9} {'listed':>7} {'planner':>8} {'whole run':>10}  tokens sent"
    )
    for count in counts:
        for sub_skills in (0, 10) if count <= 100 else (0,):
            library = SkillLibrary.from_path(
                write(place / f"tokens-{count}-{sub_skills}", count, sub_skills=sub_skills)
            )
            listed = len(SkillLibrary.of(library).catalogue_for(TASK))
            for strategy in STRATEGIES:
                sent = tokens_of_run(library, strategy)
                row = f"{count:8,} {count * sub_skills:10,} {strategy:>9} {listed:7,}"
                print(f"{row} {sent['plan']:8,} {sum(sent.values()):10,}")


def times_table(counts: list[int], place: Path, rounds: int) -> None:
    print(
        f"\n{'skills':>8} {'read':>9} {'indexed':>9} {'ratio':>6} {'again':>9} {'ratio':>6}  CPU ms, median of {rounds}"
    )
    for count in counts:
        folder = write(place / f"times-{count}", count)
        columns: list[list[float]] = [[], [], []]
        for _ in range(rounds):
            forget(place / "cache")
            for column, work in zip(columns, (plainly, SkillLibrary.from_path, SkillLibrary.from_path), strict=True):
                column.append(cpu_ms(work, folder))
        read, cold, warm = map(statistics.median, columns)
        print(f"{count:8,} {read:9.1f} {cold:9.1f} {cold / read:6.1f} {warm:9.1f} {warm / read:6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[10, 100, 5000])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        tokens_table(arguments.counts, place)
        times_table(arguments.counts, place, arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())
