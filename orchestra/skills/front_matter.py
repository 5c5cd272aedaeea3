"""SKILL.md to `Skill`: YAML front matter between `---` lines, then a body that is the prompt.

Lenient where the Agent Skills page of the specification is broken by real files (each deviation is a
`Diagnostic`), strict where a file could do harm: aliases, tags, deep nesting and huge files are refused.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, ValidationError

from orchestra.errors import SkillInvalid
from orchestra.skills.fields import Line, Retries, Seconds, Tools, needs_approval
from orchestra.skills.skill import RESERVED_NAMES, Diagnostic, Skill, fold_name

MAX_FILE_BYTES = 256 * 1024
MAX_FRONT_MATTER_CHARACTERS = 32 * 1024
MAX_DEPTH = 16
MAX_NAME_LENGTH = 64
MAX_DESCRIPTION_LENGTH = 1024
MAX_BODY_LINES = 500

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KEY_AND_VALUE = re.compile(r"^(\s*(?:- )?[A-Za-z][\w-]*:[ ]+)(\S.*?)[ ]*$")
_RESERVED_FIRST = ("@", "`", "%")


class Common(BaseModel):
    """Keys that mean the same in `metadata` and beside it."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    approval: Annotated[bool | None, BeforeValidator(needs_approval)] = None
    max_turns: PositiveInt | None = Field(default=None, alias="max-turns")
    timeout: Seconds | None = None
    retries: Retries | None = None


class Metadata(Common):
    """The keys of `metadata` that mean something here; others are the author's own."""

    output_hint: Line = ""
    layer: Literal["guarantee", "enhancement", "execution"] = "execution"
    max_tokens: PositiveInt | None = None


class Manifest(Common):
    """A skill's front matter: what may be known before the body is read."""

    name: Line = ""
    description: Line = ""
    metadata: Metadata = Field(default_factory=Metadata)
    disable_model_invocation: bool = Field(default=False, alias="disable-model-invocation")
    allowed_tools: Tools = Field(default=None, alias="allowed-tools")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The text between the `---` lines (line 2 onwards) and the body after them."""

    yaml: str
    body: str


def read_skill(path: Path) -> tuple[Skill, tuple[Diagnostic, ...]]:
    """The skill in a SKILL.md file, with the deviations that were forgiven.

    Raises `SkillInvalid` (with `details["path"]` and `details["line"]`) when there is no skill to be had.
    """
    text, found = _read_text(path)
    parts = split_front_matter(text, path)
    fields = _load_yaml(parts.yaml, path, found)
    manifest = _validate(fields, parts.yaml, path, found)
    skill = _build(manifest, parts, path, found)
    return skill, tuple(found)


def split_front_matter(text: str, path: Path) -> FrontMatter:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != "---":
        raise _invalid(path, 1, "has no front matter", "the first line is not `---`")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise _invalid(path, 1, "has front matter that does not end", "no second `---` line")
    front = "\n".join(lines[1:end])
    if len(front) > MAX_FRONT_MATTER_CHARACTERS:
        raise _invalid(path, 1, "has too long a front matter", f"over {MAX_FRONT_MATTER_CHARACTERS:,} characters")
    return FrontMatter(front, "\n".join(lines[end + 1 :]).strip())


def _read_text(path: Path) -> tuple[str, list[Diagnostic]]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _invalid(path, 0, "is not a file")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _invalid(path, 0, "cannot be read", error.strerror or str(error)) from error
    if len(content) > MAX_FILE_BYTES:
        raise _invalid(path, 0, "is too large", f"over {MAX_FILE_BYTES // 1024} KiB")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = "is not UTF-8; what could not be read was replaced"
        return content.decode("utf-8-sig", "replace"), [Diagnostic(str(path), line, "warning", message)]


def _load_yaml(text: str, path: Path, found: list[Diagnostic]) -> dict[str, Any]:
    import yaml

    try:
        fields = _parse_yaml(text, path)
    except yaml.YAMLError as error:
        mended, numbers = _quote_values(text)
        if not numbers:
            raise _unparseable(error, path) from error
        try:
            fields = _parse_yaml(mended, path)
        except yaml.YAMLError:
            raise _unparseable(error, path) from error
        found.extend(
            Diagnostic(str(path), number + 1, "warning", "a value was quoted to make it YAML") for number in numbers
        )
    if not isinstance(fields, dict):
        raise _invalid(path, 2, "has front matter that is not a list of `key: value` lines")
    return {str(key): value for key, value in fields.items()}


def _parse_yaml(text: str, path: Path) -> Any:
    """Front matter as Python values, after a look at its events: harm is refused before anything is built."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        line = (event.start_mark.line if event.start_mark else 0) + 2
        if isinstance(event, yaml.AliasEvent):
            raise _invalid(path, line, "uses a YAML alias", "aliases are refused: they can grow without bound")
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None) not in (None, "!"):
            raise _invalid(path, line, "uses a YAML tag", "tags are refused: they can name code")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _invalid(path, line, "nests its front matter too deeply", f"over {MAX_DEPTH} levels")
    try:
        return yaml.load(text, Loader=loader)
    except (ValueError, TypeError) as error:  # an impossible date, an unhashable key
        raise yaml.YAMLError(str(error)) from error


def _quote_values(text: str) -> tuple[str, list[int]]:
    """Values that YAML stumbles over, quoted; and the numbers (from 1) of the lines where that was done."""
    lines, numbers = text.replace("\t", "  ").split("\n"), []
    for number, line in enumerate(lines, 1):
        found = _KEY_AND_VALUE.match(line)
        if found and _needs_quotes(found[2]):
            lines[number - 1] = found[1] + "'" + found[2].replace("'", "''") + "'"
            numbers.append(number)
        elif "\t" in text.split("\n")[number - 1]:
            numbers.append(number)
    return "\n".join(lines), numbers


def _needs_quotes(value: str) -> bool:
    if value[0] in "\"'":
        return value[-1] != value[0] or len(value) == 1
    if value[0] in "|>" and len(value) <= 3:
        return False
    return ": " in value or value.endswith(":") or " #" in value or value.startswith((*_RESERVED_FIRST, "[", "{", "- "))


def _unparseable(error: Exception, path: Path) -> SkillInvalid:
    is_scanning = getattr(error, "context", None) == "while scanning a simple key"  # the problem is seen a line late
    mark = getattr(error, "context_mark" if is_scanning else "problem_mark", None)
    line = mark.line + 2 if mark else 2
    return _invalid(path, line, "has front matter that is not YAML", getattr(error, "problem", None) or str(error))


def _validate(fields: dict[str, Any], text: str, path: Path, found: list[Diagnostic]) -> Manifest:
    """The known fields; one that has the wrong shape is left out with a warning, so that the rest still counts."""
    if "metadata" in fields and not isinstance(fields["metadata"], dict):
        fields = {**fields, "metadata": {}}
        found.append(Diagnostic(str(path), _line_of("metadata", text), "warning", "`metadata` is not a map: ignored"))
    try:
        return Manifest.model_validate(fields)
    except ValidationError as error:
        rest = {**fields, "metadata": dict(fields.get("metadata") or {})}
        for problem in error.errors(include_url=False, include_input=False):
            is_metadata = problem["loc"][0] == "metadata" and len(problem["loc"]) > 1
            key = str(problem["loc"][1 if is_metadata else 0])
            owner = rest["metadata"] if is_metadata else rest
            owner.pop(key, None)
            if key == "allowed-tools":
                rest[key] = ""  # what was meant to be narrow is not read as everything
            message = f"`{key}` is ignored: {problem['msg'].lower()}"
            found.append(Diagnostic(str(path), _line_of(key, text), "warning", message))
        return Manifest.model_validate(rest)


def _build(manifest: Manifest, parts: FrontMatter, path: Path, found: list[Diagnostic]) -> Skill:
    folder = path.absolute().parent.name
    name = fold_name(manifest.name) or fold_name(folder)
    name_line = _line_of("name", parts.yaml)
    if not manifest.description:
        raise _invalid(path, _line_of("description", parts.yaml), "has no description")
    if not parts.body:
        raise _invalid(path, parts.yaml.count("\n") + 3, "has no body", "the body is the skill's prompt")
    if not name or name in RESERVED_NAMES:
        raise _invalid(path, name_line, f"has a name that cannot be used: {name!r}")
    found.extend(
        Diagnostic(str(path), line, "warning", message)
        for line, message, applies in (
            (name_line, f"has no name: called {name!r} after its folder", not manifest.name),
            (
                name_line,
                f"name {manifest.name!r} is not 1 to {MAX_NAME_LENGTH} of a-z, 0-9 and single hyphens",
                bool(manifest.name) and (not _NAME.fullmatch(manifest.name) or len(manifest.name) > MAX_NAME_LENGTH),
            ),
            (
                name_line,
                f"name {manifest.name!r} differs from its folder {folder!r}",
                bool(manifest.name) and manifest.name != folder,
            ),
            (
                _line_of("description", parts.yaml),
                f"description is longer than {MAX_DESCRIPTION_LENGTH:,} characters",
                len(manifest.description) > MAX_DESCRIPTION_LENGTH,
            ),
            (0, f"body is longer than {MAX_BODY_LINES} lines", parts.body.count("\n") >= MAX_BODY_LINES),
        )
        if applies
    )
    return Skill(
        name=name,
        description=manifest.description,
        system_prompt=parts.body,
        output_hint=manifest.metadata.output_hint,
        layer=manifest.metadata.layer,
        max_tokens=manifest.metadata.max_tokens,
        source=str(path),
        is_listed=not manifest.disable_model_invocation,
        allowed_tools=manifest.allowed_tools,
        needs_approval=bool(manifest.approval or manifest.metadata.approval),
        max_turns=manifest.max_turns or manifest.metadata.max_turns,
        timeout_s=manifest.timeout or manifest.metadata.timeout,
        retries=manifest.metadata.retries if manifest.retries is None else manifest.retries,
    )


def _line_of(key: str, text: str) -> int:
    """Line in the file (front matter starts at 2) where `key` stands; 1 when it does not."""
    lines = enumerate(text.split("\n"), 2)
    return next((number for number, line in lines if line.lstrip().startswith(f"{key}:")), 1)


def _invalid(path: Path, line: int, what: str, cause: str = "") -> SkillInvalid:
    where = f"{path}:{line}" if line else str(path)
    return SkillInvalid(f"{where} {what}", cause=cause, path=str(path), line=line)
