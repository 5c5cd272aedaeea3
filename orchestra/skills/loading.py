"""From a manifest to the skill: body or variant for the model in use, schemas, and the callable of a code skill."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestra.errors import SkillInvalid
from orchestra.skills.files import bytes_inside, read_inside, resolve_inside
from orchestra.skills.front_matter import MAX_FILE_BYTES, body_of
from orchestra.skills.manifest import Manifest
from orchestra.skills.python_files import python_object
from orchestra.skills.reading import read_manifest
from orchestra.skills.schemas import declared_schema
from orchestra.skills.skill import SHIPPED, Diagnostic, Skill
from orchestra.skills.trust import folder_digest

MAX_BODY_LINES = 500
MOST_VARIANTS = 32
LARGEST_STEP = 1.5
"""A model of up to so many times the size of the largest variant still gets it; a larger one gets the body."""

_shipped: dict[tuple[str, str, str], Skill] = {}
_VARIANT = re.compile(r"(?:prompt[_-])?(\d+(?:\.\d+)?)b\.txt")
_SIZE = re.compile(r"(?<![\w.])(?:(\d+)x)?[ae]?(\d+(?:\.\d+)?)b(?![a-z0-9])")


def load(manifest: Manifest, *, model: str = "") -> Skill:
    """The skill of a manifest. `model` names the model in use, for skills with a prompt for each size of model.

    Reads its files anew each time, those of a shipped skill once per process. Raises `SkillInvalid`.
    """
    if manifest.source != SHIPPED:
        return _load(manifest, model)
    key = (manifest.file, manifest.name, model)
    if key not in _shipped:
        _shipped[key] = _load(manifest, model)
    return replace(_shipped[key], manifest=manifest)


def _load(manifest: Manifest, model: str) -> Skill:
    if manifest.given is not None:
        return replace(manifest.given, manifest=manifest)
    if manifest.digest and manifest.folder is not None and folder_digest(manifest.folder) != manifest.digest:
        manifest = replace(manifest, is_trusted=False, digest="")
    parameters, _ = declared_schema(manifest, "parameters")
    output, output_model = declared_schema(manifest, "output")
    return Skill(
        name=manifest.name,
        description=manifest.description,
        system_prompt=prompt_text(manifest, model),
        output_hint=manifest.output_hint,
        layer=manifest.layer,
        max_tokens=manifest.max_tokens,
        source=manifest.source,
        is_listed=manifest.is_listed,
        allowed_tools=manifest.allowed_tools,
        is_trusted=manifest.is_trusted,
        needs_approval=manifest.needs_approval,
        max_turns=manifest.max_turns,
        timeout_s=manifest.timeout_s,
        retries=manifest.retries,
        function=_function(manifest),
        parameters=parameters,
        output=output,
        output_model=output_model,
        manifest=manifest,
    )


def read_skill(path: Path) -> tuple[Skill, tuple[Diagnostic, ...]]:
    """The skill in a SKILL.md, with the deviations that were forgiven. Raises `SkillInvalid`."""
    manifest, diagnostics = read_manifest(path)
    skill = load(manifest)
    if skill.system_prompt.count("\n") < MAX_BODY_LINES:
        return skill, diagnostics
    return skill, (*diagnostics, Diagnostic(str(path), 0, "warning", f"body is longer than {MAX_BODY_LINES} lines"))


def prompt_file(manifest: Manifest, model: str = "") -> Path | None:
    """Where the prompt is read from: a variant for the model's size, else the file with the body."""
    variants = _variants(manifest)
    size = model_size(model)
    if variants and manifest.body is None and size is None:
        return variants[max(variants)]
    if variants and (size is not None) and (size <= LARGEST_STEP * max(variants) or manifest.body is None):
        return variants[min(variants, key=lambda each: (abs(each - size), each))]
    return manifest.body


def model_size(model: str) -> float | None:
    """Billions of parameters, where a model's name tells them: `qwen2.5-7b-instruct`, `llama3.2:3b`, `8x7b`."""
    found = _SIZE.search(model.lower())
    return float(found[2]) * int(found[1] or 1) if found else None


def _variants(manifest: Manifest) -> dict[float, Path]:
    """Prompt files by size, in billions of parameters."""
    if manifest.folder is None or not os.path.isdir(manifest.folder / "prompts"):
        return {}
    folder = resolve_inside(manifest.folder, "prompts")
    names = sorted(entry.name for entry in os.scandir(folder))[: 4 * MOST_VARIANTS]
    found = [(match, name) for name in names if (match := _VARIANT.fullmatch(name))]
    return {float(match[1]): folder / name for match, name in found[:MOST_VARIANTS]}


def prompt_text(manifest: Manifest, model: str = "") -> str:
    """The prompt alone; a skill of another kind than "prompt" may have none. Raises `SkillInvalid`."""
    path = prompt_file(manifest, model)
    line = 0
    if path is None:
        text = ""
    elif path == manifest.body:
        text, line = body_of(bytes_inside(path.parent, path.name, MAX_FILE_BYTES), path)
    else:
        text = read_inside(manifest.folder or path.parent, f"prompts/{path.name}").strip()
    if text or manifest.type != "prompt":
        return text
    where = f"{manifest.source}:{line}" if line else manifest.source
    raise SkillInvalid(f"{where} has no body", cause="the body is the skill's prompt", path=manifest.source, line=line)


def _function(manifest: Manifest) -> Any:
    if not manifest.function:
        if manifest.type == "code":
            raise SkillInvalid(f"{manifest.source} is a code skill without a `function`", path=manifest.source, line=0)
        return None
    function = python_object(manifest, manifest.function)
    if not callable(function):
        raise SkillInvalid(f"{manifest.function!r} of {manifest.source} cannot be called", path=manifest.source, line=0)
    return function
