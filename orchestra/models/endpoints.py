"""What the process knows of the servers that it calls: how fast a key may be used, and whether anybody is there."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from orchestra.errors import ModelError, ModelRateLimited
from orchestra.models.breaker import Breaker, counts
from orchestra.models.keys import Credential
from orchestra.models.limiting import Gate

MOST_ENDPOINTS = 256


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server as one key sees it. The gate is the key's, the breaker that of all who call the server."""

    gate: Gate
    breaker: Breaker

    def before(self, model: str) -> float:
        """To be called before a request; the moment to hand to `answered`. Raises what an open breaker refuses with."""
        self.breaker.check(model)
        return self.gate.clock()

    def answered(self, model: str, status: int, headers: Mapping[str, str], sent_at: float) -> None:
        """A response is there, its body still to come."""
        self.gate.learn(model, headers, sent_at, is_refusal=status == 429)
        if status < 500 or status == 504:
            self.breaker.succeed()

    def failed(self, model: str, error: ModelError) -> None:
        """The call came to nothing, as `error` says."""
        if isinstance(error, ModelRateLimited) and error.is_retryable:
            self.gate.hold(model, error.retry_after_s)
        if counts(error):
            self.breaker.fail(error)


def shared_endpoint(provider: str, base_url: str, credential: Credential | None) -> Endpoint:
    """The process's own record of an endpoint: the same for the same provider, base URL and key."""
    server, key = (provider, base_url), credential.digest if credential else b""
    with _lock:
        known = _endpoints.get((*server, key))
        if known is None:
            if len(_endpoints) >= MOST_ENDPOINTS:
                del _endpoints[next(iter(_endpoints))]
            same_server = (each.breaker for (*other, _), each in _endpoints.items() if tuple(other) == server)
            known = Endpoint(Gate(), next(same_server, None) or Breaker())
            _endpoints[(*server, key)] = known
        return known


def forget_endpoints() -> None:
    """Start afresh: whatever was learned of limits and failures is gone."""
    global _lock
    _lock = threading.Lock()  # after a fork it may have been held
    for endpoint in _endpoints.values():
        endpoint.gate.forget()
        endpoint.breaker.forget()


_endpoints: dict[tuple[str, str, bytes], Endpoint] = {}
_lock = threading.Lock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_endpoints)
