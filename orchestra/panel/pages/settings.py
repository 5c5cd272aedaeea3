"""What holds for the runs that are started in this browser."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.configuration import configure
from orchestra.errors import InputInvalid
from orchestra.panel.desk import desk_of
from orchestra.panel.forms import form_of
from orchestra.panel.rendering import render
from orchestra.panel.view.preferences import COOKIE, Preferences, defaults_of, preferences_of_form, read_preferences

_A_YEAR_S = 365 * 24 * 3600


def show(request: Request) -> Response:
    """The form, with what is set and what is configured."""
    preferences = read_preferences(request.cookies.get(COOKIE))
    return _page(request, preferences, is_saved=request.query_params.get("saved") == "1")


async def save(request: Request) -> Response:
    """Keep what the form says, or say what is wrong with it."""
    form = await form_of(request)
    try:
        preferences = preferences_of_form(form, defaults_of(configure(file=desk_of(request).config)))
    except InputInvalid as error:
        return _page(request, read_preferences(request.cookies.get(COOKIE)), error=error)
    answer = RedirectResponse("/settings?saved=1", 303)
    answer.set_cookie(COOKIE, preferences.cookie(), max_age=_A_YEAR_S, path="/", httponly=True, samesite="strict")
    return answer


def _page(
    request: Request, preferences: Preferences, *, is_saved: bool = False, error: InputInvalid | None = None
) -> Response:
    defaults = defaults_of(configure(file=desk_of(request).config))
    return render(
        request,
        "settings.html",
        status=400 if error else 200,
        preferences=preferences,
        defaults=defaults,
        is_saved=is_saved,
        error=error,
    )


routes: list[BaseRoute] = [Route("/settings", show), Route("/settings", save, methods=["POST"])]
