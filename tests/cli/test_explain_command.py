"""`orchestra explain`, and that its table is whole."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestra import errors
from orchestra.cli.explain import explanations, markdown_of
from orchestra.errors import OrchestraError
from orchestra.notices import NOTICES

ROOT = Path(__file__).parents[2]
ERRORS = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, OrchestraError) and each is not OrchestraError
]


@dataclass(frozen=True)
class Made:
    """What the source makes: the codes of notices, and the classes with the names of their bases, each with its file."""

    codes: tuple[tuple[str, ast.expr], ...]
    classes: tuple[tuple[str, str, frozenset[str]], ...]


@pytest.fixture(scope="module")
def made() -> Made:
    codes: list[tuple[str, ast.expr]] = []
    classes: list[tuple[str, str, frozenset[str]]] = []
    for path in sorted((ROOT / "orchestra").rglob("*.py")):
        place = f"{path.relative_to(ROOT)}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                codes += [(place, code) for code in codes_of_notices(node)]
            elif isinstance(node, ast.ClassDef):
                bases = frozenset(ast.unparse(base).rpartition(".")[2] for base in node.bases)
                classes.append((place, node.name, bases))
    return Made(tuple(codes), tuple(classes))


def codes_of_notices(call: ast.Call) -> Iterator[ast.expr]:
    """What stands for the code where a notice is made."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "warn":
        yield call.args[0]
    elif name == "_warn_later":
        yield call.args[1]
    elif name == "Notice":
        yield next(keyword.value for keyword in call.keywords if keyword.arg == "code")


def test_every_code_of_a_notice_that_is_used_stands_in_the_registry_and_the_reverse(made):
    used = {(place, code.value) for place, code in made.codes if isinstance(code, ast.Constant)}

    assert {(place, code) for place, code in used if code not in NOTICES} == set()
    assert {code for _, code in used} == set(NOTICES)


def test_a_code_of_a_notice_that_is_no_literal_is_that_of_an_error(made):
    computed = {ast.unparse(code) for _, code in made.codes if not isinstance(code, ast.Constant)}

    assert computed <= {"code", "error.code"}


def test_every_error_stands_in_the_one_tree(made):
    names = {each.__name__ for each in ERRORS} | {"OrchestraError"}

    elsewhere = {
        f"{place}: {name}" for place, name, bases in made.classes if place != "orchestra/errors.py" and names & bases
    }

    assert elsewhere == set()


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_says_what_it_means_its_causes_and_what_to_do(error):
    assert "code" in vars(error)
    assert vars(error)["__doc__"]
    assert vars(error)["causes"]
    assert vars(error)["default_suggestion"].endswith((".", "?"))


@pytest.mark.parametrize("error", ERRORS)
def test_the_tree_of_the_docstring_names_every_error(error):
    tree = {tuple(line.replace("│", "").strip(" ├└─").split()) for line in (errors.__doc__ or "").splitlines()}

    assert (error.__name__, error.code) in tree


def test_the_page_of_codes_is_up_to_date():
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")

    assert page == markdown_of(explanations()), "run `orchestra explain --markdown > docs/errors.md`"


def test_a_code_is_explained_in_80_columns(call):
    done = call("explain", "model_rate_limited")

    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("MODEL_RATE_LIMITED (error)\nMeans ")
    assert [line.split("  ")[0] for line in done.stdout.splitlines() if line[0] != " "][1:] == [
        "Means",
        "Causes",
        "Do",
        "Exit code",
    ]
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("INPUT_INVALID", 2), ("WAITING", 4), ("CANCELLED", 130), ("TIMEOUT", 1), ("READ_IN_PARTS", None)],
)
def test_json_says_with_what_the_command_ends(call, code, exit_code):
    (explained,) = json.loads(call("explain", code, "--json").stdout)

    assert explained["exit_code"] == exit_code


def test_a_code_that_errors_share_and_one_that_is_also_a_notice_are_explained_whole(call):
    shared = call("explain", "TIMEOUT").stdout
    both = call("explain", "POINTERS_UNRESOLVED").stdout

    assert "left behind" in shared
    assert "did not arrive" in " ".join(shared.split())
    assert both.count("POINTERS_UNRESOLVED (") == 2


@pytest.mark.parametrize(
    ("code", "near"),
    [("MODEL_RATELIMITED", "MODEL_RATE_LIMITED"), ("depth", "CALL_DEPTH_EXCEEDED"), ("Time-out", "TIMEOUT")],
)
def test_an_unknown_code_gets_those_that_are_near(call, code, near):
    done = call("explain", code)

    assert (done.exit_code, done.stdout) == (2, "")
    assert near in done.stderr.splitlines()[1]


@pytest.mark.parametrize("code", ["", "xyz", "é\x1b[31m"])
def test_a_code_that_is_like_none_is_answered_with_where_they_are_listed(call, code):
    done = call("explain", code)

    assert done.exit_code == 2
    assert done.stderr.splitlines()[1] == "  `orchestra explain` lists all."
    assert "\x1b" not in done.stderr


def test_without_a_code_all_are_listed(call):
    done = call("explain")

    listed = [tuple(line.split()[:2]) for line in done.stdout.splitlines()]
    assert listed == [(each.code, each.kind) for each in explanations()]
    assert len(set(listed)) == len(listed)
