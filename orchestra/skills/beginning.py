"""The files of a new skill, for a person to fill in."""

from __future__ import annotations

from pathlib import Path

from orchestra.errors import InputInvalid
from orchestra.skills.reading import is_name_of_the_format
from orchestra.skills.skill import RESERVED_NAMES, fold_name

_FRONT = """---
name: {name}
description: What it does, in a phrase; use when it should be used.
---
"""
_PROMPT = """
Say what to do with the excerpts, and what the reply looks like.

- State the answer first.
- Rest each claim on the lines that show it.
"""
_CODE_YAML = """type: code
function: {module}.py:{module}
parameters:
  type: object
  properties:
    text: {{type: string}}
  required: [text]
output:
  type: object
  properties:
    length: {{type: integer}}
  required: [length]
"""
_CODE = '''"""The code of the skill `{name}`."""


def {module}(text: str) -> dict[str, int]:
    return {{"length": len(text)}}
'''
_COMPOSITE_YAML = """version: 1.0.0
type: composite
sub_skills:
  - name: first-step
    path: ./sub_skills/first-step
routing:
  strategy: sequential
execution:
  timeout_per_skill: 60
"""
_COMPOSITE = """
Say how the findings of the sub-skills become one answer.
"""


def begin(folder: Path, name: str, kind: str) -> tuple[Path, ...]:
    """Write the files of a skill of that kind ("prompt", "code" or "composite") into `folder`/`name`; gives them.

    Raises `InputInvalid` for a name that the format does not know, and where there is something already.
    """
    if not is_name_of_the_format(name) or name in RESERVED_NAMES:
        suggestion = fold_name(name) or "my-skill"
        cause = "a name is 1 to 64 of a-z, 0-9 and single hyphens"
        raise InputInvalid(f"{name!r} is no name for a skill", cause=cause, suggestion=f"Call it {suggestion}.")
    place = folder / name
    if place.exists():
        raise InputInvalid(f"{place} is there already", suggestion="Take another name, or another folder.")
    module = name.replace("-", "_")
    texts = {"SKILL.md": _FRONT + (_PROMPT if kind == "prompt" else _COMPOSITE if kind == "composite" else "")}
    if kind == "code":
        texts |= {"skill.yaml": _CODE_YAML, f"{module}.py": _CODE}
    if kind == "composite":
        texts |= {"skill.yaml": _COMPOSITE_YAML}
        texts |= {"sub_skills/first-step/SKILL.md": _FRONT.replace("{name}", "first-step") + _PROMPT}
    files = []
    for path, text in texts.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{name}", name) if path.endswith(".md") else text.format(name=name, module=module))
        files.append(file)
    return tuple(files)
