"""A skill as the pipeline uses it, and the one way in which names are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from orchestra.skills.manifest import Manifest

Severity = Literal["note", "warning", "error"]
MAX_DERIVED_LENGTH = 200
SHIPPED = "builtin"  # the source of skills that come with the package
RESERVED_NAMES = frozenset({"self"})  # in a plan, `self` says that the planner answered
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])|\n\s*\n")


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill, loaded. `name` is folded (see `fold_name`); `description` is what a planner chooses by.

    `output_hint` says in a phrase what the reply looks like, `max_tokens` bounds it (None: the run's bound),
    `source` is "builtin", "custom", or the SKILL.md it was read from. A skill that is not `is_listed`
    can be named by a plan, and is kept out of the catalogue. `allowed_tools` are patterns as the Agent Skills format
    writes them (None: what the run has); one that is not `is_trusted` gets no tools. `needs_approval`: a person
    approves its work before it starts. `max_turns`, `timeout_s` and `retries` None: the run's.

    `function` is the callable of a code skill, `parameters` and `output` what it takes and gives (a JSON schema, or
    for parameters its short form; None: not said), `output_model` the pydantic model that `output` is of, if it is of
    one. `manifest` holds the rest of what was declared; equal skills may come from different places.
    """

    name: str
    description: str
    system_prompt: str
    output_hint: str = ""
    layer: str = "execution"
    max_tokens: int | None = None
    source: str = ""
    is_listed: bool = True
    allowed_tools: tuple[str, ...] | None = None
    is_trusted: bool = True
    needs_approval: bool = False
    max_turns: int | None = None
    timeout_s: float | None = None
    retries: int | None = None
    function: Callable[..., Any] | None = None
    parameters: Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None
    output_model: type[Any] | None = field(default=None, compare=False)
    manifest: Manifest | None = field(default=None, compare=False, repr=False)


class Diagnostic(NamedTuple):
    """A deviation found in a skill's file. `line` is 1-indexed; 0 when it is about the whole file.

    A note: read as it was meant. A warning: something was mended or left out. An error: there is no such skill.
    """

    path: str
    line: int
    severity: Severity
    message: str


@lru_cache(maxsize=1024)
def fold_name(name: str) -> str:
    """Lower case, with runs of blanks, `_` and `-` as one `-`, and nothing that a terminal would obey.

    Two names are the same skill when they fold to the same text; folding twice changes nothing.
    """
    printable = "".join(character for character in name.lower() if character.isprintable() or character.isspace())
    return re.sub(r"[\s_-]+", "-", printable).strip("-")


def first_sentence(text: str) -> str:
    """The first sentence on one line, without a heading's marks, cut at a word when it is long."""
    sentence = " ".join(_SENTENCE_END.split(text.lstrip("# \t\n"), maxsplit=1)[0].split())
    if len(sentence) <= MAX_DERIVED_LENGTH:
        return sentence
    return sentence[: MAX_DERIVED_LENGTH - 1].rsplit(" ", 1)[0] + "…"
