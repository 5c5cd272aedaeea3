"""`orchestra models`."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import config_option, json_option
from orchestra.cli.terminal import as_json, print_answer


@click.command(epilog="\b\nExample:\n  ORCHESTRA_MODEL=ollama:llama3.2 orchestra models")
@config_option
@json_option
@debug_option
def models(config: Path | None, is_json: bool) -> None:
    """Show which models are configured, and which is used by default (*).

    Keys are read from the environment and never shown.
    """
    from orchestra.configuration import configure
    from orchestra.models import configured_models

    named = configure(file=config).models()[1]
    rows = configured_models({**os.environ, "ORCHESTRA_MODEL": named} if isinstance(named, str) else None)
    if is_json:
        print_answer(as_json([asdict(row) for row in rows]))
        return
    width = max(len(row.model) for row in rows)
    lines = [
        f"{'*' if row.is_default else ' '} {row.model:<{width}}  {'; '.join(filter(None, (row.note, row.base_url)))}"
        for row in rows
    ]
    print_answer("\n".join(lines))
