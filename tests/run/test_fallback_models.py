"""Models that stand in: `orchestrate(models=[first, second, ...])`."""

from __future__ import annotations

import pytest
from models_for_tests import COSTS, REPORT, REVENUE, ScriptedModel, plan_of

from orchestra import Result, WorkerPool, orchestrate
from orchestra.errors import (
    ContextTooLong,
    InputInvalid,
    ModelAuth,
    ModelBadRequest,
    ModelOverloaded,
    ModelRateLimited,
    ModelReplyInvalid,
    ModelUnreachable,
)
from orchestra.models.protocol import ModelReply, Usage
from orchestra.runtime.events import AnswerDelta, ModelFellBack

ONE = plan_of({"context_pointers": COSTS})
BUSY = ModelOverloaded("529", retry_after_s=0.001)


class Named(ScriptedModel):
    def __init__(self, name, **answers):
        super().__init__(**answers)
        self.name = name


def pair(first, second="From the second [L9]."):
    return [Named("anthropic:claude-sonnet-5-5", subtask=first), Named("openai:gpt-6-luna", subtask=second)]


def run(models, plan=ONE, **options):
    return orchestrate(REPORT, "Why?", models=models, plan=plan, **{"max_followups": 0, **options})


@pytest.mark.parametrize(
    "failure",
    [BUSY, ModelUnreachable("gone", retry_after_s=0.001), ModelRateLimited("429", retry_after_s=0.001),
     ModelUnreachable("no certificate", is_retryable=False), ModelRateLimited("429", retry_after_s=500),
     ModelOverloaded("was not asked", is_retryable=False, was_sent=False)],
)  # fmt: skip
def test_the_next_model_stands_in_and_the_run_says_so(failure):
    models, events = pair(failure), []

    result = run(models, on_event=events.append)

    assert result.status == "completed"
    assert result.answer.startswith("From the second")
    told = [event for event in events if isinstance(event, ModelFellBack)]
    assert [(event.model, event.instead_of) for event in told] == [("openai:gpt-6-luna", "anthropic:claude-sonnet-5-5")]
    assert [notice.code for notice in result.warnings] == ["MODEL_FELL_BACK"]


@pytest.mark.parametrize("failure", [ModelAuth("401"), ModelBadRequest("400"), ContextTooLong("long")])
def test_nobody_stands_in_for_what_is_about_the_request_or_the_key(failure):
    models = pair(failure)

    result = run(models)

    assert result.subtasks[0].error.code == failure.code
    assert models[1].requests == []


def test_the_bill_names_the_model_that_answered_and_has_its_price():
    models = pair(BUSY, ModelReply("So [L9].", Usage(1_000_000, output_tokens=0)))

    result = run(models)

    assert result.usage.subtasks.model == "openai:gpt-6-luna"
    assert result.subtasks[0].usage.model == "openai:gpt-6-luna"
    assert result.usage.cost_usd == pytest.approx(0.2)


def test_a_phase_in_which_two_models_answered_has_a_part_for_each():
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE})
    million = ModelReply("So [L9].", Usage(1_000_000))
    models = pair([million, BUSY], million)
    models[0]._answers["synthesis"] = "Joined [L9]."

    usage = run(models, plan, max_workers=1, max_attempts=2).usage.subtasks

    assert [(part.model, part.calls) for part in usage.by_model] == [
        ("anthropic:claude-sonnet-5-5", 1), ("openai:gpt-6-luna", 1)]  # fmt: skip
    assert usage.calls == 2
    assert usage.input_tokens == 2_000_000
    assert usage.cost_usd == pytest.approx(2.2)


def test_such_a_result_comes_back_from_json_as_it_was():
    models = pair([ModelReply("So [L9].", Usage(10)), BUSY], "So [L9].")
    models[0]._answers["synthesis"] = "Joined [L9]."
    result = run(models, plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE}), max_workers=1)

    assert Result.model_validate_json(result.model_dump_json()) == result


@pytest.mark.parametrize(("max_attempts", "sent"), [(1, [1, 0]), (2, [1, 1]), (3, [2, 1]), (5, [4, 1])])
def test_one_cap_holds_the_attempts_of_all_models_and_one_is_kept_for_each_that_stands_in(max_attempts, sent):
    models = pair(BUSY, BUSY)

    result = run(models, max_attempts=max_attempts)

    assert [len(model.requests) for model in models] == sent
    assert result.subtasks[0].attempts == sum(sent)


def test_what_was_refused_unsent_is_no_attempt():
    models = pair(ModelOverloaded("was not asked", is_retryable=False, was_sent=False), BUSY)

    run(models, max_attempts=3)

    assert [len(model.requests) for model in models] == [1, 3]


def test_when_nobody_answers_the_error_is_the_first_models_and_names_the_others():
    models = pair(BUSY, ModelAuth("no key"))

    error = run(models, max_attempts=2).subtasks[0].error

    assert error.code == "MODEL_OVERLOADED"
    assert "openai:gpt-6-luna after it: MODEL_AUTH: no key" in error.cause


def test_the_next_call_begins_with_the_first_model_again():
    plan = plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE})
    models = pair([BUSY, "From the first [L9]."])
    models[0]._answers["synthesis"] = "Joined [L9]."

    result = run(models, plan, max_workers=1, max_attempts=2)

    assert sorted(subtask.reply for subtask in result.subtasks) == ["From the first [L9].", "From the second [L9]."]


def test_a_stream_that_broke_off_starts_anew_with_the_model_that_stands_in():
    def half(request):
        request.on_delta("Half an ")
        raise ModelOverloaded("529", is_retryable=False)

    events = []
    run(pair(half), on_event=events.append)

    deltas = [event for event in events if isinstance(event, AnswerDelta)]
    assert [event.attempt for event in deltas][:2] == [1, 2]
    assert "".join(event.text for event in deltas if event.attempt == 2).startswith("From")


def test_all_phases_fall_back_and_the_result_names_who_may_be_sent_text():
    busy = Named("first", plan=BUSY, subtask=BUSY, synthesis=BUSY)
    two = plan_of({"context_pointers": COSTS}, {"context_pointers": REVENUE})
    second = Named("second", plan=two, subtask="So [L9].", synthesis="Joined [L9].")

    result = orchestrate(REPORT, "Why?", models=[busy, second], strategy="full", max_attempts=2)

    assert result.status == "completed"
    assert result.models["fallback-1"] == "second"
    assert {phase.model for phase in result.usage.phases if phase.calls} == {"second"}


def test_a_budget_holds_whoever_answers():
    models = pair(ModelReplyInvalid("broken", is_retryable=False), "So [L9].")

    result = run(models, max_tokens_total=10)

    assert result.subtasks[0].error.code == "BUDGET_EXCEEDED"
    assert [len(model.requests) for model in models] == [0, 0]


@pytest.mark.parametrize("models", [[], "anthropic:a", [None], ["builtin:extractive", "builtin:extractive"]])
def test_a_list_that_makes_no_sense_is_refused(models):
    with pytest.raises(InputInvalid):
        run(models)


def test_model_and_models_together_are_refused():
    with pytest.raises(InputInvalid, match="both given"):
        orchestrate(REPORT, "Why?", model="builtin:extractive", models=["builtin:extractive"])


def test_a_pool_that_is_closed_or_none_is_refused_before_anything_is_sent():
    closed = WorkerPool(1)
    closed.close()

    for pool in (closed, 8):
        with pytest.raises(InputInvalid, match="pool"):
            run(pair("So [L9]."), pool=pool)
