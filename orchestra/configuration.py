"""What is set, and where: by an argument, else by the environment, else in a file, else by default.

A setting has one name everywhere: `max_workers=8` for the function, `ORCHESTRA_MAX_WORKERS=8` in the environment,
`max_workers = 8` at the top of `orchestra.toml`. What is set by skill is a table there, `[timeout_per_skill]`, and
`ORCHESTRA_TIMEOUT_PER_SKILL=translation=90,code-analysis=120` in the environment. "none" stands for None in both.

Nothing looks for the file by itself: it is the one that the caller names, else the one in `ORCHESTRA_CONFIG`. So a
function's result does not depend on the folder that it is called in; the command, which a person starts in a folder of
his, names the `orchestra.toml` that it finds there. A value is checked where it is read, also if another one wins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from orchestra.errors import InputInvalid
from orchestra.settings import RANGES, ModelChoice, Options, Range, Settings
from orchestra.skills.policy import Policy

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FILE_NAME = "orchestra.toml"
FILE_VARIABLE = "ORCHESTRA_CONFIG"
TEXTS = ("model", "planner_model", "synthesis_model", "store")
"""What is read as it stands: names of models, and where runs are kept."""
TABLES = ("permissions", "modes", "tiers")
"""Tables of the file that are handed on as they are, to be read by whom they concern."""

TIERS = ("fast", "balanced", "strong")

_LONGEST_SHOWN = 80
_DEFAULTS = {field.name: getattr(Settings(), field.name) for field in fields(Settings)}
_NAMES = (*TEXTS, *_DEFAULTS)
_TEXT = Range("a text that is not empty", lambda value: isinstance(value, str) and bool(value.strip()))

Source = Literal["argument", "environment", "file", "default"]


@dataclass(frozen=True, slots=True)
class Value:
    """One setting and where it comes from: `place` is the variable's name or the file's path, else empty."""

    name: str
    value: Any
    source: Source
    place: str = ""


_DEFAULT_VALUES = {name: Value(name, _DEFAULTS.get(name), "default") for name in _NAMES}
_VARIABLES = {f"ORCHESTRA_{name.upper()}": name for name in _NAMES}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Every setting by name, in a fixed order. `tables` are those of `file` that others read; `file` may be empty."""

    values: Mapping[str, Value]
    tables: Mapping[str, Mapping[str, Any]]
    file: str = ""

    @property
    def settings(self) -> Settings:
        return Settings(**{name: self.values[name].value for name in _DEFAULTS})

    @property
    def store(self) -> str:
        """Where runs are kept; empty when nothing says so."""
        return self.values["store"].value or ""

    @property
    def permissions(self) -> Mapping[str, Any] | None:
        """The table `[permissions]`; None without one."""
        return self.tables.get("permissions")

    @property
    def modes(self) -> Mapping[str, tuple[str, ...]]:
        """The table `[modes]`: skills in order, by the mode's name. Raises `InputInvalid`."""
        return {name: _names_of(name, skills, self.file) for name, skills in self.tables.get("modes", {}).items()}

    @property
    def tiers(self) -> Mapping[str, str]:
        """The table `[tiers]`: the models of "fast", "balanced" and "strong". Raises `InputInvalid`."""
        table = self.tables.get("tiers", {})
        for name, model in table.items():
            if name not in TIERS or not isinstance(model, str) or not model.strip():
                cause = f"the tiers are {', '.join(TIERS)}, and each is a model's name"
                raise InputInvalid(f"tiers in {self.file} has {name} = {_shown(repr(model))}", cause=cause)
        return table

    @property
    def policy(self) -> Policy:
        """What that table says; the default policy without one. Raises `PolicyInvalid`."""
        return Policy() if self.permissions is None else Policy.from_file(self.file)

    def models(
        self, model: ModelChoice = None, planner_model: ModelChoice = None, synthesis_model: ModelChoice = None
    ) -> tuple[ModelChoice, ModelChoice, ModelChoice]:
        """Who plans, who works, who joins. What a caller passes goes before all that is configured."""
        of_all = self.values["model"].value
        planner, synthesizer = self.values["planner_model"].value, self.values["synthesis_model"].value
        return (
            planner_model or model or planner or of_all,
            model or of_all,
            synthesis_model or model or synthesizer or of_all,
        )


def configure(
    arguments: Mapping[str, Any] | None = None,
    file: str | Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> Configuration:
    """The configuration of a run: `arguments` are those that were given, by their names in `Options`.

    Raises `InputInvalid`, which names the argument, variable or file, the value, and what it may be; `TypeError` for an
    argument that does not exist.
    """
    environ = os.environ if environ is None else environ
    arguments = arguments or {}
    for name in arguments:
        if name not in _DEFAULTS:
            raise TypeError(f"there is no argument {name!r}. {_guess(name, _DEFAULTS)}".rstrip())
    path = str(file or environ.get(FILE_VARIABLE, "").strip())
    written = _read(path) if path else {}
    values = dict(_DEFAULT_VALUES)
    for name in [name for name in written if name not in TABLES]:
        values[name] = Value(name, _of_file(name, written[name], path), "file", path)
    for place, name in _VARIABLES.items():
        if text := environ.get(place, "").strip():
            values[name] = Value(name, _of_environment(name, text), "environment", place)
    for name, value in arguments.items():
        RANGES[name].check(name, value)
        values[name] = Value(name, value, "argument")
    return Configuration(values, {name: written[name] for name in TABLES if name in written}, path)


def _names_of(mode: str, skills: object, path: str) -> tuple[str, ...]:
    if not isinstance(skills, list) or not all(isinstance(name, str) and name.strip() for name in skills):
        cause = "it is a list of skills' names"
        raise InputInvalid(f"modes in {path} has {mode} = {_shown(repr(skills))}", cause=cause)
    return tuple(skills)


def variable(name: str) -> str:
    """The variable that a setting is read from."""
    return f"ORCHESTRA_{name.upper()}"


def range_words(name: str) -> str:
    """What a setting may be."""
    return _range(name).words


def unread_variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Variables that look like misspelt ones of ours, each with the one that was probably meant."""
    known = [*_VARIABLES, FILE_VARIABLE]
    unknown = sorted(name for name in environ if name.startswith("ORCHESTRA_") and name not in known)
    return [(name, near[0]) for name in unknown if (near := _near(name, known))]


def _read(path: str) -> dict[str, Any]:
    """The file's keys, all of them known."""
    import tomllib

    try:
        written = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputInvalid(f"there is no configuration file {path}", suggestion="Correct its path.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputInvalid(
            f"{path} could not be read", cause=_shown(str(error)), suggestion="Correct the file; it is TOML, in UTF-8."
        ) from None
    for name, value in written.items():
        if name not in _NAMES and name not in TABLES:
            what = "table" if isinstance(value, dict) else "setting"
            raise InputInvalid(
                f"{path} has a {what} {name!r} that does not exist",
                suggestion=_guess(name, (*_NAMES, *TABLES)) or "`orchestra config` shows the settings that exist.",
            )
        if name in TABLES and not isinstance(value, dict):
            raise InputInvalid(f"{name} is no table in {path}", suggestion=f"Write it below a line [{name}].")
    return written


def _of_file(name: str, value: Any, path: str) -> Any:
    return _checked(name, value, f"{name} in {path} is {_shown(repr(value))}", is_text=False)


def _of_environment(name: str, text: str) -> Any:
    value: Any = text
    if "=" in text and name.endswith(("_per_skill", "_on_failure")):
        entries = (entry.rpartition("=") for entry in text.split(","))
        value = {skill.strip(): one.strip() for skill, _, one in entries}
    return _checked(name, value, f"{variable(name)} is {_shown(repr(text))}", is_text=True)


def _checked(name: str, value: Any, what: str, *, is_text: bool) -> Any:
    """`value` in its own type, within its range; `what` says what is wrong if it is not."""
    from pydantic import ValidationError

    range_ = _range(name)
    wrong = InputInvalid(
        what,
        cause=f"it is {range_.words}",
        suggestion="Correct it there; `orchestra config` shows what is read from where.",
    )
    if isinstance(value, str) and value.lower() == "none" and range_.holds(None):
        return None
    try:
        adapter = _adapter(name)
        value = adapter.validate_strings(value) if is_text else adapter.validate_python(value, strict=True)
    except ValidationError:
        raise wrong from None
    if not range_.holds(value):
        raise wrong
    return value


def _range(name: str) -> Range:
    return _TEXT if name in TEXTS else RANGES[name]


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(str if name in TEXTS else get_type_hints(Options)[name])


def _shown(text: str) -> str:
    """Short, and without anything that has the shape of a key: it may have come to the wrong place."""
    from orchestra.models.keys import scrub

    text = scrub(text)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _guess(name: str, known: Iterable[str]) -> str:
    near = _near(name, known)
    return f"Did you mean {near[0]!r}?" if near else ""


def _near(name: str, known: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(known), n=1, cutoff=0.75)
