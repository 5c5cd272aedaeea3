"""A run whose process is killed, at any moment, and that goes on in another one.

ORCHESTRA_TEST_KILLS says how many moments are tried (on each database); a few, unless it is set.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest
from killable_run import CHAPTERS, OPTIONS, REPORT, TASK, Script

from orchestra import orchestrate, resume
from orchestra.errors import RunBusy
from orchestra.store import Store

KILLS = int(os.environ.get("ORCHESTRA_TEST_KILLS", "2"))
LONGEST_S = 0.13  # a little more than the slowest reply takes
NODES = {"run/plan", "run/synthesis", *(f"run/subtask-{number}" for number in range(1, CHAPTERS + 1))}


@pytest.fixture
def server(serve, monkeypatch):
    script = Script()
    server = serve(script)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    return script


@pytest.fixture
def uninterrupted(server):
    result = orchestrate(REPORT, TASK, store=False, **OPTIONS)
    assert set(server.asked) == NODES
    server.asked.clear()
    return result


def started(store_url):
    """A process with a run, and the run's id."""
    script = Path(__file__).with_name("killable_run.py")
    process = subprocess.Popen([sys.executable, str(script), store_url], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()


def finished(store_url, run_id):
    """The nodes whose model calls are on record as finished, and those whose were under way."""
    with Store.open(store_url) as store:
        calls = [call for call in store.calls(run_id) if call.kind == "model"]
    return {call.node_id for call in calls if call.payload}, {call.node_id for call in calls if not call.payload}


def assert_the_same(result, uninterrupted):
    assert result.answer == uninterrupted.answer
    assert result.usage.model_dump() == uninterrupted.usage.model_dump()
    assert result.citations == uninterrupted.citations
    assert result.status == "completed"


@pytest.mark.parametrize("seed", range(KILLS))
def test_after_a_kill_at_any_moment_no_finished_call_is_sent_again(store_url, server, uninterrupted, seed):
    chance = random.Random(seed)
    process, run_id = started(store_url)
    server.wait_for(chance.randint(0, len(NODES)))
    threading.Event().wait(chance.uniform(0, LONGEST_S))
    end(process)
    done, under_way = finished(store_url, run_id)
    server.asked.clear()

    result = resume(run_id, store=store_url)

    assert_the_same(result, uninterrupted)
    assert not done & set(server.asked)
    assert Counter(server.asked) == Counter(NODES - done)
    repeated = {notice.node_id for notice in result.warnings if notice.code == "CALL_REPEATED"}
    assert repeated == under_way
    print(f"killed with {len(done)} finished, {len(under_way)} under way; {len(server.asked)} sent on")


def test_a_run_that_is_killed_again_and_again_pays_for_each_call_once(store_url, server, uninterrupted):
    process, run_id = started(store_url)
    server.wait_for(1)
    end(process)
    code = f"import sys; from orchestra import resume; resume({run_id!r}, store=sys.argv[1])"
    for requests in (2, 5, 8):
        again = subprocess.Popen([sys.executable, "-c", code, store_url], stdout=subprocess.PIPE, text=True)
        server.wait_for(requests)
        end(again)
    done, _ = finished(store_url, run_id)
    server.asked.clear()

    result = resume(run_id, store=store_url)

    assert_the_same(result, uninterrupted)
    assert Counter(server.asked) == Counter(NODES - done)


def test_of_two_processes_that_work_on_a_run_the_second_says_so(store_url, server, uninterrupted):
    server.unit_s = 10
    process, run_id = started(store_url)
    server.wait_for(1)

    with pytest.raises(RunBusy, match=run_id) as busy:
        resume(run_id[:8], store=store_url)

    assert f"process {process.pid} on" in busy.value.cause
    server.unit_s = 0.01
    end(process)
    assert_the_same(resume(run_id[:8], store=store_url), uninterrupted)


def test_of_many_who_resume_a_run_at_once_one_wins(store_url, server, uninterrupted):
    process, run_id = started(store_url)
    server.wait_for(1)
    end(process)
    server.asked.clear()
    together, outcomes = threading.Barrier(4), []

    def go_on():
        together.wait()
        try:
            outcomes.append(resume(run_id, store=store_url))
        except RunBusy as error:
            outcomes.append(error)

    threads = [threading.Thread(target=go_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    results = [each for each in outcomes if not isinstance(each, RunBusy)]
    assert results
    for result in results:
        assert_the_same(result, uninterrupted)
    assert max(Counter(server.asked).values()) == 1


def test_a_run_outlives_its_database_server(postgres_server, server, uninterrupted):
    process, run_id = started(postgres_server.url)
    server.wait_for(3)

    postgres_server.kill()
    postgres_server.start()

    assert process.stdout.readline().strip() == "ended"
    process.wait()
    process.stdout.close()
    done, under_way = finished(postgres_server.url, run_id)
    assert (done, under_way) == (NODES, set())
    server.asked.clear()
    assert_the_same(resume(run_id, store=postgres_server.url), uninterrupted)
    assert server.asked == []


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_run_and_its_database_server_are_killed_together(postgres_server, server, uninterrupted, seed):
    chance = random.Random(seed)
    process, run_id = started(postgres_server.url)
    server.wait_for(chance.randint(1, len(NODES)))
    threading.Event().wait(chance.uniform(0, LONGEST_S))

    postgres_server.kill()
    end(process)
    postgres_server.start()

    done, _ = finished(postgres_server.url, run_id)
    server.asked.clear()
    assert_the_same(resume(run_id, store=postgres_server.url), uninterrupted)
    assert Counter(server.asked) == Counter(NODES - done)
