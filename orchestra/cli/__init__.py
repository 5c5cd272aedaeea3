"""The command. Each sub-command is a module of its own, imported when it is asked for.

Exit codes: 0 completed, 1 failed, 2 usage, 3 partial, 4 waiting for a person, 130 interrupted with nothing finished.
"""

from __future__ import annotations

import click

from orchestra import __version__
from orchestra.cli.group import LazyGroup, debug_option

__all__ = ["main"]

COMMANDS = {
    "run": ("orchestra.cli.run:run", "Answer a task over documents."),
    "route": ("orchestra.cli.route:route", "Do what is asked by trees of skills."),
    "compose": ("orchestra.cli.compose:compose", "Show which skills stand around a task."),
    "panel": ("orchestra.cli.panel:panel", "Chat over documents, and watch each run, in the browser."),
    "plan": ("orchestra.cli.plan:plan", "Show the plan of a run and its estimated bill."),
    "outline": ("orchestra.cli.document:outline", "Show a document's sections with their lines and tokens."),
    "slice": ("orchestra.cli.document:slice_", "Print what pointers into a document resolve to."),
    "skills": ("orchestra.cli.skills:skills", "List the skills that a run may use."),
    "models": ("orchestra.cli.models:models", "Show which models are configured."),
    "runs": ("orchestra.cli.runs:runs", "List, show, export and remove the runs on record."),
    "resume": ("orchestra.cli.resume:resume", "Go on with a run that was interrupted or waits."),
    "replay": ("orchestra.cli.replay:replay", "Show a run again as it went."),
    "approve": ("orchestra.cli.approve:approve", "Answer what a run waits for."),
    "config": ("orchestra.cli.config:config", "Show each setting and where it comes from."),
    "permissions": ("orchestra.cli.permissions:permissions", "Show what runs and skills may do, and why."),
    "explain": ("orchestra.cli.explain:explain", "Explain the code of an error or a notice."),
}


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog='\b\nExample:\n  orchestra run report.md "What drove the margin, and who audits the company?"',
)
@click.version_option(__version__, message="orchestra %(version)s")
@debug_option
def main() -> None:
    """Answer a task over long documents, every claim with its lines.

    The answer goes to standard output, everything else to standard error.
    Exit codes: 0 completed, 1 failed, 2 usage, 3 partial, 4 waiting.
    """
