"""SKILL.md files as people write them, and as attackers do."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.errors import SkillInvalid
from orchestra.skills.front_matter import MAX_FILE_BYTES
from orchestra.skills.loading import read_skill
from orchestra.skills.skill import Diagnostic, Skill, fold_name


@pytest.fixture
def write(tmp_path: Path):
    def write_file(content: str | bytes, folder: str = "tone-check") -> Path:
        path = tmp_path / folder / "SKILL.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def test_every_field_of_a_good_file_is_read_without_a_diagnostic(write) -> None:
    path = write(
        "---\nname: tone-check\ndescription: Finds the tone.\nlicense: MIT\nallowed-tools: Bash(git:*) Read\n"
        "metadata:\n  output_hint: one word\n  layer: enhancement\n"
        '  max_tokens: "300"\n  author: someone\n---\n\nName it.\n'
    )

    skill, diagnostics = read_skill(path)

    assert diagnostics == ()
    assert skill == Skill(
        "tone-check",
        "Finds the tone.",
        "Name it.",
        "one word",
        "enhancement",
        300,
        str(path),
        allowed_tools=("Bash(git:*)", "Read"),
    )


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(write) -> None:
    path = write(
        b"\xef\xbb\xbf---\r\nname: tone-check\r\ndescription: Finds the tone.\r\n---\r\nName it.\r\nTwice.\r\n"
    )

    skill, diagnostics = read_skill(path)

    assert (skill.description, skill.system_prompt, diagnostics) == ("Finds the tone.", "Name it.\nTwice.", ())


def test_a_folded_description_becomes_one_line(write) -> None:
    path = write("---\nname: tone-check\ndescription: >\n  Finds\n  the tone.\n---\nName it.\n")

    skill, _ = read_skill(path)

    assert skill.description == "Finds the tone."


def test_a_horizontal_rule_in_the_body_stays_in_the_body(write) -> None:
    path = write("---\nname: tone-check\ndescription: Finds the tone.\n---\nOne.\n\n---\n\nTwo.\n")

    skill, _ = read_skill(path)

    assert skill.system_prompt == "One.\n\n---\n\nTwo."


def test_a_skill_can_be_kept_out_of_the_catalogue(write) -> None:
    path = write("---\nname: tone-check\ndescription: Finds it.\ndisable-model-invocation: true\n---\nName it.\n")

    skill, _ = read_skill(path)

    assert skill.is_listed is False


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("description: Use when: the tone matters", "Use when: the tone matters"),
        ("description: It's for tone: nothing else", "It's for tone: nothing else"),
        ("description: `tone` finder", "`tone` finder"),
        ("description: [beta] finds the tone", "[beta] finds the tone"),
        ('description: "Tone" and more: all of it', '"Tone" and more: all of it'),
    ],
)
def test_a_value_that_lacks_its_quotes_is_mended_with_a_warning(write, line: str, description: str) -> None:
    path = write(f"---\nname: tone-check\n{line}\n---\nName it.\n")

    skill, diagnostics = read_skill(path)

    assert skill.description == description
    assert diagnostics == (Diagnostic(str(path), 3, "warning", "a value was quoted to make it YAML"),)


@pytest.mark.parametrize(
    ("front", "line", "warning"),
    [
        ("name: Tone_Check\ndescription: D.", 2, "name 'Tone_Check' is not 1 to 64 of a-z, 0-9 and single hyphens"),
        ("name: tone--check\ndescription: D.", 2, "name 'tone--check' is not 1 to 64 of a-z, 0-9 and single hyphens"),
        ("description: D.\nname: other", 3, "name 'other' differs from its folder 'tone-check'"),
        ("description: D.", 1, "has no name: called 'tone-check' after its folder"),
        (f"name: tone-check\ndescription: {'d' * 1025}", 3, "description is longer than 1,024 characters"),
        ("name: tone-check\ndescription: D.\nmetadata:\n  max_tokens: -5", 5, "`max_tokens` is ignored"),
        ("name: tone-check\ndescription: D.\nmetadata:\n  layer: top", 5, "`layer` is ignored"),
        ("name: tone-check\ndescription: D.\nmetadata: [a, b]", 4, "`metadata` is not a map: ignored"),
    ],
)
def test_a_deviation_warns_with_its_line_and_the_skill_still_loads(write, front: str, line: int, warning: str) -> None:
    path = write(f"---\n{front}\n---\nName it.\n")

    skill, diagnostics = read_skill(path)

    assert skill.system_prompt == "Name it."
    assert [(found.line, found.severity) for found in diagnostics if found.message.startswith(warning)] == [
        (line, "warning")
    ]


def test_bytes_that_are_not_utf_8_are_replaced_with_a_warning(write) -> None:
    path = write(b"---\nname: tone-check\ndescription: caf\xe9 tone\n---\nName it.\n")

    skill, diagnostics = read_skill(path)

    assert skill.description == "caf\ufffd tone"
    assert [(found.line, found.severity) for found in diagnostics] == [(3, "warning")]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("Name it.\n", 1, "has no front matter"),
        ("", 1, "has no front matter"),
        ("---\nname: tone-check\ndescription: D.\n", 1, "does not end"),
        ("---\nname: tone-check\n---\nName it.\n", 1, "has no description"),
        ("---\nname: tone-check\ndescription:\n---\nName it.\n", 3, "has no description"),
        ("---\nname: tone-check\ndescription: D.\n---\n \n", 4, "has no body"),
        ("---\nname: self\ndescription: D.\n---\nName it.\n", 2, "cannot be used: 'self'"),
        ("---\n- a\n- b\n---\nName it.\n", 2, "not a list of `key: value` lines"),
        ("---\nname: tone-check\nno colon here\n---\nName it.\n", 3, "is not YAML"),
        ("---\nname: tone-check\ndescription: \x07bell\n---\nName it.\n", 2, "is not YAML"),
        (f"---\n{BOMB}---\nName it.\n", 3, "uses a YAML alias"),
        ("---\nname: !!python/object/apply:os.system [ls]\n---\nName it.\n", 2, "uses a YAML tag"),
        ("---\nname: !thing x\n---\nName it.\n", 2, "uses a YAML tag"),
        ("---\nname: " + "[" * 5000 + "\n---\nName it.\n", 2, "too deeply"),
        ("---\nname: tone-check\ndescription: 2024-99-99\n---\nName it.\n", 2, "is not YAML"),
        ("---\n" + "k: v\n" * 8000 + "---\nName it.\n", 1, "too long a front matter"),
        ("x" * (MAX_FILE_BYTES + 1), 0, "is too large"),
    ],
)
def test_a_file_without_a_usable_skill_is_refused_with_its_line(write, content: str, line: int, reason: str) -> None:
    path = write(content)

    with pytest.raises(SkillInvalid, match="SKILL_INVALID") as caught:
        read_skill(path)

    assert reason in str(caught.value)
    assert (caught.value.details["path"], caught.value.details["line"]) == (str(path), line)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").mkdir()

    with pytest.raises(SkillInvalid, match="is not a file"):
        read_skill(tmp_path / "SKILL.md")


@pytest.mark.parametrize("name", ["fact_extraction", "Fact-Extraction", " FACT  extraction ", "fact\x1b-extraction"])
def test_names_fold_to_one_form(name: str) -> None:
    folded = fold_name(name)

    assert folded == "fact-extraction"


@given(st.text())
def test_folding_a_name_twice_changes_nothing(name: str) -> None:
    once = fold_name(name)

    assert fold_name(once) == once
    assert once == "" or once.isprintable()


FRAGMENT = st.sampled_from(
    [
        *("---\n", "name: ", "description: ", "metadata:\n", "  max_tokens: ", "  layer: ", "Use when: x", "'", '"'),
        *(
            "|\n",
            ">-\n",
            "[",
            "]",
            "{",
            "}",
            "*a",
            "&a ",
            "!!str ",
            "- ",
            "\t",
            "\n",
            ": ",
            "#",
            "\x00",
            "é",
            "? ",
            "2024-13-01",
        ),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(FRAGMENT, st.text(max_size=5)), max_size=30))
def test_any_file_loads_or_is_refused_with_our_error(tmp_path_factory, pieces: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz" / "SKILL.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("---\ndescription: D\n" + "".join(pieces) + "\n---\nBody", encoding="utf-8", errors="surrogatepass")

    outcome = _load(path)

    assert outcome == "refused" or (outcome.description and outcome.system_prompt and "\n" not in outcome.description)


def _load(path: Path) -> Skill | Literal["refused"]:
    try:
        return read_skill(path)[0]
    except SkillInvalid:
        return "refused"


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("allowed-tools: Bash(git:*) Read", ("Bash(git:*)", "Read")),
        (
            "allowed-tools: Bash(git add:*, git commit:*), Read,Write",
            ("Bash(git add:*, git commit:*)", "Read", "Write"),
        ),
        ("allowed-tools:\n  - Read\n  - Bash(git log:*)\n  - Read", ("Read", "Bash(git log:*)")),
        ("allowed-tools: [read_section, search_document]", ("read_section", "search_document")),
        ("allowed-tools:", ()),
        ("allowed-tools: {a: b}", ()),
        ("license: MIT", None),
    ],
)
def test_tools_are_read_however_they_are_listed(write, written: str, tools: tuple[str, ...] | None) -> None:
    path = write(f"---\nname: tone-check\ndescription: D.\n{written}\n---\nName it.\n")

    skill, _ = read_skill(path)

    assert skill.allowed_tools == tools


@pytest.mark.parametrize("place", ["{}", "metadata:\n  {}"])
@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("approval: required", "needs_approval", True),
        ("approval: true", "needs_approval", True),
        ("approval: none", "needs_approval", False),
        ("approval: whatever that is", "needs_approval", True),
        ("max-turns: 3", "max_turns", 3),
        ('max_turns: "3"', "max_turns", 3),
        ("timeout: 30", "timeout_s", 30.0),
        ("timeout: 1.5m", "timeout_s", 90.0),
        ("retries: 0", "retries", 0),
        ("retries: 2", "retries", 2),
    ],
)
def test_what_a_skill_asks_of_its_run_is_read_in_metadata_and_beside_it(write, place, line, field, value) -> None:
    path = write(f"---\nname: tone-check\ndescription: D.\n{place.format(line)}\n---\nName it.\n")

    skill, diagnostics = read_skill(path)

    assert getattr(skill, field) == value
    assert [found for found in diagnostics if found.severity != "note"] == []


@pytest.mark.parametrize("line", ["timeout: -1", "timeout: soon", "retries: 3", "max-turns: 0", "timeout: .nan"])
def test_what_a_skill_asks_beyond_reason_is_left_out_with_a_warning(write, line: str) -> None:
    path = write(f"---\nname: tone-check\ndescription: D.\n{line}\n---\nName it.\n")

    skill, diagnostics = read_skill(path)

    assert (skill.timeout_s, skill.retries, skill.max_turns) == (None, None, None)
    assert [found.line for found in diagnostics] == [4]
