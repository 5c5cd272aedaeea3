"""`orchestra models`."""

from __future__ import annotations

from dataclasses import asdict

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import json_option
from orchestra.cli.terminal import as_json, print_answer


@click.command(epilog="\b\nExample:\n  ORCHESTRA_MODEL=ollama:llama3.2 orchestra models")
@json_option
@debug_option
def models(is_json: bool) -> None:
    """Show which models are configured, and which is used by default (*).

    Keys are read from the environment and never shown.
    """
    from orchestra.models import configured_models

    rows = configured_models()
    if is_json:
        print_answer(as_json([asdict(row) for row in rows]))
        return
    width = max(len(row.model) for row in rows)
    lines = [
        f"{'*' if row.is_default else ' '} {row.model:<{width}}  {'; '.join(filter(None, (row.note, row.base_url)))}"
        for row in rows
    ]
    print_answer("\n".join(lines))
