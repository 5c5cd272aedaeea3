"""`orchestra panel`."""

from __future__ import annotations

import secrets
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import config_option, is_discovering, load_skills, skills_option
from orchestra.cli.store_choice import store_option, store_place
from orchestra.cli.terminal import print_answer, say
from orchestra.cli.tools import load_tools, tool_option
from orchestra.errors import InputInvalid


@click.command(epilog="\b\nExamples:\n  orchestra panel report.pdf\n  orchestra panel --port 8765 --no-browser")
@click.argument("documents", metavar="[DOC...]", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="By default a free one.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Listen here, for other machines to reach it.")
@click.option("--no-browser", is_flag=True, help="Print the link and open nothing.")
@click.option("--model", metavar="MODEL", help="provider:name, for runs that name none.")
@skills_option
@tool_option
@store_option
@config_option
@debug_option
def panel(
    documents: tuple[Path, ...],
    port: int,
    host: str,
    no_browser: bool,
    model: str | None,
    skill_folders: tuple[Path, ...],
    tool_names: tuple[str, ...],
    store: str | None,
    config: Path | None,
) -> None:
    """Chat over DOCs in the browser, and watch each run as it goes.

    The last chat goes on if it is over DOCs. Runs of the command and of the
    function that are kept in the same store appear there too. Ctrl-C stops
    it; runs under way can be resumed.
    """
    try:
        from orchestra.panel.desk import open_desk
        from orchestra.panel.server import PanelServer
    except ImportError as error:
        raise InputInvalid(
            "the panel is not installed", cause=str(error), suggestion="Run: pip install 'orchestra[panel]'"
        ) from None
    from orchestra.configuration import configure
    from orchestra.store import Store

    library = load_skills(skill_folders) if skill_folders or is_discovering() else None
    configuration = configure(file=config)
    with Store.open(store_place(store, config)) as opened:
        desk = open_desk(
            opened,
            [each.absolute() for each in documents],
            policy=configuration.policy,
            config=config,
            model=model,
            skills=library,
            tools=load_tools(tool_names),
        )
        newest = next(iter(opened.sessions()), None)
        if documents and (newest is None or desk.shelf.named_beside(newest.id)):
            opened.begin_session(secrets.token_hex(16))
        server = PanelServer(desk, host=host, port=port)
        print_answer(server.link)
        if not no_browser:
            webbrowser.open(server.link)
        say("Ctrl-C stops the panel; runs under way can be resumed")
        with suppress(KeyboardInterrupt):
            server.run()
        say("the panel has stopped")
