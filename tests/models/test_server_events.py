"""Server-sent events, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestra.models.sse import ServerEvent, events

STREAM = (
    "\ufeffdata: first\n\n: a comment\r\n\r\nevent: greeting\r\ndata: héllo\r\ndata:  wörld 🙂\r\n\r\n"
    "id: 7\nretry: 10\ndata\n\nevent: empty\n\n\n\ndata:{}\r\rdata: last\n\n"
).encode()
READ = [
    ServerEvent("", b"first"),
    ServerEvent("greeting", "héllo\n wörld 🙂".encode()),
    ServerEvent("", b""),
    ServerEvent("", b"{}"),
    ServerEvent("", b"last"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_events_are_the_same_wherever_the_stream_is_cut(cuts):
    edges = [0, *cuts, len(STREAM)]
    chunks = [STREAM[start:end] for start, end in pairwise(edges)]

    read = list(events(chunks))

    assert read == READ


def test_events_are_the_same_byte_by_byte():
    read = list(events(bytes([byte]) for byte in STREAM))

    assert read == READ


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), min_size=1, max_size=5))
def test_data_lines_come_back_as_they_were_sent(lines):
    sent = "".join(f"data: {line}\n" for line in lines) + "\n"

    read = list(events([sent.encode()]))

    assert read == [ServerEvent("", "\n".join(lines).encode())]


def test_an_event_is_given_as_soon_as_its_blank_line_has_arrived():
    arriving = iter([b"data: one\n", b"\n", b"data: two\n\n"])
    reading = events(arriving)

    first = next(reading)

    assert first.payload == b"one"
    assert list(arriving) == [b"data: two\n\n"]


@pytest.mark.parametrize("tail", [b"data: [DONE]", b"data: [DONE]\n", b"data: [DONE]\r"])
def test_what_the_end_cuts_off_is_given_too(tail):
    read = list(events([b"data: one\n\n" + tail]))

    assert [event.payload for event in read] == [b"one", b"[DONE]"]


@pytest.mark.parametrize(
    "stream", [b"", b"\n", b"\n\n\n", b": ping\n\n", b"\xef\xbb", b"event: x\n\n", b"nonsense\n\n"]
)
def test_what_holds_no_data_gives_no_event(stream):
    assert list(events([stream])) == []


def test_a_name_is_not_carried_to_the_next_event():
    read = list(events([b"event: ping\n\ndata: x\n\n"]))

    assert read == [ServerEvent("", b"x")]
