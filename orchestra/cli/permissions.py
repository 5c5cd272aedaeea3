"""`orchestra permissions`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import config_option, json_option, load_skills, skills_option
from orchestra.cli.terminal import as_json, one_line, print_answer, table
from orchestra.cli.tools import load_tools, tool_option

if TYPE_CHECKING:
    from orchestra.run.permits import Permits, Permitted


@click.command(
    epilog="\b\nExamples:\n  orchestra permissions\n  orchestra permissions --skills ./my-skills --tool write_file"
)
@skills_option
@tool_option
@config_option
@json_option
@debug_option
def permissions(
    skill_folders: tuple[Path, ...], tool_names: tuple[str, ...], config: Path | None, is_json: bool
) -> None:
    """Show what a run here may do, what each skill may, and what narrows it.

    The policy is the table [permissions] of ./orchestra.toml, else the
    default: the documents and models of a run, the files of a skill at hand
    (@skill), the tools that the run is given, and asking a person.
    """
    from orchestra.configuration import configure
    from orchestra.models import resolve_model
    from orchestra.run.permits import Permits
    from orchestra.runtime.tools.given import GivenTools

    configuration = configure(file=config)
    policy = configuration.policy
    library = load_skills(skill_folders, is_quiet=is_json)
    permits = Permits.of(
        policy,
        [resolve_model(choice) for choice in dict.fromkeys(configuration.models())],
        tools=GivenTools.of(load_tools(tool_names)).names,
        cost_usd=configuration.settings.max_cost_usd,
        skills=library.manifests.values(),
    )
    skills = {name: permits.of_skill(permits.root, manifest) for name, manifest in library.manifests.items()}
    if is_json:
        print_answer(as_json(_as_data(permits, skills)))
    else:
        print_answer(_as_text(permits, skills))


def _as_data(permits: Permits, skills: Mapping[str, Permitted]) -> dict[str, Any]:
    root = permits.root
    return {
        "policy": permits.policy.source,
        "run": {**root.permissions.snapshot, "narrowings": [each.to_dict() for each in root.lost]},
        "skills": {
            name: {
                "color": color(permitted, root),
                **permitted.permissions.snapshot,
                "narrowings": [] if permitted is root else [each.to_dict() for each in permitted.lost],
            }
            for name, permitted in skills.items()
        },
    }


def color(permitted: Permitted, parent: Permitted) -> str:
    """Green: all that the parent may do; yellow: less; red: no tool at all."""
    if permitted is parent:
        return "green"
    return "red" if permitted.permissions.tools.is_nothing else "yellow"


def _as_text(permits: Permits, skills: Mapping[str, Permitted]) -> str:
    from orchestra.skills.permissions import KINDS
    from orchestra.skills.permissions.words import TAKEN_ALSO, cost_in_words

    root = permits.root
    shown = root.permissions.snapshot
    rows = [(name, _words(shown[name])) for name in KINDS]
    rows[1] = ("read", f"{rows[1][1]}, the documents of the run")
    rows.append(("cost", cost_in_words(root.permissions.cost_usd)))
    for word, said in TAKEN_ALSO:
        rows += [(f"{name}, {said}", _words(entries)) for name, entries in shown.get(word, {}).items()]
    policy = permits.policy.source or "the default policy"
    told = [(name, _told(permitted, root)) for name, permitted in skills.items()]
    return f"By {policy}, a run may use:\n\n{table(rows)}\n\nOf that its skills may use:\n\n{table(told)}"


def _told(permitted: Permitted, root: Permitted) -> str:
    """What a skill may do in a line, and each thing that it lacks with the reason."""
    if permitted is root:
        return "all"
    tools = _words(permitted.permissions.snapshot["tools"])
    lost: dict[str, list[str]] = {}
    for each in permitted.lost:
        lost.setdefault(each.reason, []).append(each.permission.partition(": ")[2])
    return one_line("; ".join([tools, *(f"not {', '.join(each)} ({reason})" for reason, each in lost.items())]))


def _words(entries: Any) -> str:
    from orchestra.skills.permissions.words import entries_in_words

    return one_line(entries_in_words(entries))
