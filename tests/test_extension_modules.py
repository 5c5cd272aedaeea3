"""Compiled modules are loaded by themselves, and are the ones that their packages know."""

from __future__ import annotations

import subprocess
import sys

import pytest

from orchestra.extension_modules import extension_module


def printed(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("work", "extension", "around"),
    [
        ("from orchestra.document import count_tokens; count_tokens('a')", "bpe_openai._bindings", "bpe_openai"),
        ("from orchestra.skills.conditions import Condition; Condition('1 < 2').verdict({})", "cel.cel", "cel.cli"),
    ],
)
def test_nothing_is_loaded_of_the_package_around_it(work: str, extension: str, around: str) -> None:
    assert (
        printed(f"{work}; import sys; print({extension!r} in sys.modules, {around!r} in sys.modules)") == "True False\n"
    )


@pytest.mark.parametrize("first", ["import cel; ", ""])
def test_the_package_has_the_same_module_whichever_comes_first(first: str) -> None:
    code = (
        f"{first}from orchestra.extension_modules import extension_module; one = extension_module('cel', 'cel'); "
        "import cel, sys; print(sys.modules['cel.cel'] is one, cel.compile is one.compile, cel.evaluate('1 + 1'))"
    )

    assert printed(code) == "True True 2\n"


@pytest.mark.parametrize(("package", "name"), [("cel", "nothing"), ("no_such_package", "cel")])
def test_what_is_not_there_is_said_as_by_any_import(package: str, name: str) -> None:
    with pytest.raises(ImportError, match=f"No module named '{package}"):
        extension_module(package, name)
