from __future__ import annotations

import json
import subprocess
import sys

import pytest

import orchestra
from orchestra.models.protocol import Usage
from orchestra.result import UsageReport


def test_a_price_is_looked_up_when_it_is_asked_for_and_kept_with_the_report():
    report = UsageReport.of("anthropic:claude-sonnet-5-5", Usage(1_000_000, output_tokens=100_000))

    stored = json.loads(report.model_dump_json())
    stored["cost_usd"] = 123.0
    again = UsageReport.model_validate(stored)

    assert report.cost_usd == pytest.approx(3.0)
    assert again.cost_usd == 123.0


def test_what_a_server_of_one_s_own_answers_has_no_list_price():
    report = UsageReport.of("openai:gpt-6-sol", Usage(1_000_000), host="127.0.0.1")

    assert report.cost_usd is None


def test_what_was_not_called_costs_nothing():
    assert UsageReport(model="openai:some-unknown-model").cost_usd == 0.0


def test_a_run_that_nobody_asks_the_price_of_does_not_load_the_price_list():
    code = (
        "import sys; from orchestra import orchestrate; "
        "r = orchestrate('# A\\n\\nThe sky is blue.', 'What colour is the sky?', model='builtin:extractive'); "
        "assert 'blue' in r.answer, r.answer; print('genai_prices' in sys.modules); r.usage.cost_usd"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_importing_the_package_loads_nothing_that_a_run_may_not_need():
    code = (
        "import orchestra, sys; print(*(m for m in ('pydantic', 'httpx', 'markdown_it', 'rich') if m in sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", orchestra.__all__)
def test_every_public_name_is_there(name):
    assert getattr(orchestra, name).__name__ == name


def test_a_name_that_does_not_exist_says_so():
    with pytest.raises(AttributeError, match="no_such_name"):
        orchestra.no_such_name  # noqa: B018
