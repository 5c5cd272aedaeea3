"""A question of a dataset, and the document that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Question:
    """`answer` is the gold answer. Without `evidence`, recall is not measured. `source` says where it is written."""

    id: str
    text: str
    answer: str
    document: Path
    evidence: tuple[Evidence, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions in a fixed order. `note` says how their evidence is to be read."""

    name: str
    questions: tuple[Question, ...]
    note: str = ""
