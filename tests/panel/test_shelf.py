"""The shelf: what a session's documents are, where they come from, and what never gets there."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from orchestra.errors import DocumentUnreadable, InputInvalid, OrchestraError, PermissionDenied, RunNotFound
from orchestra.panel.shelves.shelf import MOST_DOCUMENTS, Shelf
from orchestra.skills.policy import Policy

REPORT = b"# Report\n\nRevenue rose.\n\n## Margin\n\nIt fell.\n"


def _policy(folder: Path, **tables: object) -> Policy:
    return Policy.from_mapping(tables or {"allow": {"read": ["docs"]}}, folder=folder, source="orchestra.toml")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "report.md").write_bytes(REPORT)
    (docs / "deep" / "notes.txt").write_text("Notes.")
    (tmp_path / "secret.md").write_text("# Secret\n")
    return Shelf(tmp_path / "home", policy=_policy(tmp_path))


def test_an_upload_is_kept_under_a_safe_name_and_its_own_is_remembered(shelf: Shelf) -> None:
    kept = shelf.upload("s1", "../../<b>Report\u202e.md", io.BytesIO(REPORT))

    assert (kept.name, kept.size, kept.kind, kept.source) == ("_b_Report.md", len(REPORT), "text", "upload")
    assert kept.original == "../../<b>Report\u202e.md"
    assert kept.path.read_bytes() == REPORT
    assert shelf.paths("s1") == [kept.path]


def test_documents_stand_in_the_order_of_adding_and_the_same_content_stands_once(shelf: Shelf) -> None:
    first = shelf.upload("s1", "z.md", io.BytesIO(b"# Z\n"))
    second = shelf.add("s1", 0, "deep/notes.txt")
    third = shelf.upload("s1", "a.md", io.BytesIO(b"# A\n"))

    again = shelf.upload("s1", "other-name.md", io.BytesIO(b"# Z\n"))

    assert again == first
    assert [each.id for each in shelf.documents("s1")] == [first.id, second.id, third.id]
    assert shelf.paths("s1") == [first.path, second.path, third.path]


def test_a_shelf_outlives_the_panel(shelf: Shelf, tmp_path: Path) -> None:
    kept = shelf.upload("s1", "a.md", io.BytesIO(REPORT))

    assert Shelf(tmp_path / "home").documents("s1") == [kept]


def test_sessions_are_kept_apart_whatever_their_ids(shelf: Shelf, tmp_path: Path) -> None:
    odd = ("../../escape", "a/b", "", ".", "\x00", "\udcff", "s" * 5000)

    kept = [
        shelf.upload(session_id, "a.md", io.BytesIO(session_id.encode("utf-8", "replace") + b"!")) for session_id in odd
    ]

    assert [shelf.documents(session_id) for session_id in odd] == [[each] for each in kept]
    assert all(each.path.is_relative_to(tmp_path / "home" / "uploads") for each in kept)
    with pytest.raises(RunNotFound):
        shelf.document("a/b", kept[0].id)
    with pytest.raises(RunNotFound):
        shelf.remove("a/b", kept[0].id)


@pytest.mark.parametrize("document_id", ["../x", "..", "", "a" * 32, "\x00"])
def test_no_id_leads_out_of_a_shelf(shelf: Shelf, document_id: str) -> None:
    shelf.upload("s1", "a.md", io.BytesIO(REPORT))

    with pytest.raises(RunNotFound):
        shelf.outline("s1", document_id)
    with pytest.raises(RunNotFound):
        shelf.remove("s1", document_id)


def test_what_is_removed_leaves_nothing_behind(shelf: Shelf, tmp_path: Path) -> None:
    kept = shelf.upload("s1", "a.md", io.BytesIO(REPORT))

    shelf.remove("s1", kept.id)

    assert shelf.documents("s1") == []
    assert [each for each in (tmp_path / "home").rglob("*") if each.is_file()] == []


def test_a_session_is_removed_with_its_documents_and_no_other(shelf: Shelf) -> None:
    shelf.upload("s1", "a.md", io.BytesIO(REPORT))
    other = shelf.upload("s2", "a.md", io.BytesIO(REPORT))

    shelf.remove_session("s1")

    assert shelf.documents("s1") == []
    assert shelf.documents("s2")[0].path.read_bytes() == REPORT
    assert other.path.exists()


def test_an_upload_beyond_the_limit_leaves_nothing(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "home", upload_limit=1000)

    with pytest.raises(InputInvalid, match=r"big\.md is too large"):
        shelf.upload("s1", "big.md", io.BytesIO(b"x" * 1001))

    assert shelf.documents("s1") == []
    assert [each for each in (tmp_path / "home").rglob("*") if each.is_file()] == []
    assert shelf.upload("s1", "fits.md", io.BytesIO(b"x" * 1000)).size == 1000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "PNG image"),
        ("a.md", b"", "is empty"),
        ("a.docx", b"PK\x03\x04 torn", "damaged zip or DOCX"),
        ("run", b"\x7fELF\x02", "is a program"),
    ],
)
def test_what_is_no_document_is_refused_in_words(
    shelf: Shelf, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(DocumentUnreadable, match=said):
        shelf.upload("s1", name, io.BytesIO(content))

    assert [each for each in (tmp_path / "home").rglob("*") if each.is_file()] == []


def test_a_docx_that_would_unpack_to_gigabytes_is_refused_by_its_outline(shelf: Shelf) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" * 20_000_000)
    packed.seek(0)
    kept = shelf.upload("s1", "bomb.docx", packed)

    with pytest.raises(DocumentUnreadable, match="would unpack to"):
        shelf.outline("s1", kept.id)


def test_a_session_holds_a_bounded_number_of_documents(shelf: Shelf) -> None:
    for number in range(MOST_DOCUMENTS):
        shelf.upload("s1", f"{number}.md", io.BytesIO(f"# {number}".encode()))

    with pytest.raises(InputInvalid, match="at most"):
        shelf.upload("s1", "more.md", io.BytesIO(b"# more"))


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "deep/../../secret.md", "/etc/passwd", "..\\secret.md", "~/x.md", "link.md", "linked/secret.md"],
)
def test_nothing_outside_a_root_is_added_or_listed(shelf: Shelf, tmp_path: Path, path: str) -> None:
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "docs" / "linked").symlink_to(tmp_path)

    with pytest.raises(PermissionDenied):
        shelf.add("s1", 0, path)
    with pytest.raises(PermissionDenied):
        shelf.roots.listing(0, path)

    assert shelf.documents("s1") == []


@pytest.mark.parametrize("root", [-1, 1, 10**9])
def test_a_root_that_is_none_is_refused(shelf: Shelf, root: int) -> None:
    with pytest.raises(PermissionDenied, match="no such root"):
        shelf.add("s1", root, "report.md")


@pytest.mark.parametrize("path", ["", "deep", "deep/", "nothing.md", "a\x00b"])
def test_what_is_no_file_is_refused(shelf: Shelf, path: str) -> None:
    with pytest.raises(OrchestraError):
        shelf.add("s1", 0, path)


def test_a_file_below_a_root_is_read_anew_when_it_changes_and_keeps_its_place(shelf: Shelf, tmp_path: Path) -> None:
    first = shelf.add("s1", 0, "report.md")
    shelf.upload("s1", "later.md", io.BytesIO(b"# Later\n"))
    (tmp_path / "docs" / "report.md").write_text("# Another report\n")

    paths = shelf.paths("s1")

    assert [path.read_text() for path in paths] == ["# Another report\n", "# Later\n"]
    assert not first.path.exists()
    assert shelf.documents("s1")[0].id == first.id
    assert shelf.paths("s1") == paths


def test_a_file_that_becomes_a_link_out_of_its_root_is_not_read(shelf: Shelf, tmp_path: Path) -> None:
    shelf.add("s1", 0, "report.md")
    (tmp_path / "docs" / "report.md").unlink()
    (tmp_path / "docs" / "report.md").symlink_to(tmp_path / "secret.md")

    with pytest.raises(PermissionDenied):
        shelf.paths("s1")


def test_a_file_that_went_away_is_named(shelf: Shelf, tmp_path: Path) -> None:
    shelf.add("s1", 0, "report.md")
    (tmp_path / "docs" / "report.md").unlink()

    with pytest.raises(DocumentUnreadable, match=r"report\.md could not be read"):
        shelf.paths("s1")


def test_what_the_policy_denies_or_asks_for_is_not_offered(tmp_path: Path) -> None:
    for name in ("open", "private", "asked"):
        (tmp_path / "docs" / name).mkdir(parents=True)
        (tmp_path / "docs" / name / "a.md").write_text("# A\n")
    policy = _policy(tmp_path, allow={"read": ["docs"]}, ask={"read": ["docs/asked"]}, deny={"read": ["docs/private"]})
    shelf = Shelf(tmp_path / "home", policy=policy)

    assert [each.name for each in shelf.roots.listing(0).entries] == ["open"]
    for path in ("private/a.md", "asked/a.md", "Private/a.md"):
        with pytest.raises(OrchestraError):
            shelf.add("s1", 0, path)


def test_by_the_default_policy_there_is_no_root(tmp_path: Path) -> None:
    assert Shelf(tmp_path / "home").roots.folders == ()


def test_where_everything_is_allowed_the_folder_of_the_policy_is_offered(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "home", policy=_policy(tmp_path, allow={"read": ["*"]}))

    assert shelf.roots.folders == (Path(os.path.realpath(tmp_path)),)


def test_a_folder_shows_folders_first_and_only_documents(shelf: Shelf, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for name in (".hidden.md", "b.bin", "B.MD", "a.pdf"):
        (docs / name).write_bytes(b"x")
    (docs / "link.md").symlink_to(docs / "report.md")

    listing = shelf.roots.listing(0)

    assert [(each.path, each.is_folder) for each in listing.entries] == [
        ("deep", True),
        ("a.pdf", False),
        ("B.MD", False),
        ("report.md", False),
    ]
    assert shelf.roots.listing(0, "deep").trail == (("deep", "deep"),)


def test_documents_of_the_command_line_are_on_a_new_session_and_can_be_removed(tmp_path: Path) -> None:
    named = [tmp_path / "b.md", tmp_path / "a.md", tmp_path / "gone.md"]
    for path in named[:2]:
        path.write_text("# Named\n")
    shelf = Shelf(tmp_path / "home", documents=named, upload_limit=1)

    begun = shelf.documents("s1")
    shelf.remove("s1", begun[0].id)

    assert [(each.path, each.source) for each in begun] == [(path, "named") for path in named]
    assert shelf.paths("s1") == named[1:]
    assert shelf.named_beside("s1") == [(0, named[0])]
    assert shelf.add_named("s1", 0).id == begun[0].id
    assert shelf.paths("s1") == [named[1], named[2], named[0]]
    with pytest.raises(InputInvalid):
        shelf.add_named("s1", 3)


def test_an_outline_is_that_of_the_file_as_it_is(shelf: Shelf, tmp_path: Path) -> None:
    kept = shelf.add("s1", 0, "report.md")
    before = shelf.outline("s1", kept.id)
    (tmp_path / "docs" / "report.md").write_text("# Only one\n")

    after = shelf.outline("s1", kept.id)

    assert [each.title for each in before.headings] == ["Report", "Margin"]
    assert [each.title for each in after.headings] == ["Only one"]


def test_a_record_that_somebody_changed_leads_nowhere(shelf: Shelf, tmp_path: Path) -> None:
    kept = shelf.upload("s1", "a.md", io.BytesIO(REPORT))
    record = next((tmp_path / "home" / "uploads").rglob("*.json"))
    record.write_text(record.read_text().replace('"name":"a.md"', '"name":"../../../../secret.md"'))

    assert shelf.documents("s1") == []
    with pytest.raises(RunNotFound):
        shelf.outline("s1", kept.id)
