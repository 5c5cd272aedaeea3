"""A tool in a process of its own: the process's side."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import os
import pickle
import signal
import sys
import threading
from typing import Any

LONGEST_MESSAGE = 1_000


def serve() -> None:
    """Do the one call that standard input brings, and answer with a line of JSON. Never returns.

    What the tool prints goes to standard error. When the parent is gone, this process ends with its whole group.
    """
    asked, answer = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    ahead = sys.stdin.buffer
    with open(os.devnull, "rb") as nothing:
        message = pickle.Unpickler(ahead).load()
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, args=(asked,), daemon=True).start()
    answer.write(json.dumps(_outcome(message)).encode() + b"\n")
    answer.flush()
    sys.stderr.flush()
    os._exit(0)


def _outcome(message: dict[str, Any]) -> dict[str, str]:
    try:
        if message["main"] is not None:
            from multiprocessing.spawn import prepare

            prepare(message["main"])
        function, arguments = pickle.loads(message["call"])
        value = function(**arguments)
        if inspect.isawaitable(value):
            value = asyncio.run(_awaited(value))
        return {"text": _text(value)}
    except BaseException as error:  # noqa: BLE001 - told to the parent
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return {"error": said[:LONGEST_MESSAGE]}


async def _awaited(value: Any) -> Any:
    return await value


def _text(value: Any) -> str:
    """Cut where no reader would come: what is sent through a pipe is bounded too."""
    from orchestra.runtime.tools.results import MOST_RESULT_CHARACTERS, result_text

    return result_text(value)[: 4 * MOST_RESULT_CHARACTERS]


def _end_with_parent(asked: io.RawIOBase | io.FileIO) -> None:
    """The parent keeps the pipe open as long as it waits."""
    while asked.read(1 << 16):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
