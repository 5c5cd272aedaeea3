"""The application: all pages behind the guard."""

from __future__ import annotations

from importlib import import_module

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from orchestra.errors import OrchestraError, PanelBusy, RunBusy, RunNotFound, UnexpectedFailure
from orchestra.panel.desk import Desk
from orchestra.panel.rendering import is_part, render
from orchestra.panel.security import HEADERS, OPEN_PATHS, Gate, Guard

PAGES = (
    *("home", "live", "chat", "runs", "questions", "settings", "sessions", "documents", "source", "overview", "graph"),
    *("node", "permissions", "logs"),
)
_STATUSES: tuple[tuple[type[OrchestraError], int], ...] = (
    (RunNotFound, 404),
    (RunBusy, 409),
    (PanelBusy, 503),
    (UnexpectedFailure, 500),
)


def create_app(desk: Desk, gate: Gate) -> Starlette:
    """The panel as an ASGI application. It closes nothing but the desk, when it is stopped."""
    static: list[BaseRoute] = [Mount("/static", StaticFiles(packages=[("orchestra.panel", "static")]), name="static")]
    pages = [route for name in PAGES for route in import_module(f"orchestra.panel.pages.{name}").routes]
    app = Starlette(
        routes=static + pages,
        middleware=[Middleware(Guard, gate=gate), Middleware(GZipMiddleware, minimum_size=1000)],
        exception_handlers={OrchestraError: _as_page, HTTPException: _as_plain_page, Exception: _unexpected},
    )
    app.state.desk = desk
    app.state.gate = gate
    return app


def status_of(error: OrchestraError) -> int:
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 400)


def error_page(request: Request, error: OrchestraError, status: int) -> Response:
    """An error with its code, what happened, why, and what to do: a part where a part was asked for."""
    template = "parts/error.html" if is_part(request) else "error.html"
    return render(request, template, status=status, error=error)


async def _as_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, OrchestraError)
    return error_page(request, error, status_of(error))


async def _as_plain_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.scope["path"].startswith(OPEN_PATHS):  # whoever asks has not been let in
        return PlainTextResponse(f"{error.detail}\n", error.status_code)
    named = RunNotFound("there is no such page") if error.status_code == 404 else UnexpectedFailure(error.detail)
    return error_page(request, named, error.status_code)


async def _unexpected(request: Request, error: Exception) -> Response:
    """Starlette answers these outside of the guard, which would have set the headers."""
    answer = error_page(request, UnexpectedFailure(type(error).__name__), 500)
    answer.headers.update({**HEADERS, "cache-control": "no-store"})
    return answer
