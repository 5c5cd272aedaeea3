"""What adapters report of their servers, over a real connection."""

from __future__ import annotations

import pytest
from servers import ScriptedServer, answer, json_answer, openai_completion

from orchestra.errors import ModelError, ModelOverloaded, ModelRateLimited, ModelUnreachable
from orchestra.models.blocks import Instructions, Task
from orchestra.models.breaker import Breaker
from orchestra.models.endpoints import Endpoint, shared_endpoint
from orchestra.models.keys import Credential
from orchestra.models.limiting import Gate, Need
from orchestra.models.openai import OpenAIModel
from orchestra.models.protocol import ModelRequest

REQUEST = ModelRequest((Instructions("Answer."), Task("Why?")))
FULL = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "60s"}


def model_at(server, **parts):
    endpoint = Endpoint(parts.get("gate") or Gate(), parts.get("breaker") or Breaker())
    return OpenAIModel("m", base_url=f"{server.url}/v1", key="none", endpoint=endpoint)


def wait_s(model):
    return model.gate.ticket(model.name, lambda: Need(1, 1)).wait_s()


def test_limits_are_learned_from_a_reply():
    with ScriptedServer(lambda received, wire: json_answer(openai_completion(), headers=FULL)) as server:
        model = model_at(server)

        model.complete(REQUEST)

    assert 0 < wait_s(model) < 1.2


def test_a_429_holds_everyone_back_for_as_long_as_it_says():
    refusal = json_answer({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "9"})
    with ScriptedServer(lambda received, wire: refusal) as server:
        model = model_at(server)

        with pytest.raises(ModelRateLimited):
            model.complete(REQUEST)

    assert 8 < wait_s(model) < 9.1


def test_an_account_without_money_holds_nobody_back():
    refusal = json_answer({"error": {"message": "insufficient_quota", "code": "insufficient_quota"}}, status=429)
    with ScriptedServer(lambda received, wire: refusal) as server:
        model = model_at(server)

        with pytest.raises(ModelRateLimited):
            model.complete(REQUEST)

    assert wait_s(model) == 0


def test_a_dead_server_is_not_called_any_more():
    with ScriptedServer(lambda received, wire: answer(b"no", status=529)) as server:
        model = model_at(server, breaker=Breaker(over_s=0))
        for _ in range(5):
            with pytest.raises(ModelOverloaded, match="answered with status 529"):
                model.complete(REQUEST)

        with pytest.raises(ModelOverloaded, match="was not asked") as caught:
            model.complete(REQUEST)

    assert "the endpoint failed 5 times in a row" in caught.value.cause
    assert len(server.requests) == 5


def test_a_server_that_is_gone_is_unreachable_at_once():
    with ScriptedServer(lambda received, wire: None) as server:
        model = model_at(server, breaker=Breaker(over_s=0, failures=2))
    for _ in range(2):
        with pytest.raises(ModelUnreachable, match="no connection"):
            model.complete(REQUEST)

    with pytest.raises(ModelUnreachable, match="was not asked"):
        model.complete(REQUEST)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 504])
def test_a_server_that_answers_is_not_dead_whatever_it_says(status):
    with ScriptedServer(lambda received, wire: answer(b"no", status=status)) as server:
        model = model_at(server, breaker=Breaker(over_s=0, failures=2))

        for _ in range(4):
            with pytest.raises(ModelError, match=f"status {status}"):
                model.complete(REQUEST)


def test_the_server_is_called_again_after_a_while():
    answers = [answer(b"no", status=500), answer(b"no", status=500), json_answer(openai_completion())]
    with ScriptedServer(lambda received, wire: answers.pop(0)) as server:
        model = model_at(server, breaker=Breaker(over_s=0, failures=2, open_s=0))
        for _ in range(2):
            with pytest.raises(ModelOverloaded):
                model.complete(REQUEST)

        assert model.complete(REQUEST).text == "The value is 42."


def test_an_endpoint_is_shared_by_provider_address_and_key():
    one, other = Credential("authorization", "Bearer key-of-one"), Credential("authorization", "Bearer key-of-other")
    mine = shared_endpoint("openai", "http://shared", one)

    assert shared_endpoint("openai", "http://shared", Credential("authorization", "Bearer key-of-one")) is mine
    assert shared_endpoint("openai", "http://shared", other).gate is not mine.gate
    assert shared_endpoint("openai", "http://shared", other).breaker is mine.breaker
    assert shared_endpoint("openai", "http://elsewhere", one).breaker is not mine.breaker


def test_the_digest_of_a_key_does_not_hold_the_key():
    credential = Credential("x-api-key", "sk-secret-value")

    assert b"secret" not in credential.digest
    assert "secret" not in repr(credential)
