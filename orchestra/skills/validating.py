"""Everything that can be said of a skill before a run uses it. No code of the skill is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestra.errors import SkillInvalid
from orchestra.skills.conditions import Condition
from orchestra.skills.discovery import skill_files_in
from orchestra.skills.files import read_inside
from orchestra.skills.loading import MAX_BODY_LINES, prompt_text
from orchestra.skills.manifest import Manifest
from orchestra.skills.reading import as_diagnostic, read_manifest
from orchestra.skills.schemas import PARTS, declared_schema, schema_file
from orchestra.skills.skill import Diagnostic, fold_name
from orchestra.skills.sub_skills import own_sub_skills

MOST_LEVELS = 16
MAX_BODY_TOKENS = 5_000


@dataclass(frozen=True, slots=True)
class Validated:
    """One skill with what was found in its files; `manifest` is None where it cannot be read."""

    path: Path
    manifest: Manifest | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_usable(self) -> bool:
        return not any(found.severity == "error" for found in self.diagnostics)


def validate(folder: Path) -> list[Validated]:
    """Each skill that `folder` is or holds, in order. Raises `SkillInvalid` where there is none."""
    return [_validated(file) for file in skill_files_in(folder)]


def _validated(file: Path) -> Validated:
    try:
        manifest, found = read_manifest(file)
    except SkillInvalid as error:
        return Validated(file, None, (as_diagnostic(error, str(file)),))
    return Validated(file, manifest, (*found, *_checks(manifest, 0)))


def _checks(manifest: Manifest, level: int) -> Iterator[Diagnostic]:
    for check in (_body, _schemas, _code, _conditions):
        try:
            yield from check(manifest)
        except SkillInvalid as error:
            yield as_diagnostic(error, manifest.source)
    try:
        children = own_sub_skills(manifest)
    except SkillInvalid as error:
        yield as_diagnostic(error, manifest.source)
        return
    if level == MOST_LEVELS:
        yield Diagnostic(manifest.source, 0, "error", f"its sub-skills are more than {MOST_LEVELS} deep")
        return
    yield from _names(manifest, set(children))
    for name, child in children.items():
        if child is None:
            yield Diagnostic(
                manifest.source, 0, "note", f"sub-skill {name!r} is not in its folder: the library's is used"
            )
        else:
            yield from _read_again(child)
            yield from _checks(child, level + 1)


def _read_again(child: Manifest) -> Iterator[Diagnostic]:
    """What was found in a sub-skill's own file."""
    if child.file:
        yield from read_manifest(Path(child.file))[1]


def _body(manifest: Manifest) -> Iterator[Diagnostic]:
    from orchestra.document import count_tokens

    text = prompt_text(manifest)
    if text.count("\n") >= MAX_BODY_LINES:
        yield Diagnostic(manifest.source, 0, "warning", f"body is longer than {MAX_BODY_LINES} lines")
    if len(text) > MAX_BODY_TOKENS and count_tokens(text) > MAX_BODY_TOKENS:
        yield Diagnostic(manifest.source, 0, "warning", f"body is longer than {MAX_BODY_TOKENS:,} tokens")


def _schemas(manifest: Manifest) -> Iterator[Diagnostic]:
    for part in PARTS:
        file = schema_file(manifest, part)
        if file is not None and ".py" in file:
            path, _, name = file.partition(":")
            yield from _names_in(manifest, path, name)
        else:
            declared_schema(manifest, part)


def _code(manifest: Manifest) -> Iterator[Diagnostic]:
    if manifest.function:
        path, _, name = manifest.function.partition(":")
        yield from _names_in(manifest, path, name or "?")
    elif manifest.type == "code":
        yield Diagnostic(manifest.source, 0, "error", "is a code skill without a `function`")


def _names_in(manifest: Manifest, path: str, name: str) -> Iterator[Diagnostic]:
    """Whether a Python file can be read and has the name, as far as that can be seen without running it."""
    assert manifest.folder is not None
    try:
        tree = ast.parse(read_inside(manifest.folder, path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        yield Diagnostic(str(manifest.folder / path), line, "error", f"is no Python: {error}")
        return
    if name and name not in {bound for statement in tree.body for bound in _bound(statement)}:
        yield Diagnostic(str(manifest.folder / path), 0, "error", f"has no {name!r}")


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.ImportFrom | ast.Import):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _conditions(manifest: Manifest) -> Iterator[Diagnostic]:
    for text in (manifest.applies, *(branch.when for branch in manifest.routing.conditions)):
        if text:
            try:
                Condition(text)
            except SkillInvalid as error:
                yield Diagnostic(manifest.source, 0, "error", f"{error.what} ({error.cause})")


def _names(manifest: Manifest, known: set[str]) -> Iterator[Diagnostic]:
    """Names that the manifest gives to sub-skills which are none of its own."""
    named = [
        *((name, f"{entry.name!r} depends on") for entry in manifest.sub_skills for name in entry.dependencies),
        *((fold_name(name), "a condition leads to") for branch in manifest.routing.conditions for name in branch.then),
    ]
    for name, how in named:
        if name not in known:
            yield Diagnostic(manifest.source, 0, "error", f"{how} {name!r}, which is none of its sub-skills")
