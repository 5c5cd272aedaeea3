"""Fixtures for every room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from servers import Script, ScriptedServer


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """`serve(script)` starts a loopback server that answers each request as `script` says."""
    with ExitStack() as stack:

        def start(script: Script, **options: object) -> ScriptedServer:
            return stack.enter_context(ScriptedServer(script, **options))

        yield start
