"""`orchestra config`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import config_option, json_option
from orchestra.cli.store_choice import default_place
from orchestra.cli.terminal import as_json, one_line, print_answer, say

if TYPE_CHECKING:
    from orchestra.configuration import Configuration, Value


@click.command(
    epilog="\b\nExamples:\n  orchestra config\n  ORCHESTRA_MAX_WORKERS=8 orchestra config --config team.toml --json"
)
@config_option
@json_option
@debug_option
def config(config: Path | None, is_json: bool) -> None:
    """Show every setting, its value, and where it comes from.

    An option of a command wins over a variable (ORCHESTRA_MAX_WORKERS), that
    over ./orchestra.toml (max_workers), and that over the default. Keys are
    read from variables of their own, and never shown. The defaults are those
    of the command; the function keeps no store unless it is told to.
    """
    from orchestra.configuration import configure, unread_variables

    configuration = configure(file=config)
    if is_json:
        print_answer(as_json(_as_data(configuration)))
    else:
        print_answer(_as_text(configuration))
    for name, meant in unread_variables(os.environ):
        say(f"warning: {name} is not read; did you mean {meant}?")


def _as_text(configuration: Configuration) -> str:
    values = configuration.values.values()
    rows = [(value.name, _shown(_in_effect(value, configuration)), value.place or value.source) for value in values]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:<{widths[0]}}  {value:<{widths[1]}}  {origin}" for name, value, origin in rows]
    lines += [f"[{name}] is read from {configuration.file}" for name in configuration.tables]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{skill}={_shown(each)}" for skill, each in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else one_line(f"{value:g}" if isinstance(value, float) else str(value))


def _in_effect(value: Value, configuration: Configuration) -> Any:
    """What a setting comes to, with what is meant where nothing is set, and without what must not be shown."""
    from orchestra.models.keys import display_url, scrub
    from orchestra.models.registry import default_spec
    from orchestra.settings import SUBTASK_TIMEOUT_S

    if value.value is None:
        meant = {
            "model": default_spec(os.environ),
            "store": str(default_place()),
            "timeout_s": SUBTASK_TIMEOUT_S,
            "phase_timeout_s": configuration.settings.phase_limit_s,
        }
        return meant.get(value.name)
    if not isinstance(value.value, str):
        return value.value
    return display_url(value.value) if value.name == "store" else scrub(value.value)


def _as_data(configuration: Configuration) -> dict[str, Any]:
    from orchestra.configuration import range_words, variable

    settings = [
        {
            "name": value.name,
            "value": _in_effect(value, configuration),
            "source": value.source,
            "place": value.place,
            "variable": variable(value.name),
            "range": range_words(value.name),
        }
        for value in configuration.values.values()
    ]
    return {"file": configuration.file, "settings": settings, **configuration.tables}
