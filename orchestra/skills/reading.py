"""From the files of a skill to its `Manifest`: front matter, skill.yaml beside it, and what is wrong with them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from orchestra.errors import SkillInvalid
from orchestra.skills.declared import (
    LOAD_BEARING,
    METADATA_FIELDS,
    ConditionEntry,
    Declared,
    ExecutionEntry,
    RoutingEntry,
    SubSkillEntry,
    declared,
    field_of,
)
from orchestra.skills.files import leads_out
from orchestra.skills.front_matter import (
    MAX_FILE_BYTES,
    has_front_matter,
    lines_of,
    open_skill_file,
    read_bytes,
    read_front_matter,
    read_head,
)
from orchestra.skills.manifest import Branch, Execution, Manifest, Routing, SubSkill
from orchestra.skills.skill import RESERVED_NAMES, Diagnostic, first_sentence, fold_name
from orchestra.skills.yaml_text import Place, YamlMap, load_mapping

FILE_NAMES = ("SKILL.md", "skill.md", "Skill.md")
YAML_NAME = "skill.yaml"
MAX_NAME_LENGTH = 64
MAX_DESCRIPTION_LENGTH = 1024
MAX_COMPATIBILITY_LENGTH = 500

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KNOWN = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed_tools"})


def read_manifest(path: Path, *, is_trusted: bool = True) -> tuple[Manifest, tuple[Diagnostic, ...]]:
    """The manifest of a SKILL.md (or of a skill.yaml that stands alone), with the deviations that were forgiven.

    No body is read. Raises `SkillInvalid` (with `details["path"]` and `details["line"]`) where there is no skill.
    """
    found: list[Diagnostic] = []
    folder = path.parent
    _refuse_link_out(path, folder)
    yaml_path = folder / YAML_NAME
    if path.name == YAML_NAME:
        found.append(Diagnostic(str(path), 0, "warning", "stands without a SKILL.md"))
        fields = read_yaml(path, found)
        own = declared(fields, found, refused=LOAD_BEARING)
        return _manifest(own, own, fields, path, found, is_trusted=is_trusted), tuple(found)
    if path.name not in FILE_NAMES and not has_front_matter(path):
        return _plain(path, found, is_trusted=is_trusted), tuple(found)
    front = read_front_matter(path, found)
    fields = load_mapping(front.yaml, Place(str(path), front.first_line), found)
    of_front = _of_front_matter(fields, found)
    own = of_front
    if _leads_its_folder(path) and os.path.lexists(yaml_path):
        _refuse_link_out(yaml_path, folder)
        beside = read_yaml(yaml_path, found)
        more = declared(beside, found, refused=LOAD_BEARING)
        _compare_names(more, of_front, beside, found)
        own = more.over(of_front)
        kept = {name: getattr(of_front, name) for name in ("name", "description") if getattr(of_front, name)}
        own = own.model_copy(update=kept)
        _refuse_escapes(own.sub_skills, beside)
    return _manifest(own, of_front, fields, path, found, is_trusted=is_trusted), tuple(found)


def _leads_its_folder(path: Path) -> bool:
    """Whether skill.yaml beside a file is about it: SKILL.md, or `<name>/<name>.md` of a sub-skill."""
    return path.name in FILE_NAMES or path.stem == path.parent.name


def _plain(path: Path, found: list[Diagnostic], *, is_trusted: bool) -> Manifest:
    """A sub-skill in one file without front matter is described by its first sentence."""
    place = Place(str(path))
    description = first_sentence(read_head(path))
    if not description:
        raise place.invalid(1, "is empty")
    found.append(place.found(1, "note", "has no front matter: described by its first sentence"))
    fields = YamlMap({}, None, place)
    own = Declared(name=path.stem, description=description)
    return _manifest(own, own, fields, path, found, is_trusted=is_trusted)


def read_yaml(path: Path, found: list[Diagnostic]) -> YamlMap:
    """A YAML file of a skill. Raises `SkillInvalid`."""
    with open_skill_file(path) as descriptor:
        content = read_bytes(descriptor, MAX_FILE_BYTES, str(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Place(str(path)).invalid(content.count(b"\n", 0, error.start) + 1, "is not UTF-8") from error
    return load_mapping(lines_of(text), Place(str(path)), found)


def _of_front_matter(fields: YamlMap, found: list[Diagnostic]) -> Declared:
    """What stands on top, over what stands in `metadata`."""
    place = fields.place
    top = declared(fields, found)
    if "dependencies" in top.model_fields_set and "layer" not in top.model_fields_set:  # a package list, as a rule
        message = "`dependencies` without a `layer` names no skills: ignored"
        found.append(place.found(fields.line_of("dependencies"), "note", message))
        top = top.model_copy(update={"dependencies": ()})
        top.model_fields_set.discard("dependencies")
    for key in fields.values:
        if field_of(key) not in Declared.model_fields and key != "metadata":
            found.append(place.found(fields.line_of(key), "note", f"`{key}` is no field of the format: ignored"))
    metadata = fields.values.get("metadata")
    if metadata is None:
        return top
    line = fields.line_of("metadata")
    if not isinstance(metadata, dict):
        found.append(place.found(line, "warning", "`metadata` is not a map: ignored"))
        return top
    odd = [key for key, value in metadata.items() if not isinstance(value, str)]
    if odd:
        where = fields.line_of("metadata", odd[0])
        found.append(place.found(where, "note", f"metadata holds more than text: {', '.join(odd[:5])}"))
    if not any(field_of(key) in METADATA_FIELDS for key in metadata):
        return top
    return top.over(declared(fields, found, within="metadata", known=METADATA_FIELDS))


def _manifest(
    own: Declared, front: Declared, fields: YamlMap, path: Path, found: list[Diagnostic], *, is_trusted: bool
) -> Manifest:
    called = path.stem if path.name not in (*FILE_NAMES, YAML_NAME) else path.parent.name or path.absolute().parent.name
    name = fold_name(own.name) or fold_name(called)
    place = fields.place
    if not own.description:
        raise place.invalid(fields.line_of("description"), "has no description")
    if not name or name in RESERVED_NAMES:
        raise place.invalid(fields.line_of("name"), f"has a name that cannot be used: {name!r}")
    _check_format(front, called, name, fields, found)
    return manifest_of(own, name, source=place.path, file=os.path.abspath(place.path), is_trusted=is_trusted)


def manifest_of(own: Declared, name: str, *, source: str = "", file: str = "", is_trusted: bool = True) -> Manifest:
    """What is declared, as a manifest."""
    kind = own.type if "type" in own.model_fields_set else "code" if own.function else "prompt"
    is_enhancing = own.layer == "enhancement"
    return Manifest(
        name=name,
        description=own.description,
        type="composite" if own.sub_skills and kind == "prompt" else kind,
        version=own.version,
        triggers=own.triggers,
        sub_skills=tuple(SubSkill(one.name, one.path, one.triggers, one.dependencies) for one in own.sub_skills),
        routing=_routing(own.routing) if own.routing else Routing(),
        execution=_execution(own.execution) if own.execution else Execution(),
        parameters=own.parameters,
        output=own.output,
        data_flow=own.data_flow,
        function=own.function,
        layer=own.layer,
        dependencies=own.dependencies,
        blocks_on_failure=not is_enhancing if own.blocks_on_failure is None else own.blocks_on_failure,
        eco_mode_skip=is_enhancing if own.eco_mode_skip is None else own.eco_mode_skip,
        applies=own.applies,
        model_tier=own.model_tier,
        output_hint=own.output_hint,
        max_tokens=own.max_tokens,
        allowed_tools=own.allowed_tools,
        needs_approval=bool(own.approval),
        max_turns=own.max_turns,
        timeout_s=own.timeout,
        retries=own.retries,
        is_listed=not own.disable_model_invocation,
        is_trusted=is_trusted,
        source=source,
        file=file,
    )


def _routing(entry: RoutingEntry) -> Routing:
    branches = tuple(branch for one in entry.conditions for branch in _branches(one))
    return Routing(entry.strategy, entry.max_depth, branches)


def _execution(entry: ExecutionEntry) -> Execution:
    return Execution(entry.allow_parallel, entry.timeout_per_skill, entry.retry_on_failure)


def _branches(entry: ConditionEntry) -> Iterator[Branch]:
    if entry.if_:
        yield Branch(entry.if_, entry.then)
    if entry.else_ or not entry.if_:
        yield Branch("", entry.else_ or entry.then)


def _check_format(front: Declared, called: str, name: str, fields: YamlMap, found: list[Diagnostic]) -> None:
    """Where the file departs from the Agent Skills format, and is read all the same."""
    place = fields.place
    if not front.name:
        found.append(place.found(fields.line_of("name"), "warning", f"has no name: called {name!r} after its folder"))
    elif not is_name_of_the_format(front.name):
        rule = f"is not 1 to {MAX_NAME_LENGTH} of a-z, 0-9 and single hyphens"
        found.append(place.found(fields.line_of("name"), "warning", f"name {front.name!r} {rule}"))
    if front.name and front.name != called:
        message = f"name {front.name!r} differs from its folder {called!r}"
        found.append(place.found(fields.line_of("name"), "warning", message))
    if len(front.description) > MAX_DESCRIPTION_LENGTH:
        message = f"description is longer than {MAX_DESCRIPTION_LENGTH:,} characters"
        found.append(place.found(fields.line_of("description"), "warning", message))
    if len(front.compatibility) > MAX_COMPATIBILITY_LENGTH:
        message = f"compatibility is longer than {MAX_COMPATIBILITY_LENGTH} characters"
        found.append(place.found(fields.line_of("compatibility"), "warning", message))
    tools = fields.values.get("allowed-tools", "")
    if not isinstance(tools, str) or re.search(r",(?![^()]*\))", tools):
        found.append(place.found(fields.line_of("allowed-tools"), "note", "allowed-tools is not separated by spaces"))


def is_name_of_the_format(name: str) -> bool:
    return len(name) <= MAX_NAME_LENGTH and _NAME.fullmatch(name) is not None


def _compare_names(more: Declared, front: Declared, fields: YamlMap, found: list[Diagnostic]) -> None:
    if more.name and front.name and fold_name(more.name) != fold_name(front.name):
        message = f"name {more.name!r} differs from that of SKILL.md, {front.name!r}, which holds"
        found.append(fields.place.found(fields.line_of("name"), "warning", message))


def _refuse_escapes(entries: tuple[SubSkillEntry, ...], fields: YamlMap) -> None:
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        line = fields.line_of("sub_skills", number, "path") if entry.path else fields.line_of("sub_skills", number)
        is_itself = bool(entry.path) and PurePosixPath(entry.path) == PurePosixPath(".")
        if is_itself or leads_out(entry.path):
            raise fields.place.invalid(line, f"has a sub-skill {entry.name!r} outside of its folder", entry.path)
        if entry.name in seen:
            raise fields.place.invalid(line, f"has two sub-skills called {entry.name!r}")
        seen.add(entry.name)


def _refuse_link_out(path: Path, folder: Path) -> None:
    """A link may stand for a file of the folder, and for none elsewhere: what it shows would be sent to a model."""
    try:
        if not stat.S_ISLNK(os.lstat(path).st_mode):
            return
        target, within = Path(os.path.realpath(path, strict=True)), Path(os.path.realpath(folder))
    except OSError as error:
        raise Place(str(path)).invalid(0, "cannot be read", error.strerror or str(error)) from error
    if not target.is_relative_to(within):
        raise Place(str(path)).invalid(0, "leads out of its folder", str(target))


def as_diagnostic(error: SkillInvalid, path: str) -> Diagnostic:
    """An error about one skill, where it stands among others."""
    file, line = error.details.get("path", path), error.details.get("line", 0)
    what = error.what.removeprefix(f"{file}:{line}" if line else file).strip()  # it stands beside the message
    message = f"{error.code}: {what}" + (f" ({error.cause})" if error.cause else "")
    return Diagnostic(file, line, "error", message)
