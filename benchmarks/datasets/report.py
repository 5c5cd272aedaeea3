"""The report in `examples/`, made for this project, with questions and gold places."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from benchmarks.datasets.reading import checked, parse, read
from benchmarks.evidence import AnyOf, Heading, Lines
from benchmarks.question import Dataset, Question

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTE = (
    "a lookup's evidence is any one of the lines that state its answer; an analysis needs each of its gold sections "
    "whole, with what is below them"
)


class _Lookup(BaseModel):
    id: str
    question: str
    answer: str
    gold_lines: list[int]


class _Analysis(BaseModel):
    id: str
    question: str
    key_points: list[str]
    gold_sections: list[str]


class _Questions(BaseModel):
    document: str
    lookups: list[_Lookup]
    analyses: list[_Analysis]


def load_report(folder: Path | None = None) -> Dataset:
    """The lookups, then the analyses, whose gold answer is the sum of their key points."""
    home = folder or EXAMPLES
    path = home / "questions.json"
    found = checked(parse(read(path), str(path)), _Questions, str(path))
    document = home / found.document
    lookups = [
        Question(
            each.id,
            each.question,
            each.answer,
            document,
            (AnyOf(tuple(Lines(line, line) for line in each.gold_lines)),),
            str(path),
        )
        for each in found.lookups
    ]
    analyses = [
        Question(
            each.id,
            each.question,
            " ".join(each.key_points),
            document,
            tuple(map(Heading, each.gold_sections)),
            str(path),
        )
        for each in found.analyses
    ]
    return Dataset("report", (*lookups, *analyses), NOTE)
