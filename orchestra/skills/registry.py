"""Skills written as a Python registry: nested entries by name, as mappings or as objects with the same attributes.

    SKILL_REGISTRY = {
        "email_workflow": {
            "type": "composite", "version": "1.0.0", "description": "Complete email management workflow",
            "sub_skills": {"email_classifier": {"path": "skills/email_workflow/sub_skills/email_classifier"}},
            "routing": {"strategy": "sequential", "max_depth": 3},
        }
    }

An entry with a `path` is the skill of that folder, with what the entry says over it; one with a `system_prompt` or a
`function` is whole in itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from orchestra.errors import SkillInvalid
from orchestra.skills.declared import FIELDS, Declared, field_of
from orchestra.skills.manifest import Manifest, SubSkill
from orchestra.skills.reading import manifest_of, read_manifest
from orchestra.skills.skill import RESERVED_NAMES, Skill, first_sentence, fold_name
from orchestra.skills.sub_skills import skill_file

MOST_LEVELS = 16

_IN_MEMORY = ("system_prompt", "prompt", "function")


def manifests_of(registry: Mapping[str, Any], base: Path | None = None) -> list[Manifest]:
    """The manifests of a registry. Paths in it start from `base` (the working directory). Raises `SkillInvalid`."""
    if not isinstance(registry, Mapping):
        raise SkillInvalid(f"the registry is a {type(registry).__name__}", cause="expected skills by name")
    return [_manifest(str(name), entry, base or Path.cwd(), ()) for name, entry in registry.items()]


def _manifest(name: str, entry: Any, base: Path, above: tuple[int, ...]) -> Manifest:
    values = _values(name, entry)
    if len(above) >= MOST_LEVELS or id(entry) in above:
        raise SkillInvalid(f"the registry holds {name!r} within itself", cause="skills nest without end")
    below = values.pop("sub_skills", None) or {}
    if not isinstance(below, Mapping):
        below = {str(_values("", one).get("name", "")): one for one in below}
    children = tuple(_manifest(str(key), child, base, (*above, id(entry))) for key, child in below.items())
    entries = tuple(SubSkill(child.name, "", child.triggers, child.dependencies) for child in children)
    folded = fold_name(str(values.get("name") or name))
    if not folded or folded in RESERVED_NAMES:
        raise SkillInvalid(f"a skill of the registry has a name that cannot be used: {name!r}")
    path = values.pop("path", None)
    in_memory = {key: values.pop(key) for key in _IN_MEMORY if values.get(key) is not None}
    own = _declared(folded, values)
    if path and not in_memory:
        return _of_folder(folded, own, base / str(path), children, entries)
    prompt = str(in_memory.get("system_prompt") or in_memory.get("prompt") or "").strip()
    if not own.description and prompt:
        own = own.model_copy(update={"description": first_sentence(prompt)})
    if not own.description:
        raise SkillInvalid(f"skill {folded!r} of the registry has no description, prompt or path")
    manifest = manifest_of(own, folded, source="registry")
    manifest = replace(manifest, sub_skills=entries, children=children)
    if "type" not in own.model_fields_set:
        kind = "code" if in_memory.get("function") else "composite" if children else "prompt"
        manifest = replace(manifest, type=kind)
    return replace(manifest, given=_given(manifest, prompt, in_memory.get("function")))


def _of_folder(
    name: str, own: Declared, folder: Path, children: tuple[Manifest, ...], entries: tuple[SubSkill, ...]
) -> Manifest:
    file = folder if folder.is_file() else skill_file(folder)
    if file is None:
        raise SkillInvalid(f"skill {name!r} of the registry has no SKILL.md in {folder}")
    read, _ = read_manifest(file)
    written = manifest_of(own.model_copy(update={"description": own.description or read.description}), name)
    fields = {"type", "version", "triggers", "dependencies", "routing", "execution", "parameters", "output"}
    said = {field: getattr(written, field) for field in fields if field in own.model_fields_set}
    if children:
        said |= {"sub_skills": entries, "children": children, "type": "composite"}
    return replace(read, **{**said, "name": name, "description": written.description})


def _given(manifest: Manifest, prompt: str, function: Any) -> Skill:
    if manifest.type == "prompt" and not prompt:
        raise SkillInvalid(f"skill {manifest.name!r} of the registry has no prompt, path or function")
    if function is not None and not callable(function):
        raise SkillInvalid(f"the function of skill {manifest.name!r} cannot be called")
    return Skill(
        name=manifest.name,
        description=manifest.description,
        system_prompt=prompt,
        output_hint=manifest.output_hint,
        layer=manifest.layer,
        max_tokens=manifest.max_tokens,
        source=manifest.source,
        is_listed=manifest.is_listed,
        allowed_tools=manifest.allowed_tools,
        needs_approval=manifest.needs_approval,
        max_turns=manifest.max_turns,
        timeout_s=manifest.timeout_s,
        retries=manifest.retries,
        function=function,
        parameters=manifest.parameters or None,
        output=manifest.output or None,
    )


def _values(name: str, entry: Any) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"system_prompt": entry}
    if isinstance(entry, Mapping):
        return {field_of(str(key)): value for key, value in entry.items() if value is not None}
    if hasattr(entry, "__dict__") or hasattr(entry, "__slots__"):
        wanted = (*FIELDS, *_IN_MEMORY, "path")
        return {key: value for key in wanted if (value := getattr(entry, key, None)) is not None}
    raise SkillInvalid(f"skill {name!r} of the registry is a {type(entry).__name__}", cause="expected its fields")


def _declared(name: str, values: Mapping[str, Any]) -> Declared:
    unknown = values.keys() - FIELDS
    if unknown:
        raise SkillInvalid(f"skill {name!r} of the registry has unknown fields", cause=", ".join(sorted(unknown)))
    try:
        return Declared.model_validate({**values, "name": name})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise SkillInvalid(
            f"skill {name!r} of the registry is not valid", cause=f"{where}: {problem['msg']}"
        ) from error
