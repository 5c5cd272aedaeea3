"""Templates to pages. Everything that is put into one is escaped."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from orchestra.panel.ids import session_key
from orchestra.panel.security import token_of
from orchestra.panel.view.addresses import in_address
from orchestra.panel.view.visible import one_line, visible
from orchestra.result.words import duration_words, price_words
from orchestra.version import __version__

STYLES: tuple[str, ...] = ("chat", "documents", "overview", "graph", "permissions", "logs")
SCRIPTS: tuple[str, ...] = ("chat", "graph", "documents", "logs")
"""Beside `panel.css` and `panel.js`, the files in `static/` that every page loads."""


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A page, or a part of one, from `templates/`. Every template knows `token`, which forms send back."""
    text = rendered(request, template, **context)
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)  # a text on record may hold half a letter


def rendered(request: Request, template: str, **context: Any) -> str:
    """The text of `render`."""
    shared: Mapping[str, Any] = {"token": token_of(request), "version": __version__}
    return environment().get_template(template).render({**shared, **context})


def is_part(request: Request) -> bool:
    """Whether htmx asks, and a part is enough."""
    return "hx-request" in request.headers


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("orchestra.panel"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(styles=STYLES, scripts=SCRIPTS)
    made.filters.update(
        count=count,
        duration=duration,
        price=price,
        segment=segment,
        moment=moment,
        session_key=session_key,
        words=one_line,
        seen=visible,
    )
    return made


def count(number: float | None) -> str:
    """`12,345`, or nothing."""
    return "" if number is None else f"{number:,.0f}"


def duration(milliseconds: float | None) -> str:
    """`340 ms`, `2.4 s`, `2 min 5 s`, or nothing."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return duration_words(milliseconds)


def price(cost_usd: float | None) -> str:
    """`$0.012`; `unknown` for a model without a known price."""
    if cost_usd is None:
        return "unknown"
    return price_words(cost_usd) or "$0"


def segment(text: str) -> str:
    """A text as one segment of a path, or one value of a query."""
    return in_address(text)


def moment(at: float | None) -> str:
    """`2026-11-22 14:03`, in local time, or nothing."""
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
