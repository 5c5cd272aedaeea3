"""Texts, what is made from them, cached replies, and characters that databases do not hold."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records_for_tests import a_question, a_run

from orchestra.errors import InputInvalid
from orchestra.store import DocumentRef, Store
from orchestra.store.texts import restored, storable, to_json

ODD = "a\x00b\ud800c\x1a0000\x1ad\udfffe\x85é\U0001f600"
any_text = st.text(st.characters(exclude_categories=()), max_size=40)


@pytest.mark.parametrize("text", ["", "text", ODD, "é" * 100_000])
def test_a_document_comes_back_to_the_character(store: Store, text: str) -> None:
    store.put_document("d1", "name", text)

    assert store.document("d1") == text
    assert store.document("d2") is None


def test_a_document_that_is_kept_is_not_kept_again(store: Store) -> None:
    store.put_document("d1", "first", "text")

    store.put_document("d1", "second", "text")

    assert store.document("d1") == "text"


def test_what_is_made_from_a_document_is_found_by_it_and_by_its_kind(store: Store) -> None:
    store.put_document("d1", "name", "text")
    store.put_derived("d1", "outline", b"\x00first")
    store.put_derived("d1", "outline", b"\x00second")

    assert store.derived("d1", "outline") == b"\x00second"
    assert store.find_derived("outline") == ("d1", b"\x00second")
    assert (store.derived("d1", "index"), store.derived("d2", "outline"), store.find_derived("index")) == (
        None,
        None,
        None,
    )


def test_nothing_is_made_from_a_document_that_is_not_kept(store: Store) -> None:
    with pytest.raises(InputInvalid):
        store.put_derived("d1", "outline", b"made")


def test_a_cached_reply_ages(store: Store) -> None:
    store.keep("key", {"text": "first"})
    store.keep("key", {"text": "second"})

    assert store.cached("key") == {"text": "second"}
    assert store.cached("key", max_age_s=3600) == {"text": "second"}
    assert store.cached("key", max_age_s=-1) is None
    assert store.cached("other") is None


def test_old_replies_are_forgotten(store: Store) -> None:
    store.keep("key", {"text": "reply"})

    assert store.forget(older_than_s=3600) == 0
    assert store.forget(older_than_s=-1) == 1
    assert store.cached("key") is None


@given(any_text)
def test_any_text_can_be_stored_and_restored(text: str) -> None:
    written = storable(text)

    assert "\x00" not in written
    written.encode()
    assert restored(written) == text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | any_text,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    )
)
def test_any_json_comes_back_equal(store: Store, value: object) -> None:
    store.keep("key", {"value": value})

    assert store.cached("key") == {"value": value}


@pytest.mark.parametrize("value", [object(), {"a": object()}, {"a": "\ud800", "b": object()}])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(InputInvalid):
        to_json(value)


def test_no_text_of_a_run_is_too_odd_to_keep(store: Store) -> None:
    store.begin_run(a_run("r1", task=ODD, session_id=ODD, request={ODD: ODD}, documents=(DocumentRef(ODD, "d1"),)))
    store.append_events("r1", [{"type": "skill-route-x", "sequence": 1, "node_id": ODD, "status": ODD, "title": ODD}])
    store.finish_call("r1", ODD, "tool", ODD, 1, {"result": ODD})
    store.ask(a_question(ODD, title=ODD, shown={ODD: ODD}))
    store.answer("r1", ODD, "q1", outcome="answered", reason=ODD, text=ODD)
    store.end_run("r1", "completed", result={"answer": ODD})

    assert store.find_run("r1").task == ODD
    assert store.find_run("r1").documents == (DocumentRef(ODD, "d1"),)
    assert [node.title for node in store.nodes("r1")] == [ODD]
    assert [call.payload for call in store.calls("r1")] == [{"result": ODD}]
    assert [question.text for question in store.approvals("r1")] == [ODD]
    assert store.turns(ODD) == [(ODD, ODD)]
    assert [run.id for run in store.runs(text="a\x00B\ud800")] == ["r1"]
