"""Fixtures for every room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from databases import MISSING, PostgresServer, is_installed, new_schema, new_server, session_server_url
from servers import Script, ScriptedServer

from orchestra.models.endpoints import forget_endpoints
from orchestra.store import Store


@pytest.fixture(autouse=True)
def _nothing_known_of_servers() -> None:
    """Ports come back: what one test's server did must not hold back the calls to the next one's."""
    forget_endpoints()


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """`serve(script)` starts a loopback server that answers each request as `script` says."""
    with ExitStack() as stack:

        def start(script: Script, **options: object) -> ScriptedServer:
            return stack.enter_context(ScriptedServer(script, **options))

        yield start


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PostgreSQL server that all tests of the session share."""
    url = session_server_url(tmp_path_factory)
    if not url:
        pytest.skip(MISSING)
    return url


@pytest.fixture
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of the test's own, which it may end and start again."""
    if not is_installed():
        pytest.skip(MISSING)
    with new_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty store can be opened; the test runs once for each database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.db'}"
        return
    with new_schema(request.getfixturevalue("postgres_url")) as url:
        yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An open store, on each database."""
    with Store.open(store_url) as opened:
        yield opened
