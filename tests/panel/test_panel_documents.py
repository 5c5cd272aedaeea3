"""The documents of a session over HTTP and in a browser: added, looked into, removed, and attacked."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from orchestra.panel.shelves.uploads import MOST_FILES
from orchestra.skills.policy import Policy
from tests.panel.conftest import Panel

PART = {"HX-Request": "true"}
DATA = Path(__file__).parents[1] / "data"
SCRIPT = "<script>alert(1)</script>"
REPORT = b"# Report\n\nRevenue rose.\n\n## Margin\n\nIt fell.\n"

StartPanel = Callable[..., Panel]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder whose policy lets `docs` be read, with something beside it that nobody may read."""
    (tmp_path / "work" / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "work" / "docs" / "report.md").write_bytes(REPORT)
    (tmp_path / "work" / "docs" / "deep" / "notes.txt").write_text("Notes.\n")
    (tmp_path / "work" / "secret.md").write_text("# Secret\n")
    return tmp_path / "work"


@pytest.fixture
def desk_panel(start_panel: StartPanel, workspace: Path) -> Panel:
    """A panel with the session `s1`, whose policy allows `docs`."""
    policy = Policy.from_mapping({"allow": {"read": ["docs"]}}, folder=workspace, source="orchestra.toml")
    panel = start_panel(policy=policy, upload_limit=100_000)
    panel.store.begin_session("s1")
    return panel


def _upload(panel: Panel, *files: tuple[str, bytes], session: str = "s1") -> tuple[int, str]:
    answer = panel.client.post(f"/sessions/{session}/documents", files=[("file", file) for file in files], headers=PART)
    return answer.status_code, answer.text


def _files(panel: Panel) -> list[Path]:
    return [each for each in panel.desk.home.rglob("*") if each.is_file()]


def test_several_files_are_added_at_once_and_outlined(desk_panel: Panel) -> None:
    status, page = _upload(desk_panel, ("report.md", REPORT), ("notes.txt", b"Plain notes.\n"))
    first = desk_panel.desk.shelf.documents("s1")[0]

    outline = desk_panel.client.get(f"/sessions/s1/documents/{first.id}/outline", headers=PART).text

    assert status == 200
    assert "2: report.md, notes.txt" in page
    assert "Margin" in outline
    assert "lines 5–7" in outline
    assert "7 lines" in outline


def test_of_several_files_those_that_can_be_read_are_kept_and_of_the_others_is_said_why(desk_panel: Panel) -> None:
    status, page = _upload(desk_panel, ("a.png", b"\x89PNG\r\n\x1a\n..."), ("report.md", REPORT), ("b.md", b""))

    assert status == 400
    assert "a.png is a PNG image" in page
    assert "b.md is empty" in page
    assert "1: report.md" in page


def test_without_script_an_upload_leads_back_to_the_session(desk_panel: Panel) -> None:
    answer = desk_panel.client.post(
        f"/sessions/s1/documents?token={desk_panel.gate.token}",
        files={"file": ("report.md", REPORT)},
        headers={"X-Token": ""},
    )
    by_query = desk_panel.client.post(
        f"/sessions/s1/documents?token={desk_panel.gate.token}", files={"file": ("a.md", REPORT)}
    )

    assert answer.status_code == 403
    assert (by_query.status_code, by_query.headers["location"]) == (303, "/sessions/s1")
    assert desk_panel.client.get("/sessions/s1/documents").status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        f"{SCRIPT}.md",
        '"><img src=x onerror=alert(1)>.md',
        "../../../../etc/cron.d/evil.md",
        "..\\..\\evil.md",
        "a\u202edm.exe.md",
    ],
)
def test_names_of_uploads_are_shown_and_never_run_or_followed(desk_panel: Panel, name: str) -> None:
    status, page = _upload(desk_panel, (name, REPORT))

    assert status == 200
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert all(file.is_relative_to(desk_panel.desk.home / "uploads") for file in _files(desk_panel))
    assert len(_files(desk_panel)) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.svg", b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'),
        ("a.html", b"<!doctype html><html><head><title><script>alert(1)</script></title></head><body onload=alert(1)>"
                   b"<h1>Hi</h1><script>alert(1)</script></body></html>"),
        ("a.md", b"# <script>alert(1)</script> <img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n"),
    ],
)  # fmt: skip
def test_active_content_is_only_ever_text(desk_panel: Panel, name: str, content: bytes) -> None:
    assert _upload(desk_panel, (name, content))[0] == 200
    kept = desk_panel.desk.shelf.documents("s1")[0]

    outline = desk_panel.client.get(f"/sessions/s1/documents/{kept.id}/outline")

    assert outline.status_code == 200
    assert "alert(1)</script>" not in outline.text
    assert "<img" not in outline.text
    assert "<svg" not in outline.text
    for address in (f"/uploads/{kept.path.name}", f"/static/{kept.path.name}", f"/sessions/s1/documents/{kept.id}"):
        assert desk_panel.client.get(address).status_code == 404


def test_an_upload_that_says_it_is_too_large_is_refused_and_leaves_nothing(desk_panel: Panel) -> None:
    status, page = _upload(desk_panel, ("big.md", b"x" * 200_000))

    assert status == 400
    assert "is too large" in page
    assert _files(desk_panel) == []


def test_an_upload_that_grows_too_large_as_it_comes_is_refused_and_leaves_nothing(desk_panel: Panel) -> None:
    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="big.md"\r\n\r\n'
        for _ in range(200):
            yield b"x" * 1_000

    answer = desk_panel.client.post(
        "/sessions/s1/documents",
        content=body(),
        headers={**PART, "Content-Type": "multipart/form-data; boundary=b"},
    )

    assert answer.status_code == 400
    assert "is too large" in answer.text
    assert _files(desk_panel) == []


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"--b\r\n"),
        ("multipart/form-data; boundary=b", b"no part at all"),
        ("multipart/form-data; boundary=b", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"),
        ("text/plain", b"x"),
    ],
)
def test_what_is_no_upload_is_refused(desk_panel: Panel, content_type: str, body: bytes) -> None:
    answer = desk_panel.client.post(
        "/sessions/s1/documents", content=body, headers={**PART, "Content-Type": content_type}
    )

    assert answer.status_code == 400
    assert "INPUT_INVALID" in answer.text


def test_too_many_files_at_once_are_refused(desk_panel: Panel) -> None:
    files = [(f"{number}.md", b"# x%d" % number) for number in range(MOST_FILES + 1)]

    status, page = _upload(desk_panel, *files)

    assert status == 400
    assert "Too many files" in page
    assert _files(desk_panel) == []


def test_a_docx_that_would_fill_the_memory_is_told_in_a_sentence(desk_panel: Panel) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" * 20_000_000)
    assert _upload(desk_panel, ("bomb.docx", packed.getvalue()))[0] == 200
    kept = desk_panel.desk.shelf.documents("s1")[0]

    outline = desk_panel.client.get(f"/sessions/s1/documents/{kept.id}/outline", headers=PART)

    assert outline.status_code == 400
    assert "would unpack to" in outline.text
    assert "Split the document" in outline.text


@pytest.mark.parametrize(
    ("name", "said"), [("encrypted.pdf", "Save it without a password."), ("scan.pdf", "text recognition")]
)
def test_what_cannot_be_read_is_told_in_a_sentence_with_what_to_do(desk_panel: Panel, name: str, said: str) -> None:
    assert _upload(desk_panel, (name, (DATA / name).read_bytes()))[0] == 200
    kept = desk_panel.desk.shelf.documents("s1")[0]

    outline = desk_panel.client.get(f"/sessions/s1/documents/{kept.id}/outline", headers=PART)

    assert outline.status_code == 400
    assert said in outline.text


def test_an_outline_of_a_pdf_tells_its_pages(desk_panel: Panel) -> None:
    _upload(desk_panel, ("report.pdf", (DATA / "report.pdf").read_bytes()))
    kept = desk_panel.desk.shelf.documents("s1")[0]

    outline = desk_panel.client.get(f"/sessions/s1/documents/{kept.id}/outline", headers=PART).text

    assert "pages, " in outline
    assert "page 1, lines" in outline


def test_files_below_a_root_are_offered_and_added(desk_panel: Panel) -> None:
    top = desk_panel.client.get("/sessions/s1/documents/browse", headers=PART).text
    deep = desk_panel.client.get("/sessions/s1/documents/browse", params={"path": "deep"}, headers=PART).text

    added = desk_panel.client.post(
        "/sessions/s1/documents/add", data={"root": "0", "path": "deep/notes.txt"}, headers=PART
    )

    assert "deep/</a>" in top
    assert "report.md" in top
    assert "notes.txt" in deep
    assert added.status_code == 200
    assert "✓ Added" in added.text
    assert [each.name for each in desk_panel.desk.shelf.documents("s1")] == ["notes.txt"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "deep/../../secret.md",
        "/etc/passwd",
        "%2e%2e/secret.md",
        "..%2fsecret.md",
        "link.md",
        "out/secret.md",
        "a\x00b",
    ],
)
def test_nothing_outside_a_root_is_shown_or_added(desk_panel: Panel, workspace: Path, path: str) -> None:
    (workspace / "docs" / "link.md").symlink_to(workspace / "secret.md")
    (workspace / "docs" / "out").symlink_to(workspace)

    shown = desk_panel.client.get("/sessions/s1/documents/browse", params={"path": path}, headers=PART)
    added = desk_panel.client.post("/sessions/s1/documents/add", data={"root": "0", "path": path}, headers=PART)

    assert (shown.status_code, added.status_code) == (400, 400)
    assert "Secret" not in shown.text + added.text
    assert desk_panel.desk.shelf.documents("s1") == []


@pytest.mark.parametrize("root", ["1", "-1", "x", "99999999999"])
def test_a_root_that_is_none_is_refused(desk_panel: Panel, root: str) -> None:
    address = "/sessions/s1/documents"

    assert desk_panel.client.get(f"{address}/browse", params={"root": root}, headers=PART).status_code == 400
    assert (
        desk_panel.client.post(f"{address}/add", data={"root": root, "path": "report.md"}, headers=PART).status_code
        == 400
    )


def test_another_sessions_document_is_not_found(desk_panel: Panel) -> None:
    desk_panel.store.begin_session("s2")
    _upload(desk_panel, ("report.md", REPORT))
    foreign = desk_panel.desk.shelf.documents("s1")[0].id

    outline = desk_panel.client.get(f"/sessions/s2/documents/{foreign}/outline", headers=PART)
    removed = desk_panel.client.post(f"/sessions/s2/documents/{foreign}/remove", headers=PART)

    assert (outline.status_code, removed.status_code) == (404, 404)
    assert "this session has no such document" in removed.text
    assert len(desk_panel.desk.shelf.documents("s1")) == 1


@pytest.mark.parametrize("document_id", ["..%2f..%2fshelf", "%00", "x" * 3000, "..%5c..", "%2e%2e"])
def test_no_guessed_id_leads_to_a_document(desk_panel: Panel, document_id: str) -> None:
    assert desk_panel.client.get(f"/sessions/s1/documents/{document_id}/outline", headers=PART).status_code == 404
    assert desk_panel.client.post(f"/sessions/s1/documents/{document_id}/remove", headers=PART).status_code == 404


@pytest.mark.parametrize("what", ["documents", "documents/browse", f"documents/{'a' * 32}/outline"])
def test_a_session_that_is_not_there_has_no_documents(desk_panel: Panel, what: str) -> None:
    assert desk_panel.client.get(f"/sessions/nobody/{what}", headers=PART).status_code == 404
    assert _upload(desk_panel, ("report.md", REPORT), session="nobody")[0] == 404
    assert _files(desk_panel) == []


def test_a_folder_of_ten_thousand_files_is_shown_in_pieces(desk_panel: Panel, workspace: Path) -> None:
    for number in range(10_000):
        (workspace / "docs" / "deep" / f"{number:05}.md").touch()

    shown = desk_panel.client.get("/sessions/s1/documents/browse", params={"path": "deep"}, headers=PART).text

    assert shown.count("<li>") == 200
    assert "00199.md" in shown
    assert "00200.md" not in shown
    assert "More files" in shown
    assert len(shown) < 300_000


def test_a_large_outline_is_shown_in_pieces(desk_panel: Panel) -> None:
    _upload(desk_panel, ("many.md", b"".join(b"# Heading %d\n" % number for number in range(1, 1_001))))
    address = f"/sessions/s1/documents/{desk_panel.desk.shelf.documents('s1')[0].id}/outline"

    first, more = (desk_panel.client.get(address, params=asked, headers=PART).text for asked in ({}, {"shown": 400}))

    assert "Heading 200<" in first
    assert "Heading 201<" not in first
    assert "200 of 1,000" in first
    assert "Heading 400<" in more


def test_documents_of_the_command_line_are_on_a_session_and_can_be_removed_and_added_again(
    start_panel: StartPanel, tmp_path: Path
) -> None:
    named = tmp_path / f"{SCRIPT.replace('/', '')}.md"
    named.write_bytes(REPORT)
    panel = start_panel(documents=[named])
    session = panel.client.post("/sessions").headers["location"]
    before = panel.client.get(f"{session}/documents", headers=PART).text
    document = panel.desk.shelf.documents(session.removeprefix("/sessions/"))[0]

    removed = panel.client.post(f"{session}/documents/{document.id}/remove", headers=PART).text
    added = panel.client.post(f"{session}/documents/add", data={"named": "0"}, headers=PART).text

    assert "named at the start" in before
    assert "<script" not in before + removed + added
    assert escape("<script>", quote=False) in removed
    assert "none yet" in removed
    assert "named at the start" in added


def test_documents_are_added_and_removed_by_keyboard(
    look: Callable[..., Page], desk_panel: Panel, tmp_path: Path
) -> None:
    upload = tmp_path / f"{SCRIPT.replace('/', '')} report.md"
    upload.write_bytes(REPORT)
    page = look(desk_panel, viewport={"width": 360, "height": 740}, expects=("400",))
    documents = page.locator("#documents")

    documents.locator("input[type=file]").set_input_files(upload)
    documents.get_by_role("button", name="Upload", exact=True).focus()
    page.keyboard.press("Enter")
    row = documents.locator("ul.documents > li")
    expect(row).to_contain_text("_script_alert(1)_script_ report.md")

    row.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row).to_contain_text("Margin", timeout=30_000)
    expect(row).to_contain_text("lines 5–7")

    documents.get_by_text("Add from the workspace").focus()
    page.keyboard.press("Enter")
    documents.get_by_role("link", name="deep/").focus()
    page.keyboard.press("Enter")
    expect(documents.locator("#browsed")).to_be_focused()
    page.wait_for_function("!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
    documents.get_by_role("button", name="Add notes.txt").focus()
    page.keyboard.press("Enter")
    expect(documents.get_by_role("button", name="Added: notes.txt")).to_be_focused()
    expect(documents.locator("ul.documents > li")).to_have_count(2)
    expect(row.first).to_contain_text("Margin")
    assert Axe().run(page, context="#documents").violations_count == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    documents.locator("input[type=file]").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n"}
    )
    documents.get_by_role("button", name="Upload", exact=True).focus()
    page.keyboard.press("Enter")
    expect(documents.get_by_role("alert")).to_contain_text("a.png is a PNG image")

    documents.locator("input[type=file]").set_input_files(
        {"name": "big.md", "mimeType": "text/markdown", "buffer": b"x" * 100_001}
    )
    assert documents.locator("input[type=file]:invalid").count() == 1
    assert len(desk_panel.desk.shelf.documents("s1")) == 2

    documents.get_by_role("button", name="Remove notes.txt").focus()
    page.keyboard.press("Enter")
    expect(documents.locator("ul.documents > li")).to_have_count(1)
    expect(documents.locator("#shelf > summary")).to_be_focused()
