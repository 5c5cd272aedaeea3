"""Runs against a server that misbehaves in every way. `ORCHESTRA_CHAOS_RUNS=500` makes them more.

Every run ends by itself as completed, partial or failed, with a stable code; nothing that finished is lost; and when
all have ended, no thread, socket or file of theirs is left.
"""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from chaos import REPORT, chaos_server, mark, plan_for

from orchestra import WorkerPool, errors, orchestrate
from orchestra.models.anthropic import AnthropicModel
from orchestra.models.breaker import Breaker
from orchestra.models.endpoints import Endpoint
from orchestra.models.limiting import Gate
from orchestra.models.openai import OpenAIModel
from orchestra.models.transport import shared_transport
from orchestra.runtime import workers
from orchestra.runtime.events import NodeUpdated

RUNS = int(os.environ.get("ORCHESTRA_CHAOS_RUNS", "60"))
AT_ONCE = 6
BOUND_S = 300.0  # of any one run, on a machine that does much else
SETTLE_S = 60.0


def all_codes(kind=errors.OrchestraError):
    return {kind.code}.union(*(all_codes(below) for below in kind.__subclasses__()))


def model_at(url, provider, *, own_endpoint):
    endpoint = Endpoint(Gate(), Breaker()) if own_endpoint else None
    if provider == "openai":
        return OpenAIModel("m-1", base_url=f"{url}/v1", key="none", endpoint=endpoint)
    return AnthropicModel("claude-sonnet-5-5", base_url=url, key="none", endpoint=endpoint)


def one_run(seed, pool):
    """Who ended how: the result's status and codes, or the code of the error that was raised."""
    dice, events = random.Random(seed), []
    subtasks = dice.randint(2, 4)
    with chaos_server(seed, subtasks=subtasks, calm=dice.choice([0.2, 0.5, 0.7, 0.9])) as server:
        first, second = dice.sample(["openai", "anthropic"], 2)
        models = [model_at(server.url, first, own_endpoint=dice.random() < 0.8)]
        if dice.random() < 0.4:
            models.append(model_at(server.url, second, own_endpoint=True))
        began = time.monotonic()
        try:
            result = orchestrate(
                REPORT,
                "What are the values?",
                models=models,
                plan=plan_for(subtasks) if dice.random() < 0.6 else None,
                strategy="full",
                on_event=events.append if dice.random() < 0.9 else None,
                pool=pool if dice.random() < 0.7 else None,
                timeout_s=dice.choice([0.2, 0.5, 1.0]),
                max_attempts=dice.randint(1, 4),
                retries=dice.randint(0, 2),
                max_workers=dice.randint(1, 5),
                max_followups=0,
                max_tokens_total=dice.choice([None, None, 20_000]),
            )
        except errors.OrchestraError as error:
            check_nothing_is_lost(events, {})
            return "raised", {error.code}, time.monotonic() - began
        check_nothing_is_lost(events, {f"run/subtask-{each.id}": each for each in result.subtasks})
        return result.status, {error.code for error in result.errors}, time.monotonic() - began


def check_nothing_is_lost(events, subtasks):
    done = [event for event in events if isinstance(event, NodeUpdated) and event.kind == "subtask"]
    for event in done:
        if event.status == "completed":
            kept = subtasks[event.node_id]
            assert kept.status == "completed"
            assert mark(int(kept.id)) in kept.reply


def open_files():
    return Counter(kind(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))


def kind(path):
    try:
        return os.readlink(path).partition(":")[0]
    except OSError:
        return "gone"


def let_go():
    """Give up what the process keeps between runs on purpose."""
    shared_transport().close()
    while workers._idle:
        workers._idle.pop().close()
    gc.collect()


def sockets_and_threads():
    files = open_files()
    return files["socket"], sum(files.values()) - files["gone"], threading.active_count()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted in /proc")
def test_every_run_ends_and_nothing_is_lost_or_left(monkeypatch):
    monkeypatch.setattr("orchestra.runtime.retry.RetryPolicy.backoff_s", lambda *_: 0.01)
    with WorkerPool(8) as pool:
        one_run(-1, pool), one_run(-2, pool)
    let_go()
    before = sockets_and_threads()

    with WorkerPool(8) as pool, ThreadPoolExecutor(AT_ONCE) as threads:
        started = [threads.submit(one_run, seed, pool) for seed in range(RUNS)]
        outcomes = [run.result(BOUND_S * RUNS) for run in started]

    let_go()
    settled_by = time.monotonic() + SETTLE_S
    while any(now > then for now, then in zip(sockets_and_threads(), before, strict=True)):
        assert time.monotonic() < settled_by, (
            f"left over (sockets, files, threads): {before} -> {sockets_and_threads()}"
        )
        time.sleep(0.05)
    statuses = Counter(status for status, _, _ in outcomes)
    codes = Counter(code for _, each, _ in outcomes for code in each)
    print(f"\n{RUNS} runs: {dict(statuses)}; codes: {dict(codes)}; longest {max(s for _, _, s in outcomes):.1f} s")
    assert set(statuses) <= {"completed", "partial", "failed", "raised"}
    assert set(codes) <= all_codes() - {"UNEXPECTED", "ORCHESTRA_ERROR"}
    assert max(seconds for _, _, seconds in outcomes) < BOUND_S
    assert statuses["completed"] > 0
