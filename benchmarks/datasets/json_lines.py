"""Any questions: a JSONL file with one question a line.

    {"document": "report.pdf", "question": "Who audits the company?", "answer": "Miller & Stone LLP",
     "evidence": [61, [120, 134], "Miller & Stone LLP audits the company."]}

`document` is a path from the file's folder. An entry of `evidence` is a page from 1, a pair of lines from 1, or a
quote; each must have been read. `{"any": [...]}` is an entry that any one of its own entries satisfies. `id` may be
given; otherwise it is the number of the line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from benchmarks.datasets.reading import records
from benchmarks.evidence import AnyOf, Evidence, Lines, Page, Quote
from benchmarks.question import Dataset, Question
from orchestra.errors import InputInvalid

NOTE = "evidence is every entry of the file, whole"

_Number = Annotated[StrictInt, Field(ge=1)]
_Text = Annotated[StrictStr, Field(min_length=1, pattern=r"\S")]
_Place = _Number | tuple[_Number, _Number] | _Text


class _AnyOf(BaseModel):
    model_config = ConfigDict(extra="forbid")
    any: list[_Place] = Field(min_length=1)


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")
    document: _Text
    question: _Text
    answer: StrictStr
    evidence: list[_Place | _AnyOf] = []
    id: _Text | None = None


def load_json_lines(path: Path, folder: Path | None = None) -> Dataset:
    """Questions in the order of the file; documents lie beside it, or in `folder`."""
    questions: dict[str, Question] = {}
    for where, record in records(path, _Record):
        question = _question(where, record, folder or path.parent)
        if question.id in questions:
            raise InputInvalid(f"{where} has the id {question.id!r} of {questions[question.id].source}")
        if not question.document.is_file():
            raise InputInvalid(f"{where} names a document that is not there", cause=str(question.document))
        questions[question.id] = question
    if not questions:
        raise InputInvalid(f"there are no questions in {path}")
    return Dataset(path.stem, tuple(questions.values()), NOTE)


def _question(where: str, record: _Record, home: Path) -> Question:
    return Question(
        record.id or f"line-{where.rpartition(':')[2]}",
        record.question,
        record.answer,
        home / record.document,
        tuple(_evidence(entry) for entry in record.evidence),
        where,
    )


def _evidence(entry: _Place | _AnyOf) -> Evidence:
    if isinstance(entry, _AnyOf):
        return AnyOf(tuple(_place(each) for each in entry.any))
    return _place(entry)


def _place(entry: _Place) -> Lines | Page | Quote:
    if isinstance(entry, int):
        return Page(entry)
    return Quote(entry) if isinstance(entry, str) else Lines(*entry)
