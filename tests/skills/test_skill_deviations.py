"""What folders of skills really hold, by the table in `tests/data/skill_deviations.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from orchestra.skills import SkillLibrary
from orchestra.skills.skill import Diagnostic

TABLE = Path(__file__).parents[1] / "data" / "skill_deviations.toml"
CASES = tomllib.loads(TABLE.read_text(encoding="utf-8"))["case"]
GOOD = "---\nname: good\ndescription: Does good.\n---\nDo good.\n"
_TIMES = re.compile(r"\{(\d+) times (.+?)\}")


def write(root: Path, case: dict[str, Any]) -> Path:
    """The case's folder, beside one that holds a good skill."""
    (root / "good").mkdir()
    (root / "good" / "SKILL.md").write_text(GOOD, encoding="utf-8")
    (root / "secret.md").write_text(GOOD.replace("good", "secret"), encoding="utf-8")
    folder = root / case.get("folder", "tone-check")
    folder.mkdir()
    for name, text in case.get("files", {}).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_TIMES.sub(lambda found: found[2] * int(found[1]), text).encode())
    for name, target in case.get("links", {}).items():
        (folder / name).symlink_to(target)
    for name in case.get("pipes", []):
        os.mkfifo(folder / name)
    if "bytes" in case:
        (folder / "SKILL.md").write_bytes(bytes.fromhex(case["bytes"]))
    if "pad" in case:
        with (folder / "SKILL.md").open("ab") as file:
            file.write(b"x" * case["pad"])
    return folder


def told(diagnostic: Diagnostic, folder: Path) -> str:
    place = str(Path(diagnostic.path).relative_to(folder)) + (f":{diagnostic.line}" if diagnostic.line else "")
    return f"{place} {diagnostic.severity} {diagnostic.message.removeprefix('SKILL_INVALID: ')}"


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_a_folder_is_read_as_the_table_says(tmp_path: Path, case: dict[str, Any]) -> None:
    folder = write(tmp_path, case)

    library = SkillLibrary.from_path(tmp_path)

    others = [manifest for name, manifest in library.manifests.items() if name != "good"]
    assert "good" in library
    assert [
        told(found, folder)[: len(expected)] for found, expected in zip(library.diagnostics, case["found"], strict=True)
    ] == case["found"]
    assert len(others) == case.get("loads", True)
    for manifest in others:
        assert manifest.name == case.get("name", manifest.name)
        assert manifest.description == case.get("description", manifest.description)
        assert list(manifest.allowed_tools or ()) == case.get("tools", list(manifest.allowed_tools or ()))
        assert (manifest.allowed_tools is None) == ("tools" not in case)
        assert manifest.is_listed is case.get("is_listed", True)
