"""Conditions in skills: expressions of the Common Expression Language over what a run knows.

A condition is text of a skill, and so untrusted: it is evaluated by a library, without loops over loops, and
never by Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from orchestra.errors import SkillInvalid
from orchestra.extension_modules import extension_module

LONGEST_CONDITION = 1000  # characters
MOST_COMPREHENSIONS = 1  # one within another would take time by the product of their lists
_MAP = re.compile(r"\.\s*map\s*\(")
_COMPREHENSION = re.compile(r"\.\s*(map|filter|exists|exists_one|all)\s*\(")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds. One that cannot be decided does not hold; `doubt` says why."""

    holds: bool
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression such as `step_1.output.urgent == true`, checked when it is made."""

    text: str

    def __post_init__(self) -> None:
        _compiled(self.text)

    def verdict(self, values: Mapping[str, Any]) -> Verdict:
        """Over JSON values by name. A name or field that is not there, or a type that does not fit, is a doubt."""
        try:
            outcome = _compiled(self.text).execute(dict(values))
        except (KeyError, IndexError, AttributeError) as error:
            return Verdict(False, f"{self.text!r}: there is no {error}")
        except (TypeError, ValueError, RuntimeError, ArithmeticError) as error:
            return Verdict(False, f"{self.text!r}: {_first_sentence(str(error))}")
        if isinstance(outcome, bool):
            return Verdict(outcome)
        return Verdict(False, f"{self.text!r} is neither true nor false but {type(outcome).__name__}")


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    if not text.strip():
        raise SkillInvalid("a condition is empty")
    if len(text) > LONGEST_CONDITION:
        raise SkillInvalid(f"a condition is {len(text):,} characters long", cause=f"at most {LONGEST_CONDITION:,}")
    if len(_COMPREHENSION.findall(text)) > MOST_COMPREHENSIONS:
        raise SkillInvalid(f"the condition {text!r} goes through several lists", cause="one at most, to stay fast")
    if _MAP.search(text):
        raise SkillInvalid(
            f"the condition {text!r} makes a list", cause="a list of lists takes long; exists, all and filter ask one"
        )
    if "//" in text and "\n" in text:
        raise SkillInvalid(f"the condition {text!r} has a comment", cause="a comment would hide what it goes through")
    cel = extension_module("cel", "cel")  # the package around it loads a command with its terminal library
    try:
        return cel.compile(text)
    except ValueError as error:
        cause = _first_sentence(str(error).partition("ERROR:")[2] or str(error))
        raise SkillInvalid(f"the condition {text!r} cannot be read", cause=cause) from error


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n")[0].split())[:200]
