"""Between a call and its server: when an attempt may go out, and when another model takes over."""

from __future__ import annotations

from collections.abc import Callable

from orchestra.errors import ModelError, ModelOverloaded, ModelRateLimited, ModelUnreachable
from orchestra.models.limiting import Gate, Need, Ticket
from orchestra.models.protocol import Model, ModelRequest

CHARACTERS_PER_TOKEN = 4


class Pass:
    """A call's way through the gate of its key: a new ticket for each attempt."""

    def __init__(self, gate: Gate, model: str, need: Callable[[], Need]) -> None:
        self._gate = gate
        self._model = model
        self._need = need
        self._ticket: Ticket | None = None

    @property
    def reason(self) -> str:
        return "" if self._ticket is None else self._ticket.reason

    def wait_s(self) -> float:
        if self._ticket is None:
            self._ticket = self._gate.ticket(self._model, self._need)
        return self._ticket.wait_s()

    def start(self) -> bool:
        return self._ticket is None or self._ticket.start()

    def end(self) -> None:
        ticket, self._ticket = self._ticket, None
        if ticket is not None:
            ticket.end()


def pass_of(model: Model, request: ModelRequest) -> Pass | None:
    """The way of a call to `model` through its gate; None for a model that has none."""
    gate = getattr(model, "gate", None)
    if not isinstance(gate, Gate):
        return None
    return Pass(gate, str(getattr(model, "name", "")), lambda: _need(request))


def takes_over(error: ModelError) -> bool:
    """Whether another model may stand in: its server is overloaded, out of reach or at a limit."""
    return isinstance(error, ModelOverloaded | ModelUnreachable | ModelRateLimited)


def was_sent(error: BaseException) -> bool:
    """False for an attempt that was refused on our side; it counts as none."""
    return not isinstance(error, ModelError) or error.details.get("was_sent", True)


def _need(request: ModelRequest) -> Need:
    return Need(len(request.prompt) // CHARACTERS_PER_TOKEN, request.max_tokens)
