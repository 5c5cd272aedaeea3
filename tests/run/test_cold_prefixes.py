"""Calls behind one prompt prefix, against a real HTTP server: who waits for whom, and what the result says of misses."""

from __future__ import annotations

import threading

import pytest
from models_for_tests import at, codes, plan_of
from servers import anthropic_message, json_answer, openai_completion

from orchestra import orchestrate
from orchestra.runtime import prefixes

WORDS = " ".join(f"word{number}" for number in range(400))
REPORT = "\n".join(line for n in range(1, 6) for line in (f"# Chapter {n}", "", f"Only {n} says xyz{n}. {WORDS}", ""))
SKILLS = ("critique", "summarization", "causal_reasoning")
ONE_SLICE = plan_of(*({"skill": skill, "context_pointers": at("s1", "s2")} for skill in SKILLS))
OVERLAPPING = plan_of({"context_pointers": at("s1", "s2", "s3")}, {"context_pointers": at("s1", "s2", "s4")})
CLAUDE, GPT = "anthropic:claude-sonnet-4-5", "openai:gpt-4o"


class Server:
    """Answers as both providers; keeps the order of arrivals and answers.

    Calls are numbered by arrival: which of them hit the cache, fail, and are answered once all of `together` are here.
    The first one is answered late, unless another comes meanwhile: who does not wait for it shows in the log.
    """

    def __init__(self, *, cached=(), failing=(), together=()):
        self._second_is_here = threading.Event()
        self.log: list[str] = []
        self.blocks: list[list[dict]] = []
        self._cached, self._failing = cached, failing
        self._together = threading.Barrier(len(together), timeout=10) if together else None
        self._waits = together
        self._lock = threading.Lock()

    def __call__(self, received, wire):
        content = received.json["messages"][-1]["content"]
        if "<excerpts>" not in str(content):
            return self._answer(received, 0)
        with self._lock:
            number = sum(entry.startswith("arrived") for entry in self.log) + 1
            self.log.append(f"arrived {number}")
            self.blocks.append(content)
        if number == 1 and 1 not in self._waits:
            self._second_is_here.wait(0.1)
        self._second_is_here.set()
        if self._together is not None and number in self._waits:
            self._together.wait()
        with self._lock:
            self.log.append(f"answered {number}")
        if number in self._failing:
            return json_answer({"error": {"type": "invalid_request_error", "message": "no"}}, status=400)
        return self._answer(received, 1_000 if number in self._cached else 0)

    def _answer(self, received, cached):
        if received.path.endswith("/messages"):
            usage = {"input_tokens": 50, "cache_creation_input_tokens": 1_000 - cached}
            return json_answer(
                anthropic_message("So [L3].", usage={**usage, "cache_read_input_tokens": cached, "output_tokens": 5})
            )
        answer = openai_completion("So [L3].")
        answer["usage"] = {
            "prompt_tokens": 1_050, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": cached},
        }  # fmt: skip
        return json_answer(answer)


@pytest.fixture(autouse=True)
def _no_memory_of_other_tests(monkeypatch):
    monkeypatch.setattr(prefixes.sent_prefixes, "_entries", type(prefixes.sent_prefixes._entries)())


@pytest.fixture
def provide(serve, monkeypatch):
    """`provide(server)` makes it the server of both providers."""

    def start(server):
        url = serve(server).url
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test-key")
        return server

    return start


def ask(plan, model=CLAUDE):
    return orchestrate(REPORT, "Tell.", plan=plan, model=model, max_followups=0)


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_calls_behind_a_cold_prefix_wait_for_the_first_and_then_go_at_once(provide, model):
    server = provide(Server(cached=(2, 3), together=(2, 3)))

    result = ask(ONE_SLICE, model)

    assert server.log[:2] == ["arrived 1", "answered 1"]
    assert sorted(server.log[2:4]) == ["arrived 2", "arrived 3"]
    assert result.usage.subtasks.cached_input_tokens == 2_000
    assert "CACHE_MISSED" not in codes(result)


def test_when_the_first_fails_the_others_go_anyway(provide):
    provide(Server(failing=(1,), together=(2, 3)))

    result = ask(ONE_SLICE)

    assert [subtask.status for subtask in result.subtasks] == ["failed", "completed", "completed"]


def test_a_prefix_that_an_earlier_run_has_written_is_not_waited_for(provide):
    provide(Server(cached=(4, 5, 6), together=(4, 5, 6)))
    ask(ONE_SLICE)

    result = ask(ONE_SLICE)

    assert result.status == "completed"


def test_calls_that_share_nothing_go_at_once(provide):
    provide(Server(together=(1, 2, 3)))
    plan = plan_of(*({"context_pointers": at(section)} for section in ("s1", "s2", "s3")))

    assert ask(plan).status == "completed"


def test_a_prefix_below_the_model_s_minimum_is_neither_marked_nor_waited_for(provide):
    server = provide(Server(together=(1, 2, 3)))

    assert ask(ONE_SLICE, "anthropic:claude-opus-4-5").status == "completed"
    assert not any("cache_control" in block for blocks in server.blocks for block in blocks)


def test_only_what_is_shared_is_marked_and_it_is_the_same_to_the_byte(provide):
    server = provide(Server(cached=(2,)))

    ask(OVERLAPPING)

    one, two = server.blocks
    assert one[0] == two[0]
    assert [["cache_control" in block for block in blocks][:2] for blocks in (one, two)] == [[True, False]] * 2
    assert "xyz1" in one[0]["text"]
    assert "xyz2" in one[0]["text"]
    assert ("xyz3" in one[1]["text"], "xyz4" in two[1]["text"]) == (True, True)


def test_a_lone_slice_is_not_written_to_a_cache(provide):
    server = provide(Server())

    ask(plan_of({"context_pointers": at("s1", "s2")}))

    assert not any("cache_control" in block for block in server.blocks[0])


@pytest.mark.parametrize("model", [CLAUDE, GPT])
def test_a_hit_that_does_not_come_is_told_with_its_reason(provide, model):
    provide(Server(cached=(2,)))

    result = ask(ONE_SLICE, model)

    (notice,) = [notice for notice in result.warnings if notice.code == "CACHE_MISSED"]
    assert notice.node_id in ("run/subtask-2", "run/subtask-3")
    assert "the reason is unknown" in notice.message


def test_two_runs_that_begin_together_miss_because_the_entry_did_not_exist(provide):
    provide(Server(together=(1, 2), cached=(3, 4, 5, 6)))
    results = []

    threads = [threading.Thread(target=lambda: results.append(ask(ONE_SLICE))) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    told = [notice.message for result in results for notice in result.warnings if notice.code == "CACHE_MISSED"]
    assert len(told) == 1
    assert "before the entry existed" in told[0]


def test_a_provider_without_a_known_cache_is_never_accused_or_waited_for(provide):
    provide(Server(together=(1, 2, 3)))

    result = ask(ONE_SLICE, "openai:some-local-model")

    assert result.status == "completed"
    assert "CACHE_MISSED" not in codes(result)
