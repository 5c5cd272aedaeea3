"""Datasets: loaders over files that the user has."""

from __future__ import annotations

from pathlib import Path

from benchmarks.datasets.financebench import load_financebench
from benchmarks.datasets.json_lines import load_json_lines
from benchmarks.datasets.report import load_report
from benchmarks.question import Dataset
from orchestra.errors import InputInvalid

__all__ = ["NAMES", "load"]

NAMES = ("report", "financebench", "FILE.jsonl")


def load(name: str, folder: Path | None) -> Dataset:
    """The dataset called `name`: "report", "financebench" (needs `folder`), or the path of a JSONL file.

    `folder` is where a JSONL file's documents are, its own folder unless given. Raises `InputInvalid`.
    """
    if name == "report":
        return load_report(folder)
    if name == "financebench":
        return load_financebench(folder)
    if name.endswith(".jsonl"):
        return load_json_lines(Path(name), folder)
    raise InputInvalid(f"there is no dataset {name!r}", cause=f"a dataset is one of {', '.join(NAMES)}")
