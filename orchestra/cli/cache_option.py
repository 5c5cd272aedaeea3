"""`--cache` and `--cache=SECONDS`: click knows options with a value and without one, and this is both."""

from __future__ import annotations

import math
from typing import Any

import click

_ALWAYS = "always"


class CacheAge(click.ParamType):
    """True for replies of any age, else the seconds that one may be old."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool | float:
        if value is True or value == _ALWAYS:
            return True
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds < math.inf:
            self.fail(f"{value!r} is no number of seconds above 0", param, ctx)
        return seconds


class BareCache(click.Command):
    """A command whose `--cache` may stand alone; what follows it is then not its value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        spelt = [f"--cache={_ALWAYS}" if each == "--cache" else each for each in args[:end]]
        return super().parse_args(ctx, [*spelt, *args[end:]])
