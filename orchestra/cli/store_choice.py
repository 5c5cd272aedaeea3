"""Which store a command uses: `--store`, else what is configured, else one in the user's own state folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from orchestra.store import Store


def _of_the_group(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    """`orchestra runs --store X show RUN` is `orchestra runs show RUN --store X`."""
    outer: Any = context.parent.params.get(parameter.name) if context.parent and parameter.name else None
    return given if given is not None else outer


store_option = click.option(
    "--store",
    metavar="URL",
    callback=_of_the_group,
    help="Where runs are kept: a path, sqlite:///FILE or postgresql://HOST/NAME.",
)
no_store_option = click.option("--no-store", "is_unkept", is_flag=True, help="Keep nothing of this run.")


def store_place(given: str | None, config: Path | None = None) -> str:
    """The place of the store. `given` is what `--store` said, `config` the file of settings."""
    if given is not None:
        return given

    from orchestra.cli.options import config_here
    from orchestra.configuration import configure

    return configure(file=config_here(config)).store or str(default_place())


def default_place() -> Path:
    """`runs.db` where the system keeps what programs remember of a user, such as `~/.local/state/orchestra`."""
    from platformdirs import user_state_path

    return user_state_path("orchestra", appauthor=False) / "runs.db"


def open_store(given: str | None, config: Path | None = None) -> Store:
    """The store, open, to be closed by the caller. `StoreUnavailable` when there is none yet."""
    from orchestra.store import Store

    return Store.open(store_place(given, config), create=False)
