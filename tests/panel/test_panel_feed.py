"""Streams of runs: each event once and in order, whatever happens to connections, servers and stores."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records_for_tests import a_run, node_event
from streams_for_tests import Watcher

from orchestra.errors import InputInvalid, StoreError
from orchestra.panel.live.feed import Feeds, Measures, mark_of
from orchestra.panel.live.held import Held, portion
from orchestra.panel.view.messages import Message, message_of, position
from orchestra.runtime.events import AnswerDelta
from orchestra.store import Store

HASTY = Measures(0.001, 0.002, 0.002, 0.01, page=4, most_held=6, most_held_bytes=2_000)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 15)),
        st.tuples(st.just("connect"), st.integers(0, 2)),
        st.tuples(st.just("take"), st.integers(0, 2)),
        st.tuples(st.just("lose"), st.integers(0, 2)),
        st.tuples(st.just("restart"), st.just(0)),
    ),
    max_size=20,
)


def begun(path: Path, **fields) -> Store:
    store = Store.open(path)
    store.begin_run(a_run(**fields))
    return store


def append(store: Store, count: int) -> None:
    """Events whose sequences have gaps, as where pieces of an answer were kept as one."""
    last = store.last_sequence("r1")
    deltas = [
        AnswerDelta(sequence=last + 2 * number, node_id="run/synthesis", text=f"{last + 2 * number} ").to_dict()
        for number in range(1, count)
    ]
    store.append_events("r1", [*deltas, node_event(last + 2 * count, "run/plan")])


async def all_of_it(watcher: Watcher, feeds: Feeds, last: int) -> None:
    """Watch until the event `last` has come; the stream must not pause for ten seconds before it."""
    while not watcher.sequences or watcher.sequences[-1] < last:
        if not watcher.is_connected:
            watcher.connect(feeds)
        assert await watcher.take(timeout_s=10)
    await watcher.lose()


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_whatever_breaks_each_event_comes_once_and_in_order(tmp_path_factory, steps) -> None:
    async def scenario(store: Store) -> None:
        feeds, watchers = Feeds(store, HASTY), [Watcher("r1") for _ in range(3)]
        for step, which in steps:
            watcher = watchers[which % 3]
            if step == "append":
                append(store, which)
            elif step == "connect" and not watcher.is_connected:
                watcher.connect(feeds)
            elif step == "take" and watcher.is_connected:
                await watcher.take()
            elif step == "lose":
                await watcher.lose()
            elif step == "restart":
                feeds.close()
                for each in watchers:
                    await each.lose()
                feeds = Feeds(store, HASTY)
        append(store, 3)
        on_record = [event["sequence"] for event in store.events("r1")]
        for watcher in watchers:
            await all_of_it(watcher, feeds, on_record[-1])
            assert watcher.sequences == on_record
            assert watcher.text == "".join(event.get("text", "") for event in store.events("r1"))
        assert feeds.watched == 0

    with begun(tmp_path_factory.mktemp("feed") / "runs.db") as store:
        asyncio.run(scenario(store))


def test_who_reads_slowly_gets_all_of_it_and_makes_nobody_hold_more(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds, slow, quick = Feeds(store, HASTY), Watcher("r1"), Watcher("r1")
        slow.connect(feeds)
        await slow.take()
        for _ in range(20):
            append(store, 10)
            await all_of_it(quick, feeds, store.last_sequence("r1"))
        assert len(slow.sequences) < 20
        await all_of_it(slow, feeds, store.last_sequence("r1"))
        assert slow.sequences == quick.sequences
        assert len(slow.sequences) == 200

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


def test_many_watchers_share_one_poller(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds, watchers = Feeds(store, HASTY), [Watcher("r1") for _ in range(20)]
        before = len(asyncio.all_tasks())
        for watcher in watchers:
            watcher.connect(feeds)
            await watcher.take()
        assert feeds.watched == 1
        assert len(asyncio.all_tasks()) - before == 2
        for watcher in watchers:
            await watcher.lose()
        await asyncio.sleep(0.05)
        assert feeds.watched == 0
        assert len(asyncio.all_tasks()) == before

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


async def until(watcher: Watcher, event: str, count: int = 1) -> list[dict]:
    while (found := [each.told for each in watcher.got if each.event == event]) is None or len(found) < count:
        assert await watcher.take(timeout_s=10)
    return found


def test_the_end_is_told_behind_the_last_event_and_again_when_a_resumed_run_ends(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds, watcher = Feeds(store, HASTY), Watcher("r1")
        append(store, 9)
        store.end_run("r1", "waiting")
        watcher.connect(feeds)
        await until(watcher, "ended")
        assert len(watcher.sequences) == 9

        store.begin_run(a_run())
        append(store, 5)
        store.end_run("r1", "completed")

        assert await until(watcher, "ended", 2) == [{"status": "waiting"}, {"status": "completed"}]
        assert len(watcher.sequences) == 14
        await watcher.lose()

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


def test_a_run_that_is_removed_ends_its_streams(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds, watcher = Feeds(store, HASTY), Watcher("r1")
        append(store, 2)
        watcher.connect(feeds)
        await all_messages(watcher, 2)
        store.remove_run("r1")
        assert await until(watcher, "ended") == [{"status": "removed"}]
        while watcher.is_connected:
            await watcher.take(timeout_s=10)
        assert feeds.watched == 0

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


async def all_messages(watcher: Watcher, count: int) -> None:
    while len(watcher.sequences) < count:
        assert await watcher.take(timeout_s=10)


def test_a_store_that_fails_for_a_while_is_read_when_it_is_back(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("orchestra.panel.live.polling.AGAIN_S", 0.01)
    monkeypatch.setattr("orchestra.panel.live.feed.AGAIN_S", 0.01)

    async def scenario(store: Store) -> None:
        feeds, watcher = Feeds(store, HASTY), Watcher("r1")
        append(store, 30)
        watcher.connect(feeds)
        await all_messages(watcher, 4)
        with sqlite3.connect(tmp_path / "runs.db") as other:
            other.execute("ALTER TABLE events RENAME TO away")
        with pytest.raises(StoreError):
            store.last_sequence("r1")
        await asyncio.gather(all_of_it(watcher, feeds, 66), back_soon())
        assert watcher.sequences == [event["sequence"] for event in store.events("r1")]

    async def back_soon() -> None:
        await asyncio.sleep(0.1)
        with sqlite3.connect(tmp_path / "runs.db") as other:
            other.execute("ALTER TABLE away RENAME TO events")
        append(store, 3)

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


def test_closing_ends_all_streams_at_once_from_another_thread(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds, watchers = Feeds(store, HASTY), [Watcher("r1"), Watcher(""), Watcher("r1")]
        for watcher in watchers:
            watcher.connect(feeds)
            await watcher.take()
        await asyncio.to_thread(feeds.close)
        for watcher in watchers:
            while await watcher.take(timeout_s=10):
                pass
        assert feeds.watched == 0

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


def test_what_a_page_shows_already_is_not_told_again(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds = Feeds(store, HASTY)
        append(store, 2)
        store.end_run("r1", "completed")
        stream = feeds.stream("r1", 4, shown="completed", mark=mark_of(store))
        behind = feeds.stream("r1", 2, shown="completed", mark=mark_of(store))
        assert (await anext(stream)).startswith(b": connected")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.1)
        chunks = [await asyncio.wait_for(anext(behind), 10) for _ in range(3)]
        assert [b"event: ended" in chunk for chunk in chunks] == [False, False, True]
        await behind.aclose()

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


def test_the_list_is_told_of_at_the_start_and_whenever_it_changes(tmp_path) -> None:
    async def scenario(store: Store) -> None:
        feeds, watcher = Feeds(store, HASTY), Watcher("")
        watcher.connect(feeds)
        await until(watcher, "runs")
        store.begin_session("s1", "Costs")
        await until(watcher, "runs", 2)
        store.begin_run(a_run("r2", session_id="s1"))
        await until(watcher, "runs", 3)
        await watcher.lose()

    with begun(tmp_path / "runs.db") as store:
        asyncio.run(scenario(store))


SIZES = st.lists(st.integers(1, 50), max_size=30)


@given(SIZES, st.integers(1, 8), st.integers(1, 200), st.integers(0, 35))
def test_what_is_held_stays_in_its_bounds_and_is_whole(sizes, most, most_bytes, behind) -> None:
    held, messages = Held(0, most, most_bytes), [Message(n, b"x" * size) for n, size in enumerate(sizes, 1)]
    for message in messages:
        held.add([message])

    kept = held.behind(held.floor)

    assert kept is not None
    assert held.last == len(messages)
    assert len(kept) <= most
    assert sum(len(message.encoded) for message in kept) <= most_bytes
    assert list(kept) == messages[held.floor :]
    expected = None if behind < held.floor else messages[behind:]
    found = held.behind(behind)
    assert (found if found is None else list(found)) == expected


@given(SIZES, st.integers(1, 120))
def test_a_portion_is_the_beginning_and_holds_one_message_at_least(sizes, most_bytes) -> None:
    messages = [Message(number, b"x" * size) for number, size in enumerate(sizes, 1)]

    found = portion(messages, most_bytes)

    assert list(found) == messages[: len(found)]
    assert (len(found) == 0) == (not messages)
    assert len(found) == 1 or sum(len(message.encoded) for message in found) <= most_bytes


def test_a_message_says_what_changed_and_nothing_of_what_it_holds() -> None:
    event = node_event(
        7, "run/subtask-1", parent_node_id="run", permission_snapshot={"tools": ["Bash"]}, title="secret"
    )

    encoded = message_of("r1", {**event, "at": float("nan")}).encoded.decode()

    assert encoded.startswith("id: r1:7\r\nevent: run\r\ndata: ")
    assert "secret" not in encoded
    assert "Bash" not in encoded
    assert '"at":null' in encoded


def test_a_text_may_hold_anything() -> None:
    text = "a\r\n\ndata: b\x00\ud800\u2028é"

    encoded = message_of("r\n1", AnswerDelta(sequence=1, node_id="run", text=text).to_dict()).encoded

    assert encoded.decode("ascii").count("\r\n") == 4
    assert encoded.startswith(b"id: r%0A1:1\r\n")


@pytest.mark.parametrize(
    ("after", "last_id", "expected"),
    [(None, None, 0), ("5", None, 5), ("5", "r1:9", 9), ("5", "r2:9", 5), (None, "r2:9", 0), ("5", "", 5)],
)
def test_a_stream_goes_on_behind_the_last_message_of_its_own_run(after, last_id, expected) -> None:
    assert position("r1", after, last_id) == expected


@pytest.mark.parametrize(
    ("after", "last_id"), [("-1", None), ("1e3", None), ("٣", None), ("9" * 11, None), ("1", "r1"), ("1", "r1:x")]
)
def test_what_is_no_position_is_refused(after, last_id) -> None:
    with pytest.raises(InputInvalid):
        position("r1", after, last_id)
