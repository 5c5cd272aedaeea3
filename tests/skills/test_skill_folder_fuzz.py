"""Mutated skill folders: whatever they hold, each is read or refused with an error of ours."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestra.errors import OrchestraError
from orchestra.skills import SkillLibrary
from orchestra.skills.manifest import Manifest
from orchestra.skills.validating import validate

WHOLE = {
    "SKILL.md": "---\nname: mail\ndescription: Sorts mail.\nallowed-tools: Read\nlayer: execution\n"
    'metadata:\n  max_tokens: "300"\n---\nSort it.\n',
    "skill.yaml": "name: mail\nversion: 1.0.0\ntype: composite\nsub_skills:\n  - name: one\n    path: ./sub_skills/one\n"
    "    triggers: [a, b]\n  - {name: two, dependencies: [one]}\nrouting:\n  strategy: conditional\n  max_depth: 3\n"
    "  conditions:\n    - if: 'step_1.output.urgent == true'\n      then: [two]\n    - else: [one]\n"
    "execution: {allow_parallel: true, timeout_per_skill: 30, retry_on_failure: 2}\n"
    "parameters: {type: object, properties: {n: {type: integer}}, required: [n]}\noutput: schemas/output.json\n",
    "sub_skills/one/SKILL.md": "---\nname: one\ndescription: First.\n---\nDo one.\n",
    "subskill/two/two.md": "# Two\n\nDo two.\n",
    "schemas/output.json": '{"type": "object"}',
    "prompts/prompt_3b.txt": "Small.\n",
    "references/terms.md": "Terms.\n",
}
PIECES = (
    *(
        "---\n",
        ": ",
        "- ",
        "  ",
        "\t",
        "\n",
        "[",
        "]",
        "{",
        "}",
        "*a",
        "&a ",
        "!!python/none ",
        "!x ",
        "|",
        ">-",
        '"',
        "'",
    ),
    *(
        "\x00",
        "\ud800",
        "é",
        "…",
        "../",
        "/",
        "~",
        "null",
        "true",
        "1e999",
        "0x1F",
        ".nan",
        "2024-99-99",
        "1:30",
        "<<: ",
    ),
    *(
        "name: ",
        "description: ",
        "sub_skills: ",
        "path: ..",
        "type: code\n",
        "function: x.py:y\n",
        "? ",
        "=",
        "%YAML 9\n",
    ),
)
NAMES = st.sampled_from(sorted(WHOLE))
INSERTION = st.tuples(st.just("insert"), NAMES, st.integers(0, 600), st.sampled_from(PIECES) | st.text(max_size=4))
REMOVAL = st.tuples(st.just("cut"), NAMES, st.integers(0, 600), st.integers(1, 60))
REPETITION = st.tuples(st.just("repeat"), NAMES, st.integers(0, 600), st.integers(2, 400))
REPLACEMENT = st.tuples(
    st.just("replace"), NAMES, st.sampled_from(["folder", "pipe", "loop", "outward", "gone"]), st.none()
)
MUTATIONS = st.lists(st.one_of(INSERTION, REMOVAL, REPETITION, REPLACEMENT), min_size=1, max_size=6)


def mutated(root: Path, mutations) -> Path:
    shutil.rmtree(root, ignore_errors=True)
    for name, text in WHOLE.items():
        (root / "mail" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "mail" / name).write_text(text, encoding="utf-8")
    (root / "beside").mkdir()
    (root / "beside" / "SKILL.md").write_text("---\nname: beside\ndescription: B.\n---\nB.\n")
    for kind, name, where, what in mutations:
        file = root / "mail" / name
        if kind == "replace":
            put_in_place(file, where)
        elif file.is_file() and not file.is_symlink():
            text = file.read_text(encoding="utf-8", errors="surrogatepass")
            at = where % (len(text) + 1)
            if kind == "insert":
                text = text[:at] + what + text[at:]
            elif kind == "cut":
                text = text[:at] + text[at + what :]
            else:
                text = text[:at] + text[at : at + 3] * what + text[at:]
            file.write_text(text, encoding="utf-8", errors="surrogatepass")
    return root


def put_in_place(file: Path, kind: str) -> None:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    with suppress(FileNotFoundError):
        file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "loop":
        file.symlink_to(file.name)
    elif kind == "outward":
        file.symlink_to("/etc/passwd")


def reach_everything(library: SkillLibrary, manifest: Manifest, level: int = 0) -> None:
    """Load a skill and all below it; what is refused is refused with an error of ours."""
    with suppress(OrchestraError):
        skill = library.load(manifest, model="llama3.2:3b")
        assert skill.system_prompt or manifest.type != "prompt"
        assert "passwd" not in skill.system_prompt
        assert "root:" not in skill.system_prompt
    if level > 8:
        return
    with suppress(OrchestraError):
        for child in library.sub_skills(manifest):
            reach_everything(library, child, level + 1)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MUTATIONS)
def test_a_mutated_folder_is_read_or_refused_with_an_error_of_ours(tmp_path_factory, mutations) -> None:
    root = mutated(tmp_path_factory.getbasetemp() / "mutated", mutations)

    library = SkillLibrary.from_path(root)

    assert "beside" in library
    assert all(found.line >= 0 and found.message for found in library.diagnostics)
    for manifest in library.manifests.values():
        assert manifest.description == " ".join(manifest.description.split())
        reach_everything(library, manifest)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MUTATIONS)
def test_a_mutated_folder_can_be_validated(tmp_path_factory, mutations) -> None:
    root = mutated(tmp_path_factory.getbasetemp() / "validated", mutations)

    results = validate(root)

    assert {result.path.parent.name for result in results} <= {"mail", "beside"}
    for result in results:
        for found in result.diagnostics:
            assert found.severity in ("note", "warning", "error")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MUTATIONS)
def test_a_mutated_folder_can_be_discovered(tmp_path_factory, mutations) -> None:
    root = mutated(tmp_path_factory.getbasetemp() / "project" / ".agents" / "skills", mutations)

    library = SkillLibrary.discover(root.parents[1], home=root / "nobody")

    assert "beside" in library
    assert not any(manifest.is_trusted for manifest in library.manifests.values())
