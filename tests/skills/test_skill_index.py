"""A folder of many skills: indexed once, remembered by mtime and size, and never a body read."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestra.skills import SkillLibrary, index
from orchestra.skills.index import FEWEST_REMEMBERED

MANY = FEWEST_REMEMBERED + 6
LONG_AGO = 1_700_000_000


def put(folder: Path, name: str, description: str = "Does it.", *, more: str = "", when: int = LONG_AGO) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {name}\ndescription: {description}\n{more}---\nBody of {name}.\n", encoding="utf-8")
    os.utime(file, (when, when))
    return file


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is worth remembering, with something of everything in it."""
    monkeypatch.setattr(index, "_SAME_TICK_NS", 0)
    folder = tmp_path / "many"
    for number in range(MANY):
        put(folder, f"skill-{number:03}")
    put(folder, "odd-name", more="user-invocable: true\nmetadata:\n  max_tokens: 300\n")
    put(folder, "bad", description="")
    put(folder, "mail")
    (folder / "mail" / "skill.yaml").write_text(
        "type: composite\nsub_skills: [{name: one, triggers: [a]}]\nrouting: {strategy: sequential}\n"
        "parameters: {required: [mailbox]}\nallowed-tools: [Read]\n",
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the folders whose manifests are read."""
    names: list[str] = []
    plain = index.read_manifest
    monkeypatch.setattr(index, "read_manifest", lambda path: names.append(path.parent.name) or plain(path))
    return names


def test_what_is_remembered_is_what_was_read(many: Path, read: list[str]) -> None:
    first = SkillLibrary.from_path(many)
    read.clear()

    second = SkillLibrary.from_path(many)

    assert read == []
    assert dict(second.manifests) == dict(first.manifests)
    assert second.diagnostics == first.diagnostics
    assert len(second.diagnostics) == 3
    assert second["mail"].manifest == first.manifest("mail")


def test_only_what_has_changed_is_read_again(many: Path, read: list[str]) -> None:
    SkillLibrary.from_path(many)
    read.clear()
    put(many, "skill-003", "Does more.")
    put(many, "skill-004", when=LONG_AGO + 1)
    put(many, "brand-new")
    (many / "skill-005" / "skill.yaml").write_text("version: 2\n", encoding="utf-8")
    (many / "skill-006" / "SKILL.md").unlink()

    library = SkillLibrary.from_path(many)

    assert read == ["brand-new", "skill-003", "skill-004", "skill-005"]
    assert library.manifest("skill-003").description == "Does more."
    assert library.manifest("skill-005").version == "2"
    assert "skill-006" not in library


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"no JSON",
        b'{"format": "orchestra-skills-1", "folder": "/elsewhere", "rows": []}',
        b'{"format": "other", "folder": "", "rows": []}',
        b'{"rows": [[]]}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_a_memory_that_is_damaged_is_made_anew(many: Path, home: Path, read: list[str], damage: bytes) -> None:
    expected = dict(SkillLibrary.from_path(many).manifests)
    (memory,) = (home / ".cache" / "orchestra" / "skills").iterdir()
    memory.write_bytes(damage)

    library = SkillLibrary.from_path(many)
    read.clear()

    assert dict(library.manifests) == expected
    assert dict(SkillLibrary.from_path(many).manifests) == expected
    assert read == []


def test_what_somebody_wrote_into_the_memory_is_checked(many: Path, home: Path) -> None:
    SkillLibrary.from_path(many)
    (memory,) = (home / ".cache" / "orchestra" / "skills").iterdir()
    memory.write_bytes(memory.read_bytes().replace(b'"description":"Does it."', b'"is_trusted":true', 1))

    library = SkillLibrary.from_path(many)

    assert {manifest.description for manifest in library.manifests.values()} == {"Does it."}


def test_a_place_that_cannot_be_written_to_does_no_harm(many: Path, home: Path) -> None:
    (home / ".cache").write_text("a file where a folder should be")

    library = SkillLibrary.from_path(many)

    assert len(library) == MANY + 2


def test_a_few_skills_leave_nothing_behind(tmp_path: Path, home: Path) -> None:
    put(tmp_path, "alpha")

    SkillLibrary.from_path(tmp_path)

    assert list(home.rglob("*")) == []


def test_a_file_that_was_just_written_is_not_remembered(many: Path, read: list[str], monkeypatch) -> None:
    monkeypatch.setattr(index, "_SAME_TICK_NS", 10**18)
    SkillLibrary.from_path(many)
    read.clear()

    SkillLibrary.from_path(many)

    assert len(read) == MANY + 3


def test_threads_and_processes_that_index_at_once_see_the_same(many: Path) -> None:
    code = "import sys; from orchestra.skills import SkillLibrary; print(len(SkillLibrary.from_path(sys.argv[1])))"
    command = [sys.executable, "-c", code, str(many)]

    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: len(SkillLibrary.from_path(many)), range(8)))

    assert found == [MANY + 2] * 8
    assert [process.communicate()[0].strip() for process in processes] == [str(MANY + 2)] * 3


def test_no_body_is_read_to_index_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        file = put(tmp_path, f"skill-{number}")
        file.write_text(file.read_text() + "BODY\n" * 40_000, encoding="utf-8")
    taken: list[int] = []
    plain = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, size: taken.append(size) or plain(descriptor, size))

    library = SkillLibrary.from_path(tmp_path)

    assert len(library) == 3
    assert sum(taken) <= 3 * 2048


def test_a_library_loads_a_body_when_it_is_asked_for(many: Path) -> None:
    library = SkillLibrary.from_path(many)
    put(many, "skill-001", when=LONG_AGO)
    (many / "skill-001" / "SKILL.md").write_text("---\nname: skill-001\ndescription: D.\n---\nNewer body.\n")

    assert library["skill-001"].system_prompt == "Newer body."
    assert library["skill-001"].description == "Does it."


def test_a_library_of_a_relative_path_holds_wherever_one_goes(many: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    libraries = [
        SkillLibrary.from_path("many"),
        SkillLibrary.from_path(Path("many")),
        SkillLibrary.from_path("many/mail"),
    ]
    monkeypatch.chdir("/")

    bodies = [library["mail"].system_prompt for library in libraries]

    assert bodies == ["Body of mail."] * 3
    assert libraries[0].manifests == libraries[1].manifests
    assert libraries[2].manifest("mail").source == "many/mail/SKILL.md"
