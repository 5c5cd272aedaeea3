"""Processes that tests start: none outlives its test, however that ends."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """The process of `command`, with its standard output to be read; killed if it is still there in the end."""
    with subprocess.Popen(command, text=True, **{"stdout": subprocess.PIPE, **options}) as process:
        try:
            yield process
        finally:
            process.kill()
