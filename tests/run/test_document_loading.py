"""Documents of runs that have a store: converted once, kept once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from models_for_tests import ScriptedModel

from orchestra import Document, orchestrate, resume
from orchestra.document import DocumentSet, convert
from orchestra.document.convert import Converted
from orchestra.errors import DocumentUnreadable
from orchestra.run.loading import keep_documents, load_documents, references, restored_documents
from orchestra.store import RunRecord

DATA = Path(__file__).parents[1] / "data"
PDF = DATA / "report.pdf"


@pytest.fixture
def conversions(monkeypatch):
    """The names of the files that are converted."""
    names = []
    real = convert.convert

    def counted(data, name):
        names.append(name)
        return real(data, name)

    monkeypatch.setattr(convert, "convert", counted)
    return names


def parts(document):
    return document.converted, document.outline.sections, document.name


def a_model():
    return ScriptedModel(subtask="Revenue rose [L3].")


def test_a_file_that_comes_again_is_not_converted_again(store, conversions, tmp_path):
    copy = tmp_path / "other name.pdf"
    shutil.copy(PDF, copy)
    before = load_documents(PDF, None)[0]
    conversions.clear()

    first, again, other = (load_documents(path, store)[0] for path in (PDF, PDF, copy))

    assert conversions == [PDF.name]
    assert parts(first) == parts(again) == parts(before)
    assert parts(other) == (*parts(before)[:2], "other name.pdf")


def test_a_second_run_over_a_pdf_does_not_convert_it(store, conversions):
    options = {"strategy": "direct", "store": store}
    first = orchestrate(PDF, "What was revenue?", model=a_model(), **options)
    conversions.clear()
    model = a_model()

    again = orchestrate(PDF, "What was revenue?", model=model, **options)

    assert conversions == []
    assert (again.answer, again.fingerprint, again.documents) == (first.answer, first.fingerprint, first.documents)


def test_a_run_over_a_file_goes_on_without_it(store, conversions, tmp_path):
    path = tmp_path / "report.pdf"
    shutil.copy(PDF, path)
    first = orchestrate(path, "What was revenue?", model=a_model(), strategy="direct", store=store)
    store.end_run(first.run_id, "running")
    conversions.clear()
    path.unlink()

    again = resume(first.run_id, store=store, model=a_model())

    assert (again.answer, again.citations, conversions) == (first.answer, first.citations, [])


def test_a_text_file_is_read_anew(store, tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# One\n\nFirst.\n")
    load_documents(path, store)
    path.write_text("# Two\n\nSecond.\n")

    (document,) = load_documents(path, store)

    assert document.text == "# Two\n\nSecond.\n"


def test_documents_come_back_as_they_were(store):
    documents = DocumentSet.of(
        [
            "# A text\n\nof markdown\n",
            Document("page one\npage two\n", name="paged.txt", page_starts=(1, 2), warnings=("mended",)),
            Document("page one\npage two\n", name="paged.txt"),
            Document.from_path(PDF),
        ]
    )
    refs = references(documents)
    store.begin_run(RunRecord(id="r1", task="?", documents=refs))
    keep_documents(documents, store)

    again = restored_documents(refs, store)

    assert [parts(document)[:2] for document in again] == [parts(document)[:2] for document in documents]
    assert again.names == documents.names
    assert again.annotated_text == documents.annotated_text
    assert len({ref.digest for ref in refs}) == 4


def test_a_document_that_was_removed_is_missed(store):
    documents = DocumentSet.of("# A text\n")

    with pytest.raises(DocumentUnreadable, match="not in the store"):
        restored_documents(references(documents), store)


def test_a_conversion_that_is_damaged_is_made_anew(store, conversions):
    load_documents(PDF, store)
    (ref,) = references(load_documents(PDF, store))
    store.put_derived(ref.digest, "frame", b'{"headings": 7}')
    conversions.clear()

    (document,) = load_documents(PDF, store)

    assert conversions == [PDF.name]
    assert isinstance(document.converted, Converted)
    assert document.page_starts
