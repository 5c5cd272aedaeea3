"""The chat: what was asked and answered, the box for the next task, and what that would cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from orchestra.configuration import configure
from orchestra.errors import InputInvalid, OrchestraError, RunNotFound
from orchestra.models import configured_models
from orchestra.panel.conversation import shown_turn, turns_of
from orchestra.panel.desk import Desk, desk_of
from orchestra.panel.forms import form_of
from orchestra.panel.ids import session_key
from orchestra.panel.rendering import is_part, render
from orchestra.panel.view.bill import bill_of
from orchestra.panel.view.preferences import COOKIE, read_preferences
from orchestra.panel.view.turns import page_of
from orchestra.planning.strategy import CHOICES
from orchestra.skills.composition import MODES
from orchestra.store import RunRecord

MOST_TURNS = 40  # of a session, unless all are asked for
LONGEST_TASK = 200_000  # characters


def session_chat(request: Request) -> Response:
    """All turns of a session, and the box."""
    desk, session_id = desk_of(request), request.path_params["sid"]
    _check_session(desk, session_id)
    is_all = request.query_params.get("all") == "1"
    turns, has_earlier = turns_of(desk, session_id, most=10_000 if is_all else MOST_TURNS)
    box = _box(desk, session_id)
    return render(request, "parts/chat.html", turns=turns, has_earlier=has_earlier, session_id=session_id, box=box)


def run_chat(request: Request) -> Response:
    """The turn of a run that belongs to no session."""
    desk = desk_of(request)
    turn = shown_turn(desk, _run(desk, request))
    return render(request, "parts/chat.html", turns=[turn], has_earlier=False, session_id="", box=None)


def turn(request: Request) -> Response:
    """One turn, as it stands now."""
    desk = desk_of(request)
    shown = shown_turn(desk, _run(desk, request))
    answer = render(request, "parts/turn.html", shown=shown)
    if shown.turn.state == "interrupted":  # no event tells of it: nobody works on the run
        answer.headers["HX-Trigger"] = "run-interrupted"
    return answer


async def send(request: Request) -> Response:
    """Begin the run of a task."""
    form = await form_of(request)
    preferences = read_preferences(request.cookies.get(COOKIE))
    session_id = request.path_params["sid"]
    run_id = await run_in_threadpool(_start, desk_of(request), session_id, form, preferences.options)
    page = page_of(run_id, session_id)
    return Response(headers={"HX-Redirect": page}) if is_part(request) else RedirectResponse(page, 303)


async def estimate(request: Request) -> Response:
    """The expected bill of what stands in the box. Nothing is sent to a model, and nothing is kept."""
    form = await form_of(request) if request.method == "POST" else request.query_params
    return await run_in_threadpool(_estimated, request, form)


def _estimated(request: Request, form: Mapping[str, str]) -> Response:
    desk, session_id, task = desk_of(request), request.path_params["sid"], form.get("task", "")[:LONGEST_TASK]
    _check_session(desk, session_id)
    bill = failure = None
    documents = 0
    try:
        paths = desk.shelf.paths(session_id)
        documents = len(paths)
        if task.strip() and paths:
            options = {name: form[name] for name in ("strategy", "mode") if form.get(name)}
            bill = bill_of(desk.estimates.report(session_id, paths, task, model=_model(form), options=options))
    except OrchestraError as error:
        failure = error
    return render(request, "parts/estimate.html", documents=documents, bill=bill, error=failure)


def _start(desk: Desk, session_id: str, form: Mapping[str, str], options: Mapping[str, Any]) -> str:
    _check_session(desk, session_id)
    task, strategy = form.get("task", "").strip(), form.get("strategy", "")
    if not task:
        raise InputInvalid("the task is empty", suggestion="Write what you want to know, and send it again.")
    if len(task) > LONGEST_TASK:
        what = f"the task has {len(task):,} characters"
        raise InputInvalid(what, cause=f"most is {LONGEST_TASK:,}", suggestion="Add the text as a document instead.")
    desk.shelf.begin(session_id)
    paths = desk.shelf.paths(session_id)
    if not paths and strategy != "route":
        raise InputInvalid("no document is attached", suggestion="Add one above the chat, and send the task again.")
    return desk.runner.start(
        session_id=session_id,
        documents=paths,
        task=task,
        strategy=strategy,
        model=_model(form),
        mode=form.get("mode", ""),
        options=options,
    )


def _model(form: Mapping[str, str]) -> str:
    """The model's name: the one that was typed, else the one that was chosen; empty for the default."""
    return (form.get("model_name", "").strip() or form.get("model", "").strip())[:200]


def _box(desk: Desk, session_id: str) -> dict[str, Any]:
    """What the box offers. A file of settings that cannot be read is told when a task is sent."""
    models = [row for row in configured_models() if row.is_default or row.has_key or row.provider == "builtin"]
    try:
        configuration = configure(file=desk.config)
        own, default = configuration.models()[1], configuration.settings
        modes, mode, strategy = tuple(configuration.modes), default.mode, default.strategy
    except OrchestraError:
        own, modes, mode, strategy = None, (), "", ""
    named = desk.model or own or next(row.model for row in models if row.is_default)
    return {
        "key": session_key(session_id),
        "strategies": CHOICES,
        "strategy": strategy,
        "modes": tuple(dict.fromkeys((*MODES, *modes))),
        "mode": mode,
        "models": [row.model for row in models],
        "model": getattr(named, "name", named),
        "documents": len(desk.shelf.documents(session_id)),
    }


def _check_session(desk: Desk, session_id: str) -> None:
    if all(each.id != session_id for each in desk.store.sessions()):
        raise RunNotFound("there is no such session")


def _run(desk: Desk, request: Request) -> RunRecord:
    found = desk.store.run(request.path_params["rid"])
    if found is None:
        raise RunNotFound("there is no such run")
    return found


routes: list[BaseRoute] = [
    Route("/sessions/{sid:session}/chat", session_chat),
    Route("/sessions/{sid:session}/messages", send, methods=["POST"]),
    Route("/sessions/{sid:session}/estimate", estimate, methods=["GET", "POST"]),
    Route("/runs/{rid}/chat", run_chat),
    Route("/runs/{rid}/turn", turn),
]
