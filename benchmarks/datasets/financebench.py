"""FinanceBench (Islam et al. 2023, arXiv 2311.11944): questions over companies' reports, with evidence pages.

The folder holds the open sample as its authors publish it, or a part of it: the questions as
`financebench_open_source.jsonl` or `questions.jsonl`, the reports as `pdfs/DOC_NAME.pdf`. It is licensed for
non-commercial use and does not come with this project.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from benchmarks.datasets.reading import records
from benchmarks.evidence import Page
from benchmarks.question import Dataset, Question
from orchestra.errors import InputInvalid

FILES = ("questions.jsonl", "financebench_open_source.jsonl", "data/financebench_open_source.jsonl")
NOTE = "evidence is every gold page, whole"


class _Evidence(BaseModel):
    evidence_page_num: int = Field(ge=0)
    doc_name: str | None = None


class _Record(BaseModel):
    financebench_id: str
    doc_name: str
    question: str
    answer: str
    evidence: list[_Evidence]


def load_financebench(folder: Path | None) -> Dataset:
    """Questions in the order of the file. Evidence from another report than the question's own is left out."""
    if folder is None:
        raise InputInvalid(
            "financebench needs --data DIR", suggestion="DIR holds questions.jsonl and the folder pdfs/; see README.md."
        )
    path = next((folder / name for name in FILES if (folder / name).is_file()), None)
    if path is None:
        raise InputInvalid(f"there are no questions in {folder}", cause=f"it has none of {', '.join(FILES)}")
    questions = [_question(where, record, folder / "pdfs") for where, record in records(path, _Record)]
    return Dataset("financebench", tuple(questions), NOTE)


def _question(where: str, record: _Record, pdfs: Path) -> Question:
    pages = dict.fromkeys(
        each.evidence_page_num + 1 for each in record.evidence if each.doc_name in (None, record.doc_name)
    )
    return Question(
        record.financebench_id,
        record.question,
        record.answer,
        pdfs / f"{record.doc_name}.pdf",
        tuple(map(Page, pages)),
        where,
    )
