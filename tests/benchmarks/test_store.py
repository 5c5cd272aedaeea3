"""Replies kept in a file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from benchmarks.store import ReplyStore, StoredModel, is_replay
from orchestra.errors import InputInvalid, ModelAuth
from orchestra.models.blocks import Instructions
from orchestra.models.protocol import ModelReply, ModelRequest, ToolCall, Usage

REQUEST = ModelRequest((Instructions("Answer."),), "subtask")
REPLY = ModelReply(
    "Stone", Usage(70, 20, 10, 5), {"a": [1]}, (ToolCall("1", "look", {"at": "s1"}),), "max_tokens", "m-1", "r-1"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "replies.sqlite"


def test_a_reply_comes_back_as_it_was_in_another_session(path: Path) -> None:
    first = ReplyStore(path)
    first.put("m", REQUEST, REPLY)
    first.close()

    reply = ReplyStore(path).get("m", REQUEST)

    assert reply is not None
    assert [getattr(reply, name) for name in ModelReply.__slots__] == [
        getattr(REPLY, name) for name in ModelReply.__slots__
    ]
    assert is_replay(reply)
    assert not is_replay(REPLY)


@pytest.mark.parametrize(
    ("model", "request_"),
    [
        ("other", REQUEST),
        ("m", ModelRequest((Instructions("Reply."),), "subtask")),
        ("m", ModelRequest((Instructions("Answer."),), "synthesis")),
        ("m", ModelRequest((Instructions("Answer."),), "subtask", max_tokens=7)),
    ],
)
def test_another_model_request_or_purpose_is_another_reply(path: Path, model: str, request_: ModelRequest) -> None:
    store = ReplyStore(path)

    store.put("m", REQUEST, REPLY)

    assert store.get(model, request_) is None


def test_a_file_that_is_no_database_is_an_error(path: Path) -> None:
    path.write_bytes(b"not a database at all, but long enough to be looked at as one by its header\n" * 20)

    with pytest.raises(InputInvalid, match=r"replies.sqlite is no reply store"):
        ReplyStore(path)


def test_another_programs_database_is_an_error_and_is_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(InputInvalid, match="another program"):
        ReplyStore(path)

    assert path.read_bytes() == before


def test_a_file_damaged_in_the_middle_is_an_error(path: Path) -> None:
    store = ReplyStore(path)
    store.put("m", REQUEST, REPLY)
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)

    with pytest.raises(InputInvalid, match=r"replies.sqlite is (damaged|no reply store)"):
        ReplyStore(path).get("m", REQUEST)


def test_an_entry_that_was_tampered_with_is_an_error(path: Path) -> None:
    store = ReplyStore(path)
    store.put("m", REQUEST, REPLY)
    with sqlite3.connect(path) as connection:
        connection.execute("""UPDATE replies SET reply = '{"text": 5}'""")
    connection.close()

    with pytest.raises(InputInvalid, match="an entry is not what was written"):
        store.get("m", REQUEST)


def test_without_a_key_a_missing_reply_says_that_the_key_is_missing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    model = StoredModel("anthropic:claude-sonnet-5-5", ReplyStore(path))

    with pytest.raises(ModelAuth, match="ANTHROPIC_API_KEY"):
        model.complete(REQUEST)

    assert model.context_window == 1_000_000
