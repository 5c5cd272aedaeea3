"""The workspace's policy: what runs here may do at all. `orchestra.toml`, or a mapping of the same form:

    [permissions.allow]
    tools = ["@default", "write_file", "Bash(git:*)"]
    read = ["@default", "docs"]
    write = ["out"]
    hosts = ["*.anthropic.com"]
    models = ["anthropic:*"]
    cost_usd = 0.50

    [permissions.ask]
    tools = ["write_file"]

    [permissions.deny]
    tools = ["Bash(git push:*)"]
    read = ["docs/private"]

Deny beats ask beats allow. A list under `allow` says all that is allowed of its kind; a kind without one is as by the
default policy, and so is `@default` in a list. What stands under `ask` is allowed when a person says so, each time.
`"*"` is everything, `@skill` in `read` the files of the skill at hand. Roots are relative to the folder of the file.
How a tool's argument is written stands in `permissions/arguments.py`.

The default policy allows the run's documents, the files of skills that it reached, the models and hosts that the caller
named, the tools that he registered, and a few of ours that read documents or ask a person; nothing else.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestra.errors import InputInvalid, PolicyInvalid
from orchestra.skills.permissions import (
    KINDS,
    OWN_FILES,
    Grants,
    HostName,
    PermissionSet,
    Root,
    ToolRule,
    model_named,
)

FILE_NAME = "orchestra.toml"
TABLE = "permissions"
DEFAULT = "@default"
DEFAULT_TOOLS = (
    "ask_user",
    "load_skill",
    "load_subskill",
    "read_file",
    "read_section",
    "request_approval",
    "search_document",
)
"""Tools of ours that the default policy allows; `read_file` reads what `read` allows."""
LARGEST_FILE = 1_000_000  # bytes

Texts = tuple[str, ...]


class _Entries(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tools: Texts = ()
    read: Texts = ()
    write: Texts = ()


class Denied(_Entries):
    """The table `deny`."""

    hosts: Texts = ()
    models: Texts = ()


class Asked(_Entries):
    """The table `ask`: what a person can be asked for, call by call."""


class Allowed(BaseModel):
    """The table `allow`. None says nothing of a kind; an empty list allows nothing of it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tools: Texts | None = None
    read: Texts | None = None
    write: Texts | None = None
    hosts: Texts | None = None
    models: Texts | None = None
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Tables(BaseModel):
    """The table `permissions`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    allow: Allowed = Field(default_factory=Allowed)
    ask: Asked = Field(default_factory=Asked)
    deny: Denied = Field(default_factory=Denied)


NOTHING_SAID = Tables()


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy as it was read: nothing that happens later changes it. `source` is its file's path, or what it came by.

    `outer` is another policy that holds as well. `Policy()` is the default policy.
    """

    tables: Tables = NOTHING_SAID
    folder: Path = Path()
    source: str = ""
    outer: Policy | None = None

    @classmethod
    def of(cls, choice: Policy | Mapping[str, Any] | str | Path | None) -> Policy:
        """What a caller may pass: a policy, its tables as a mapping, the path of a file. Raises `PolicyInvalid`."""
        if choice is None:
            return cls()
        if isinstance(choice, Policy):
            return choice
        if isinstance(choice, str | Path):
            return cls.from_file(choice)
        return cls.from_mapping(choice)

    @classmethod
    def from_file(cls, path: str | Path) -> Policy:
        """The table `permissions` of a TOML file. Other tables are others' business."""
        import tomllib

        try:
            with Path(path).open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
            if len(content) > LARGEST_FILE:
                raise PolicyInvalid(f"{path} is too large", cause=f"over {LARGEST_FILE:,} bytes")
            text = content.decode("utf-8-sig")
            tables = tomllib.loads(text)
        except OSError as error:
            raise PolicyInvalid(f"{path} cannot be read", cause=error.strerror or str(error)) from None
        except (ValueError, RecursionError) as error:
            raise PolicyInvalid(f"{path} is no TOML", cause=str(error)) from None
        return cls.from_mapping(tables.get(TABLE, {}), folder=Path(path).absolute().parent, source=str(path), text=text)

    @classmethod
    def from_mapping(
        cls, tables: object, *, folder: str | Path = ".", source: str = "the policy", text: str = ""
    ) -> Policy:
        """From `{"allow": {...}, "ask": {...}, "deny": {...}}`. Roots are relative to `folder`; with the file's `text`,
        an error names the line.
        """
        if not isinstance(tables, Mapping):
            raise PolicyInvalid(f"{source} is no table of permissions", cause="expected allow, ask and deny")
        try:
            read = Tables.model_validate(_as_tuples(cast("Mapping[Any, Any]", tables)))
        except ValidationError as error:
            raise _invalid(error, source, text) from None
        policy = cls(read, Path(os.path.realpath(folder)), source)
        policy._check(text)
        return policy

    @property
    def is_default(self) -> bool:
        return self.tables == NOTHING_SAID and self.outer is None

    def within(self, outer: Policy) -> Policy:
        """This policy where `outer` holds too: what both allow."""
        if outer.is_default or outer == self:
            return self
        return outer if self.is_default else replace(self, outer=outer)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; `from_dict` reads it back."""
        outer = None if self.outer is None else self.outer.to_dict()
        tables = self.tables.model_dump(mode="json")
        return {"tables": tables, "folder": str(self.folder), "source": self.source, "outer": outer}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Policy:
        """Raises `PolicyInvalid`."""
        policy = cls.from_mapping(
            kept.get("tables"), folder=str(kept.get("folder", ".")), source=str(kept.get("source"))
        )
        return replace(policy, outer=cls.from_dict(kept["outer"])) if kept.get("outer") else policy

    def permissions(self, default: PermissionSet) -> PermissionSet:
        """What the policy allows, where the default policy would allow `default`."""
        own = default if self.tables == NOTHING_SAID else self._own(default)
        return own if self.outer is None else own.intersect(self.outer.permissions(default))

    def _own(self, default: PermissionSet) -> PermissionSet:
        allow = self.tables.allow
        return PermissionSet(
            tools=self._grants("tools", default.tools),
            read=self._grants("read", default.read),
            write=self._grants("write", default.write),
            hosts=self._grants("hosts", default.hosts),
            models=self._grants("models", default.models),
            cost_usd=min((cost for cost in (allow.cost_usd, default.cost_usd) if cost is not None), default=None),
        )

    def _grants(self, kind: str, default: Grants[Any]) -> Grants[Any]:
        listed: Texts | None = getattr(self.tables.allow, kind)
        asked: Texts = getattr(self.tables.ask, kind, ())
        allowed = default.allowed if listed is None or DEFAULT in listed else frozenset[Any]()
        named = (*(listed or ()), *asked)
        if allowed is not None:
            allowed = None if "*" in named else allowed | _entries(kind, named, self.folder)
        asks = _entries(kind, asked, self.folder)
        refuses = _entries(kind, getattr(self.tables.deny, kind), self.folder)
        return Grants.of(allowed, default.asked | asks, default.refused | refuses)

    def _check(self, text: str) -> None:
        """Read every entry once, so that a wrong one is found before a run."""
        for table in Tables.model_fields:
            for kind in KINDS:
                for entry in getattr(getattr(self.tables, table), kind, None) or ():
                    try:
                        _entries(kind, (entry,), self.folder, may_default=table == "allow")
                    except InputInvalid as error:
                        where = _where(self.source, _line_of((table, kind), text, entry))
                        what = f"{where}: {table}.{kind} holds {entry!r}, and {error.what}"
                        suggestion = "" if error.suggestion == InputInvalid.default_suggestion else error.suggestion
                        raise PolicyInvalid(what, cause=error.cause, suggestion=suggestion) from None


def _entries(kind: str, texts: Sequence[str], folder: Path, *, may_default: bool = True) -> frozenset[Any]:
    """The entries that `texts` mean, without `@default`. Raises `InputInvalid`."""
    return frozenset(_entry(kind, text, folder) for text in texts if text != DEFAULT or not may_default)


def _entry(kind: str, text: str, folder: Path) -> Any:
    if text.startswith("@") and text not in ((OWN_FILES,) if kind == "read" else ()):
        raise InputInvalid(
            "that stands for nothing here", suggestion=f"`{DEFAULT}` may stand under allow, `{OWN_FILES}` in read."
        )
    if kind in ("read", "write"):
        return Root(()) if text == "*" else Root.at(text, folder)
    if kind == "hosts":
        return HostName("*") if text == "*" else HostName.parse(text)
    return ToolRule.parse(text) if kind == "tools" else model_named(text)


def _as_tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_tuples(each) for key, each in cast("Mapping[Any, Any]", value).items()}
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def _invalid(error: ValidationError, source: str, text: str) -> PolicyInvalid:
    """The first problem, with its line, and the key that was probably meant."""
    problem = error.errors(include_url=False, include_input=False)[0]
    names = tuple(str(part) for part in problem["loc"])
    where, key = _where(source, _line_of(names, text)), ".".join(names[:2])
    if problem["type"] == "extra_forbidden":
        known = _known(names)
        close = difflib.get_close_matches(names[-1], known, n=1)
        return PolicyInvalid(
            f"{where}: {key} is unknown",
            cause=f"known are {', '.join(known)}",
            suggestion=f"Did you mean {close[0]!r}?" if close else "",
        )
    is_list = len(names) > 1 and names[1] in KINDS
    cause = "it is a list of texts" if is_list else str(problem["msg"]).lower()
    return PolicyInvalid(f"{where}: {key or 'the table'} is not valid", cause=cause)


def _known(names: Sequence[str]) -> list[str]:
    tables: dict[str, type[BaseModel]] = {"allow": Allowed, "ask": Asked, "deny": Denied}
    return list(tables) if len(names) == 1 else list(tables[names[0]].model_fields)


def _where(source: str, line: int) -> str:
    return f"{source}:{line}" if line else source


def _line_of(names: Sequence[str], text: str, entry: str = "") -> int:
    """The line, from 1, where a key of a table stands, or an entry of its list; 0 when it cannot be told."""
    lines = text.split("\n")
    header = re.compile(rf"\s*\[\s*{TABLE}\s*\.\s*[\"']?{re.escape(names[0])}[\"']?\s*\]") if names else None
    start = next((number for number, line in enumerate(lines) if header and header.match(line)), 0)
    wanted = re.compile(rf"[\"']?{re.escape(names[1] if len(names) > 1 else names[0])}[\"']?\s*=") if names else None
    found = next((at for at in range(start, len(lines)) if wanted and wanted.search(lines[at])), start if start else -1)
    if entry:
        found = next((at for at in range(max(found, 0), len(lines)) if entry in lines[at]), found)
    return found + 1 if text else 0
