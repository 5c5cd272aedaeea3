"""Calls as a user's own loop makes them: a few at a time, tried again where that may help."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from orchestra.errors import ModelError, RunCancelled
from orchestra.models.blocks import Block
from orchestra.models.deadline import Cancellation, Deadline
from orchestra.models.protocol import Model, ModelReply, ModelRequest, Purpose
from orchestra.runtime.retry import RetryPolicy

TIMEOUT_S = 300.0
MAX_TOKENS = 2048  # what a reply may hold; as orchestrate has it for a subtask
TEMPERATURE = 0.3
CALLS_AT_ONCE = 5


@dataclass(frozen=True, slots=True)
class Asker:
    """Sends requests to one model. Raises the `ModelError` of a call that failed for good, `RunCancelled`."""

    model: Model
    cancellation: Cancellation
    policy: RetryPolicy = field(default_factory=RetryPolicy)

    def ask(self, blocks: Sequence[Block], purpose: Purpose) -> str:
        """The text of the reply to these blocks."""
        request = ModelRequest(tuple(blocks), purpose, max_tokens=MAX_TOKENS, temperature=TEMPERATURE)
        attempt = 1
        while True:
            try:
                return self._send(request).text
            except ModelError as error:
                delay_s = self.policy.delay_before_next(error, attempt)
                if delay_s is None:
                    raise
                self._wait(delay_s)
            attempt += 1

    def ask_all(self, prompts: Sequence[Sequence[Block]], purpose: Purpose) -> list[str]:
        """The texts of the replies, in the order of the prompts."""
        if len(prompts) < 2:
            return [self.ask(blocks, purpose) for blocks in prompts]
        with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
            return list(pool.map(lambda blocks: self.ask(blocks, purpose), prompts))

    def _send(self, request: ModelRequest) -> ModelReply:
        deadline = Deadline(TIMEOUT_S)
        forget = self.cancellation.on_cancel(deadline.cancel)
        try:
            deadline.check()
            return self.model.complete(replace(request, deadline=deadline))
        finally:
            forget()

    def _wait(self, seconds: float) -> None:
        woken = threading.Event()
        forget = self.cancellation.on_cancel(woken.set)
        try:
            if woken.wait(seconds):
                raise RunCancelled("the benchmark was stopped")
        finally:
            forget()
