"""`orchestra run --tool`: verbs by their names, and functions from the current folder."""

from __future__ import annotations

import json
import sys

import pytest
from servers import json_answer, openai_completion

LOOK_UP = 'def look_up(city: str) -> str:\n    """Look up a city."""\n    return city.upper()\n\nNAME = "Brno"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "my_own_tools.py").write_text(LOOK_UP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("my_own_tools", None)


@pytest.fixture
def provider(serve, monkeypatch):
    """A server that calls `look_up` and `read_section` once, then answers."""

    def script(received, wire):
        if any(message["role"] == "tool" for message in received.json["messages"]):
            return json_answer(openai_completion("It is Harrow Pike LLP [L7]."))
        called = [("look_up", {"city": "Brno"}), ("read_section", {"section": "Audit"})]
        calls = [
            {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for name, arguments in called
        ]
        return json_answer(openai_completion(None, tool_calls=calls, finish_reason="tool_calls"))

    server = serve(script)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    return server


def test_verbs_and_functions_of_the_users_own_are_called(call, report, folder, provider):
    options = ("--tool", "my_own_tools:look_up", "--tool", "read_section", "--strategy", "direct", "--no-store")

    done = call("run", report, "Who is the auditor?", "--model", "openai:m", "--json", *options)

    result = json.loads(done.stdout)
    assert [(each["name"], each["status"]) for each in result["subtasks"][0]["tool_calls"]] == [
        ("look_up", "completed"),
        ("read_section", "completed"),
    ]
    told = [message["content"] for message in provider.requests[-1].json["messages"] if message["role"] == "tool"]
    assert told[0] == "BRNO"
    assert "The auditor is Harrow Pike LLP" in told[1]
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("my_own_tools:fly", "has no 'fly'", 2),
        ("my_own_tools:NAME", "a str cannot be called", 2),
        ("no_such_module:fly", "No module named 'no_such_module'", 2),
        (":fly", "--tool :fly", 2),
        ("fly", "there is no verb 'fly'", 2),
    ],
)
def test_a_name_that_leads_nowhere_is_said_before_anything_is_sent(call, report, folder, provider, name, said, code):
    done = call("run", report, "Who is the auditor?", "--model", "openai:m", "--tool", name, "--no-store")

    assert (said in done.stderr, done.exit_code) == (True, code)
    assert provider.requests == []


def test_the_current_folder_hides_no_module_that_is_installed(call, report, folder, provider):
    call("run", report, "Who?", "--model", "openai:m", "--tool", "my_own_tools:look_up", "--no-store")

    assert str(folder) not in sys.path[:-1]
