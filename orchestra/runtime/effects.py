"""What a job is, and the few things that it may await: a call, a pause, the end of other jobs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, cast

from orchestra.errors import OrchestraError
from orchestra.models.deadline import Deadline
from orchestra.runtime.node import Node

T = TypeVar("T")


class Effect:
    """What a coroutine yields to the scheduler."""

    def __await__(self) -> Generator[Effect, Any, Any]:
        return (yield self)


class Turnstile(Protocol):
    """Whoever says when a call may go out. Used from the run's own thread, but for `start`."""

    @property
    def reason(self) -> str:
        """Why it has to wait."""
        ...

    def wait_s(self) -> float:
        """Seconds until the next attempt may go out, to be asked again then; 0 for now. May raise an error."""
        ...

    def start(self) -> bool:
        """The attempt goes out, said on its worker; False when it must wait after all."""
        ...

    def end(self) -> None:
        """The attempt is over, or is not made. Idempotent."""
        ...


@dataclass(eq=False, slots=True)
class Call(Effect):
    """One attempt at a blocking function, on a worker. `deadline` and `began` are set when it starts."""

    function: Callable[[Deadline, int], Any]
    node: Node
    timeout_s: float | None = None
    attempt: int = 1
    turnstile: Turnstile | None = None
    deadline: Deadline | None = None
    began: tuple[float, float] | None = None


@dataclass(eq=False, slots=True)
class Pause(Effect):
    """Nothing, for some seconds, on no worker."""

    seconds: float


@dataclass(eq=False, slots=True)
class Apart(Effect):
    """A function on a thread of its own, for what has no deadline."""

    function: Callable[[], Any]


@dataclass(eq=False, slots=True)
class Milestone:
    """A point within a job that others can join before the job has ended.

    Whoever makes one sees that it is reached, also when the job fails.
    """

    is_done: bool = False
    waiters: list[Callable[[Any], None]] = field(default_factory=list["Callable[[Any], None]"])

    def reach(self) -> None:
        """Let everyone go on who waits here. Idempotent."""
        self.is_done = True
        waiters, self.waiters = self.waiters, []
        for notify in waiters:
            notify(self)


@dataclass(eq=False, slots=True)
class Join(Effect):
    """Until all of `jobs` have ended or are reached. `is_outside`: another run does, so cancelling ends the waiting."""

    jobs: Sequence[Job[Any] | Milestone]
    is_outside: bool = False
    at_most_s: float | None = None
    missing: int = 0


@dataclass(eq=False, slots=True)
class Job(Generic[T]):
    """A coroutine under way. After it ends, `error` is None and `result` holds its value, or the reverse."""

    coroutine: Coroutine[Any, Any, T]
    node: Node
    result: T | None = None
    error: OrchestraError | None = None
    is_done: bool = False
    waiting_for: Effect | None = None
    unfinished_dependencies: int = 0
    waiters: list[Callable[[Job[Any]], None]] = field(default_factory=list["Callable[[Job[Any]], None]"])

    @property
    def value(self) -> T:
        """The result; raises the job's error if it failed."""
        if self.error is not None:
            raise self.error
        return cast("T", self.result)


class HeldBack(Exception):
    """An attempt that was about to start, and must wait: it was not made."""
