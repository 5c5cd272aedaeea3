"""Running a tool: on a thread that can be left behind, or in a process that can be ended."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from orchestra.errors import NodeTimeout, OrchestraError, RunCancelled, ToolFailed
from orchestra.models.deadline import Deadline
from orchestra.runtime.tools.apart import run_apart
from orchestra.runtime.tools.results import bounded, result_text
from orchestra.runtime.tools.tool import Tool

_CANCELLED = object()
LONGEST_MESSAGE = 1_000  # characters of what an exception says


def run_tool(tool: Tool, arguments: Mapping[str, Any], deadline: Deadline) -> str:
    """What the tool gave for arguments that were checked, as bounded text. Blocks.

    Raises `ToolFailed` with what the tool raised, errors of our own tree as they are, `NodeTimeout`, `RunCancelled`.
    """
    if tool.runs_apart:
        return bounded(run_apart(tool, arguments, deadline))
    return bounded(result_text(_left_behind(tool, lambda: _value(tool, arguments, deadline), deadline)))


def _left_behind(tool: Tool, work: Callable[[], Any], deadline: Deadline) -> Any:
    """`work()` on a thread of its own, which nobody waits for longer than the deadline allows."""
    outcome: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def do() -> None:
        try:
            outcome.put((work(), None))
        except BaseException as raised:  # noqa: BLE001 - carried over, never dropped
            outcome.put((None, raised))

    forget = deadline.on_cancel(lambda: outcome.put((_CANCELLED, None)))
    try:
        threading.Thread(target=do, name=f"orchestra-tool-{tool.name}", daemon=True).start()
        value, error = outcome.get(timeout=deadline.remaining_s())
    except queue.Empty:
        raise overdue(tool, deadline, "it was left behind, and may still be running") from None
    finally:
        forget()
    if value is _CANCELLED:
        raise RunCancelled("the run was cancelled")
    if isinstance(error, OrchestraError):
        raise error
    if error is not None:
        raise ToolFailed(f"{tool.name} raised {_said(error)}") from error
    return value


def overdue(tool: Tool, deadline: Deadline, cause: str) -> NodeTimeout:
    return NodeTimeout(f"{tool.name} did not end within {deadline.seconds or 0:g} s", cause=cause)


def _said(error: BaseException) -> str:
    said = str(error)
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


def _value(tool: Tool, arguments: Mapping[str, Any], deadline: Deadline) -> Any:
    value = tool.function(**arguments)
    if inspect.isawaitable(value):
        return asyncio.run(_awaited(tool, value, deadline))
    return value


async def _awaited(tool: Tool, value: Awaitable[Any], deadline: Deadline) -> Any:
    """What can be cancelled is, when its time is over or the run is cancelled."""
    task = asyncio.ensure_future(value)
    loop, limit = asyncio.get_running_loop(), asyncio.timeout(deadline.remaining_s())

    def cancel() -> None:
        loop.call_soon_threadsafe(task.cancel)

    forget = deadline.on_cancel(cancel)
    try:
        async with limit:
            return await task
    except TimeoutError:
        if limit.expired():
            raise overdue(tool, deadline, "it was cancelled") from None
        raise
    except asyncio.CancelledError:
        if deadline.is_cancelled:
            raise RunCancelled("the run was cancelled") from None
        raise
    finally:
        forget()
