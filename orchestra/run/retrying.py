"""A node that failed, done again as a whole."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from orchestra.errors import (
    ModelError,
    ModelReplyInvalid,
    ModelTimeout,
    NodeTimeout,
    OrchestraError,
    OutputInvalid,
    UnexpectedFailure,
)
from orchestra.run.standing_in import attempts_left
from orchestra.run.state import Run
from orchestra.run.toolbox import OF_PEOPLE
from orchestra.runtime.node import Node
from orchestra.runtime.retry import RetryPolicy

T = TypeVar("T")


async def with_retries(
    run: Run, node: Node, retries: int, work: Callable[[int], Awaitable[T]], *, is_code: bool = False
) -> T:
    """What `work(number)` gives for `node`, number being 0, then 1 and so on up to `retries` where it fails.

    It is done again after what may go better next time: an overload, a timeout, a reply that cannot be used. Each
    failure counts towards `max_attempts`. What has had an effect that must not come twice is not done again. Of a code
    skill (`is_code`) what it raised counts as well: nobody knows what it was.
    """
    for number in itertools.count():
        failed_before = node.failed_attempts
        try:
            return await work(number)
        except OrchestraError as error:
            if node.failed_attempts == failed_before:  # a reply came, and was of no use
                node.failed_attempts += 1
            is_possible = number < retries and attempts_left(run, node) > 0 and _can_be_done_again(run, node)
            if not is_possible or not (may_go_better(error) or (is_code and isinstance(error, UnexpectedFailure))):
                raise
            delay = RetryPolicy().backoff_s(number + 1, error)
            run.scheduler.retry_scheduled(node, node.earlier_attempts + 1, delay, error)
        await run.scheduler.pause(delay)
    raise AssertionError("unreachable")


def may_go_better(error: OrchestraError) -> bool:
    """Whether the same work may succeed when it is done again."""
    if isinstance(error, NodeTimeout | ModelTimeout | ModelReplyInvalid | OutputInvalid):
        return True
    return isinstance(error, ModelError) and error.is_retryable


def _can_be_done_again(run: Run, node: Node) -> bool:
    """Whether all tools that were called for a node are idempotent; nobody is asked the same thing twice."""
    for called in run.tool_calls.get(node.id, ()):
        tool = run.tools.own.get(called.name)
        if called.name in OF_PEOPLE or (tool is not None and not tool.is_idempotent):
            return False
    return True
