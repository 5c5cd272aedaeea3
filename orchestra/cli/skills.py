"""`orchestra skills`."""

from __future__ import annotations

from pathlib import Path

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import json_option, load_skills, skills_option
from orchestra.cli.terminal import as_json, print_answer, table


@click.command(epilog="\b\nExample:\n  orchestra skills --skills ./my-skills")
@skills_option
@json_option
@debug_option
def skills(skill_folders: tuple[Path, ...], is_json: bool) -> None:
    """List the skills that a run may use, as the planner sees them."""
    library = load_skills(skill_folders)
    if is_json:
        diagnostics = [diagnostic._asdict() for diagnostic in library.diagnostics]
        listed = [manifest.to_dict() for manifest in library.manifests.values()]
        print_answer(as_json({"skills": listed, "diagnostics": diagnostics}))
        return
    print_answer(table([(one.name, one.description) for one in library.manifests.values()]))
