"""A tool in a process of its own: the parent's side. When its time is over, the process and all that it started end.

The process is a fresh interpreter with the parent's import path. It gets the function by its name and the arguments
as a pickle of ours; what comes back is text in JSON, checked here, so nothing that a tool says is ever unpickled.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from orchestra.errors import InputInvalid, NodeTimeout, RunCancelled, ToolFailed
from orchestra.models.deadline import Deadline

if TYPE_CHECKING:
    from orchestra.runtime.tools.tool import Tool

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    "from orchestra.runtime.tools.child import serve; serve()"
)


class _Answer(BaseModel):
    """What the process says: the result, or what was raised."""

    text: str = ""
    error: str = ""


def run_apart(tool: Tool, arguments: Mapping[str, Any], deadline: Deadline) -> str:
    """The tool's result as text. Blocks; the process has ended when this returns or raises.

    Raises `ToolFailed` with what the tool raised or how its process ended, `NodeTimeout`, `RunCancelled`, and
    `InputInvalid` for what cannot be sent to a process.
    """
    message = _message(tool, arguments)
    if not sys.executable:
        raise ToolFailed(f"{tool.name} did not start", cause="this Python does not know its own interpreter")
    process = subprocess.Popen(
        [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    ended = threading.Event()

    def end() -> None:
        ended.set()
        _end(process)

    timer = threading.Timer(threading.TIMEOUT_MAX if (left := deadline.remaining_s()) is None else left, end)
    timer.daemon = True
    timer.start()
    forget = deadline.on_cancel(end)
    try:
        line = _exchange(process, message)
    finally:
        timer.cancel()
        forget()
        _end(process)
        with suppress(BrokenPipeError):
            process.__exit__(None, None, None)
    if line:
        return _read(tool, line)
    if deadline.is_cancelled:
        raise RunCancelled("the run was cancelled")
    if ended.is_set():
        raise NodeTimeout(f"{tool.name} did not end within {deadline.seconds or 0:g} s", cause="its process was ended")
    raise ToolFailed(f"{tool.name} gave no result", cause=f"its process ended with status {process.returncode}")


def _message(tool: Tool, arguments: Mapping[str, Any]) -> bytes:
    try:
        call = pickle.dumps((tool.function, dict(arguments)))
    except Exception as error:  # noqa: BLE001 - an object may refuse in any way
        cause = f"{type(error).__name__}: {error}"
        raise InputInvalid(f"{tool.name} cannot be sent to a process of its own", cause=cause) from None
    paths = json.dumps([str(path) for path in sys.path]).encode()
    return b"%s\n%s" % (paths, pickle.dumps({"main": _main_of(tool.function), "call": call}))


def _main_of(function: Any) -> dict[str, Any] | None:
    """What the process needs to import the main script as the standard library's own processes do."""
    owner = getattr(function, "func", function)
    if getattr(owner, "__module__", None) != "__main__":
        return None
    from multiprocessing.spawn import get_preparation_data

    prepared = get_preparation_data("orchestra-tool")
    prepared.pop("authkey", None)
    return prepared


def _exchange(process: subprocess.Popen[bytes], message: bytes) -> bytes:
    """The line that the process answers with; empty when it ended without one.

    Its standard input stays open meanwhile: when that ends, the process knows that nobody waits for it any more.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(message)
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group. Idempotent."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _read(tool: Tool, line: bytes) -> str:
    try:
        answer = _Answer.model_validate_json(line)
    except ValidationError:
        raise ToolFailed(f"{tool.name} gave no result", cause="its process answered with something else") from None
    if answer.error:
        raise ToolFailed(f"{tool.name} raised {answer.error}")
    return answer.text
