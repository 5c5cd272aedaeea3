"""Runs that share a key with a rate limit, over a real connection."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from models_for_tests import COSTS, REPORT, plan_of
from servers import ScriptedServer, json_answer, openai_completion

from orchestra import WorkerPool, orchestrate
from orchestra.models.openai import OpenAIModel
from orchestra.runtime.events import CallHeldBack

ONE = plan_of({"context_pointers": COSTS})
GOOD = json_answer(openai_completion("Steel became dearer [L9]."))
CAPACITY, A_SECOND = 10, 20


class Limited:
    """A server with a bucket of tokens, one for each request."""

    def __init__(self, capacity=CAPACITY, a_second=A_SECOND):
        self.capacity, self.a_second = capacity, a_second
        self.level, self.filled_at = float(capacity), time.monotonic()
        self.refused = 0
        self._lock = threading.Lock()

    def __call__(self, received, wire):
        with self._lock:
            now = time.monotonic()
            self.level = min(self.capacity, self.level + (now - self.filled_at) * self.a_second)
            self.filled_at = now
            is_refused = self.level < 1
            self.refused += is_refused
            self.level -= not is_refused
            headers = {
                "x-ratelimit-limit-requests": str(self.capacity),
                "x-ratelimit-remaining-requests": str(int(self.level)),
                "x-ratelimit-reset-requests": f"{(self.capacity - self.level) / self.a_second:.3f}s",
            }
        if is_refused:
            return json_answer({"error": {"message": "slow down"}}, status=429, headers=headers)
        return json_answer(openai_completion("Steel became dearer [L9]."), headers=headers)


def run(server, name="m", **options):
    model = OpenAIModel(name, base_url=f"{server.url}/v1", key="shared")
    return orchestrate(REPORT, "Why?", model=model, plan=ONE, **{"max_followups": 0, **options})


def refuse_first(headers):
    """A script that answers all but its first request."""
    answers = [json_answer({"error": {"message": "slow down"}}, status=429, headers=headers)]
    return lambda received, wire: answers.pop() if answers else GOOD


def test_fifty_runs_at_once_do_not_meet_a_wall_of_refusals():
    limited = Limited()
    with ScriptedServer(limited) as server, ThreadPoolExecutor(50) as threads:
        results = list(threads.map(lambda _: run(server), range(50)))

    assert [result.status for result in results] == ["completed"] * 50
    assert limited.refused <= 5


def test_a_wait_asked_for_by_the_server_is_not_on_the_clock_of_the_call():
    with ScriptedServer(refuse_first({"retry-after-ms": "600"})) as server:
        result = run(server, timeout_s=0.3)

    assert result.status == "completed"


def test_another_run_with_the_same_key_waits_too_and_says_so():
    refused, events = threading.Event(), []
    script = refuse_first({"retry-after-ms": "700"})

    def tell(received, wire):
        answer = script(received, wire)
        refused.set()
        return answer

    def second(server):
        refused.wait(10)
        time.sleep(0.1)  # the refusal is on its way
        return run(server, on_event=events.append)

    with ScriptedServer(tell) as server, ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run, server), threads.submit(second, server)]

        assert [each.result(30).status for each in runs] == ["completed"] * 2
    held = [event for event in events if isinstance(event, CallHeldBack)]
    assert [event.node_id for event in held] == ["run/subtask-1"]
    assert 0 < held[0].delay_s < 0.71
    assert "asked to be left alone" in held[0].reason


def test_a_call_that_is_held_back_holds_no_worker():
    with (
        ScriptedServer(refuse_first({"retry-after": "2"})) as busy,
        ScriptedServer(lambda received, wire: GOOD) as free,
        WorkerPool(1) as pool,
        ThreadPoolExecutor(1) as threads,
    ):
        held = threads.submit(run, busy, pool=pool)
        while not busy.requests:
            time.sleep(0.01)

        assert run(free, "other", pool=pool).status == "completed"
        assert not held.done()
        assert held.result(30).status == "completed"
