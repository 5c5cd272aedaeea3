"""`orchestra skills`: which there are, what is in one, and how one comes to be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.group import FAILED, debug_option
from orchestra.cli.options import diagnostic_line, json_option, load_skills, skills_option
from orchestra.cli.terminal import as_json, one_line, print_answer, table

if TYPE_CHECKING:
    from orchestra.skills import Manifest, SkillLibrary
    from orchestra.skills.validating import Validated

MOST_LEVELS = 8  # of sub-skills that are shown


@click.group(
    invoke_without_command=True,
    epilog="\b\nExamples:\n"
    "  orchestra skills --skills ./my-skills\n"
    "  orchestra skills show critique\n"
    "  orchestra skills validate ./my-skills",
)
@skills_option
@json_option
@debug_option
@click.pass_context
def skills(context: click.Context, skill_folders: tuple[Path, ...], is_json: bool) -> None:
    """List the skills that a run may use.

    A plan may use those without a word in brackets.
    """
    if context.invoked_subcommand is None:
        _list(skill_folders, is_json=is_json)


@skills.command("list", epilog="\b\nExample:\n  orchestra skills list --discover")
@skills_option
@json_option
@debug_option
def list_(skill_folders: tuple[Path, ...], is_json: bool) -> None:
    """List the skills that a run may use.

    A plan may use those without a word in brackets.
    """
    _list(skill_folders, is_json=is_json)


@skills.command(epilog="\b\nExample:\n  orchestra skills show invoices --skills ./my-skills")
@click.argument("name", metavar="NAME")
@skills_option
@json_option
@debug_option
def show(name: str, skill_folders: tuple[Path, ...], is_json: bool) -> None:
    """Show what the skill NAME declares, its sub-skills and its prompt."""
    from orchestra.skills.loading import prompt_text

    library = load_skills(skill_folders, is_quiet=is_json)
    manifest = library.manifest(name)
    prompt = manifest.given.system_prompt if manifest.given else prompt_text(manifest)
    if is_json:
        shown = manifest.to_dict() | {"system_prompt": prompt, "sub_skills": _tree(library, manifest, 0)}
        print_answer(as_json(shown))
        return
    rows = [(field, value) for field, value in _rows(manifest) if value]
    below = list(_tree_lines(_tree(library, manifest, 0)))
    print_answer("\n".join([table(rows), *(["", "Sub-skills:", *below] if below else []), "", prompt]).rstrip())


@skills.command(epilog="\b\nExample:\n  orchestra skills validate ./my-skills")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@json_option
@debug_option
def validate(folder: Path, is_json: bool) -> int:
    """Say all that is wrong with the skills of DIR, by file and line.

    DIR is a skill, a folder of skills, or a project. No code of a skill is run.
    Exit code 1 if one of them cannot be used.
    """
    from orchestra.skills.validating import validate as validated

    results = validated(folder)
    is_good = all(result.is_usable for result in results)
    if is_json:
        print_answer(as_json({"skills": [_as_data(result) for result in results], "is_valid": is_good}))
    else:
        found = [diagnostic for result in results for diagnostic in result.diagnostics]
        print_answer("\n".join([*map(diagnostic_line, found), _count(results)]))
    return 0 if is_good else FAILED


@skills.command(epilog="\b\nExample:\n  orchestra skills new invoice-check --skills ./my-skills")
@click.argument("name", metavar="NAME")
@click.option(
    "--skills",
    "folder",
    metavar="DIR",
    default=Path(),
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of skills to put it in; here, unless given.",
)
@click.option(
    "--type",
    "kind",
    type=click.Choice(["prompt", "code", "composite"]),
    default="prompt",
    show_default=True,
    help="A prompt, Python code, or a skill of sub-skills.",
)
@json_option
@debug_option
def new(name: str, folder: Path, kind: str, is_json: bool) -> None:
    """Begin a skill: a folder NAME with files to fill in."""
    from orchestra.skills.beginning import begin

    files = begin(folder, name, kind)
    print_answer(as_json({"files": [str(file) for file in files]}) if is_json else "\n".join(map(str, files)))


@skills.command(epilog="\b\nExample:\n  orchestra skills trust .")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--remove", "is_removed", is_flag=True, help="Take trust back.")
@json_option
@debug_option
def trust(folder: Path, is_removed: bool, is_json: bool) -> None:
    """Trust the skills of DIR as they are now; once one changes, it is not trusted.

    DIR is a skill, a folder of skills, or a project. A skill that is discovered in a
    project gets no tools, and no code of it is run, until you trust it. Read it first.
    """
    from orchestra.skills.discovery import skill_files_in
    from orchestra.skills.trust import distrust
    from orchestra.skills.trust import trust as trust_one

    done: list[dict[str, Any]] = []
    for file in skill_files_in(folder):
        if is_removed:
            done.append({"folder": str(file.parent), "is_trusted": False, "was_trusted": distrust(file.parent)})
        else:
            done.append({"folder": str(file.parent), "is_trusted": True, "digest": trust_one(file.parent)})
    if is_json:
        print_answer(as_json({"skills": done}))
        return
    verb = "not trusted" if is_removed else "trusted"
    print_answer("\n".join(f"{verb}: {one['folder']} {one.get('digest', '')[:12]}".rstrip() for one in done))


def _list(folders: tuple[Path, ...], *, is_json: bool) -> None:
    library = load_skills(folders)
    if is_json:
        diagnostics = [diagnostic._asdict() for diagnostic in library.diagnostics]
        listed = [manifest.to_dict() for manifest in library.manifests.values()]
        print_answer(as_json({"skills": listed, "diagnostics": diagnostics}))
        return
    print_answer(table([(_name(one), one.description) for one in library.manifests.values()]))


def _name(manifest: Manifest) -> str:
    """With what sets it apart from those that a plan may use."""
    apart = [manifest.layer] if manifest.layer != "execution" else [] if manifest.is_listed else ["unlisted"]
    apart += [] if manifest.is_trusted else ["untrusted"]
    return f"{manifest.name} ({', '.join(apart)})" if apart else manifest.name


def _rows(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield "name", manifest.name
    yield "trust", "" if manifest.is_trusted else "untrusted: it gets no tools, and its code is not run"
    yield "description", manifest.description
    yield "type", " ".join(filter(None, (manifest.type, manifest.version)))
    yield "layer", manifest.layer
    yield "from", manifest.source
    yield "tools", "" if manifest.allowed_tools is None else ", ".join(manifest.allowed_tools) or "none"
    yield "approval", "a person approves it first" if manifest.needs_approval else ""
    yield "triggers", ", ".join(manifest.triggers)
    yield "depends on", ", ".join(manifest.dependencies)
    yield "applies if", manifest.applies
    yield "strategy", manifest.routing.strategy if manifest.is_composite else ""


def _tree(library: SkillLibrary, manifest: Manifest, level: int) -> list[dict[str, Any]]:
    """A skill's sub-skills, each with its own under `sub_skills`."""
    if level == MOST_LEVELS:
        return []
    return [
        child.to_dict() | {"sub_skills": _tree(library, child, level + 1)} for child in library.sub_skills(manifest)
    ]


def _tree_lines(below: list[dict[str, Any]], indent: str = "  ") -> Iterator[str]:
    for one in below:
        yield f"{indent}{one['name']}: {one_line(one['description'])}"
        yield from _tree_lines(one["sub_skills"], indent + "  ")


def _as_data(result: Validated) -> dict[str, Any]:
    return {
        "path": str(result.path),
        "name": result.manifest.name if result.manifest else "",
        "is_usable": result.is_usable,
        "diagnostics": [diagnostic._asdict() for diagnostic in result.diagnostics],
    }


def _count(results: list[Validated]) -> str:
    counts = dict.fromkeys(("error", "warning", "note"), 0)
    for result in results:
        for diagnostic in result.diagnostics:
            counts[diagnostic.severity] += 1
    told = [f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts.items() if count]
    return f"{len(results)} {'skill' if len(results) == 1 else 'skills'}: {', '.join(told) or 'nothing to mend'}"
