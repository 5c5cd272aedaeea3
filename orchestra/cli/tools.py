"""`--tool`: verbs of ours by their names, and Python functions of the user's own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from orchestra.runtime.tools.given import ToolChoice

tool_option = click.option(
    "--tool",
    "tool_names",
    multiple=True,
    metavar="NAME",
    help="A tool that skills may call: read_section, search_document, read_file, write_file, ask_user, "
    "request_approval, or module:function of yours, found from the current folder. Repeatable.",
)


def load_tools(names: Iterable[str]) -> tuple[ToolChoice, ...]:
    """The tools that are meant. Raises a usage error for a name that leads nowhere."""
    return tuple(_own(name) if ":" in name else name for name in names)


def _own(name: str) -> Callable[..., Any]:
    """`module:function`, imported as `python -m module` would be from here: it is the user's own code."""
    module, _, attribute = name.partition(":")
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        found = reduce(getattr, attribute.split("."), import_module(module))
    except ImportError as error:
        raise click.UsageError(f"--tool {name}: {error}") from error
    except AttributeError:
        raise click.UsageError(f"--tool {name}: {module!r} has no {attribute!r}") from None
    except (ValueError, SyntaxError) as error:
        raise click.UsageError(f"--tool {name}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:  # behind all else: processes of tools import from it, and nothing of ours does
            sys.path.append(folder)
    if not callable(found):
        raise click.UsageError(f"--tool {name}: a {type(found).__name__} cannot be called")
    return found
