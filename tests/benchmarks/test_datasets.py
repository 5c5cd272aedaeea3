"""Loaders over files that users have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.datasets import load
from benchmarks.documents import Documents
from benchmarks.evidence import AnyOf, Lines, Page, Quote
from benchmarks.runner import case_of
from orchestra.errors import InputInvalid

ROOT = Path(__file__).parents[2]
FINANCEBENCH = ROOT.parent / "shared" / "data" / "financebench"
LINE = {"document": "report.md", "question": "Who audits?", "answer": "Stone"}


@pytest.fixture
def write(tmp_path: Path):
    (tmp_path / "report.md").write_text("# Report\n\nStone audits.\n", encoding="utf-8")

    def lines(*rows: object) -> str:
        path = tmp_path / "questions.jsonl"
        texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return str(path)

    return lines


def test_a_line_is_a_question_with_its_evidence(write) -> None:
    evidence = [61, [120, 134], "Stone audits.", {"any": [2, [3, 3]]}]

    dataset = load(write({**LINE, "id": "auditor", "evidence": evidence}), None)

    (question,) = dataset.questions
    assert (question.id, question.text, question.answer) == ("auditor", "Who audits?", "Stone")
    assert question.evidence == (
        Page(61),
        Lines(120, 134),
        Quote("Stone audits."),
        AnyOf((Page(2), Lines(3, 3))),
    )


def test_a_question_without_an_id_is_named_after_its_line(write) -> None:
    dataset = load(write(LINE, "", LINE), None)

    assert [question.id for question in dataset.questions] == ["line-1", "line-3"]


def test_documents_may_lie_in_another_folder(write, tmp_path: Path) -> None:
    home = tmp_path / "elsewhere"
    home.mkdir()
    (home / "report.md").write_text("x", encoding="utf-8")

    dataset = load(write(LINE), home)

    assert dataset.questions[0].document == home / "report.md"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", r"questions.jsonl:2 is no JSON"),
        ("[" * 100_000, r"questions.jsonl:2 is no JSON"),
        ([], r"questions.jsonl:2 is no question"),
        ({"document": "report.md", "answer": "x"}, r"questions.jsonl:2 is no question \(question: Field required\)"),
        ({**LINE, "pages": [1]}, r"questions.jsonl:2 is no question \(pages: Extra"),
        ({**LINE, "evidence": [0]}, r"questions.jsonl:2 is no question \(evidence.0"),
        ({**LINE, "evidence": [[1, 2, 3]]}, r"questions.jsonl:2 is no question \(evidence.0"),
        ({**LINE, "evidence": [" "]}, r"questions.jsonl:2 is no question \(evidence.0"),
        ({**LINE, "question": ""}, r"questions.jsonl:2 is no question \(question"),
        ({**LINE, "document": "none.md"}, r"questions.jsonl:2 names a document that is not there \(.*none.md\)"),
        ({**LINE, "id": "line-1"}, r"questions.jsonl:2 has the id 'line-1' of .*questions.jsonl:1"),
    ],
)
def test_a_wrong_line_is_named(write, row: object, said: str) -> None:
    path = write(LINE, row)

    with pytest.raises(InputInvalid, match=said):
        load(path, None)


def test_evidence_that_is_not_in_the_document_names_the_line(write, tmp_path: Path) -> None:
    dataset = load(write(LINE, {**LINE, "evidence": ["Berg audits."]}), None)

    with pytest.raises(InputInvalid, match=r"questions.jsonl:2: the quote 'Berg audits.' is not in report.md"):
        case_of(dataset.questions[1], Documents(tmp_path))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("squad", "no dataset 'squad'"),
        ("none.jsonl", "none.jsonl cannot be read"),
        ("financebench", "financebench needs --data DIR"),
    ],
)
def test_a_dataset_that_cannot_be_had_is_an_error(name: str, said: str) -> None:
    with pytest.raises(InputInvalid, match=said):
        load(name, None)


def test_a_file_without_questions_is_an_error(write) -> None:
    with pytest.raises(InputInvalid, match="no questions in"):
        load(write(""), None)


def test_a_folder_without_questions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputInvalid, match="no questions in"):
        load("financebench", tmp_path)


def test_evidence_pages_of_financebench_count_from_one_here(tmp_path: Path) -> None:
    evidence = [
        {"evidence_page_num": 59, "doc_name": "3M_2018_10K", "evidence_text": "..."},
        {"evidence_page_num": 59, "doc_name": "3M_2018_10K"},
        {"evidence_page_num": 3, "doc_name": "3M_2017_10K"},
    ]
    row = {"financebench_id": "f1", "doc_name": "3M_2018_10K", "question": "?", "answer": "1", "evidence": evidence}
    (tmp_path / "financebench_open_source.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    (question,) = load("financebench", tmp_path).questions

    assert question.evidence == (Page(60),)
    assert question.document == tmp_path / "pdfs" / "3M_2018_10K.pdf"


@pytest.mark.skipif(not FINANCEBENCH.is_dir(), reason="the subset is not here")
def test_the_subset_of_financebench_loads() -> None:
    dataset = load("financebench", FINANCEBENCH)

    assert len(dataset.questions) == 45
    assert all(question.document.is_file() and question.evidence for question in dataset.questions)


def test_every_question_of_the_report_has_evidence_that_is_there(tmp_path: Path) -> None:
    dataset = load("report", None)

    cases = [case_of(question, Documents(tmp_path)) for question in dataset.questions[::5]]

    assert len(dataset.questions) == 15
    assert all(case.gold for case in cases)


def test_a_converted_pdf_is_kept_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = ROOT / "tests" / "data" / "report.pdf"
    first = Documents(tmp_path / "cache").get(pdf)
    monkeypatch.setattr("benchmarks.documents.convert", None)

    second = Documents(tmp_path / "cache").get(pdf)

    assert (second.text, second.page_starts, second.bookmarks) == (first.text, first.page_starts, first.bookmarks)


def test_a_damaged_file_in_the_cache_is_made_anew(tmp_path: Path) -> None:
    pdf = ROOT / "tests" / "data" / "report.pdf"
    first = Documents(tmp_path).get(pdf)
    (kept,) = tmp_path.iterdir()
    kept.write_text("{", encoding="utf-8")

    second = Documents(tmp_path).get(pdf)

    assert second.text == first.text
    assert kept.read_text(encoding="utf-8") != "{"
