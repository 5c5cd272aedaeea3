"""Fixtures for the adapters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestra.models.transport import Transport, shared_transport


@pytest.fixture
def transport() -> Iterator[Transport]:
    """A transport of the test's own, so that the environment it sets is the one that is read."""
    own = Transport()
    yield own
    own.close()


@pytest.fixture(autouse=True)
def _no_connection_outlives_its_test() -> Iterator[None]:
    yield
    if shared_transport.cache_info().currsize:
        shared_transport().close()
