"""Which hits of a prompt cache were to be expected, and why they did not come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestra.document import Document, DocumentSet
from orchestra.models.blocks import DocumentBlock, Instructions, Task
from orchestra.models.protocol import ModelRequest, ToolSpec, Usage
from orchestra.runtime.prefixes import Prefixes, prefix_of

RULES, TASK = Instructions("Rules. " * 50), Task("What of it?")
SHARED = Instructions("Shared words. " * 500, cacheable=True)
MINIMUM = 1_024
HIT, NO_HIT = Usage(cached_input_tokens=1_000, output_tokens=5), Usage(input_tokens=1_000, output_tokens=5)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sent(clock):
    return Prefixes(clock=clock, ttl_s=300)


def prefix(*blocks, owner="m https://host", **fields):
    made = prefix_of(ModelRequest(blocks, purpose="subtask", **fields), owner)
    assert made is not None
    return made


ONE = prefix(RULES, SHARED, TASK)


def test_the_first_call_with_a_prefix_misses_nothing(sent, clock):
    assert sent.finish(ONE, clock(), NO_HIT, MINIMUM) == ""


def test_a_hit_is_no_miss(sent, clock):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)

    assert sent.finish(ONE, clock(), HIT, MINIMUM) == ""


def test_what_follows_the_prefix_does_not_matter(sent, clock):
    assert prefix(RULES, SHARED, Task("Another?")) == ONE


def test_a_usage_that_was_estimated_accuses_nobody(sent, clock):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)

    assert sent.finish(ONE, clock(), replace(NO_HIT, is_estimated=True), MINIMUM) == ""


def test_a_call_that_began_before_the_first_one_ended_came_too_early(sent, clock):
    began = clock()
    clock.now += 10
    sent.finish(ONE, 1_000.0, NO_HIT, MINIMUM)

    missed = sent.finish(ONE, began, NO_HIT, MINIMUM)

    assert "before the entry existed" in missed


def test_an_entry_expires_a_while_after_its_last_use(sent, clock):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)
    clock.now += 200
    sent.finish(ONE, clock(), HIT, MINIMUM)
    clock.now += 299
    assert sent.is_warm(ONE)
    clock.now += 13

    assert not sent.is_warm(ONE)
    assert sent.finish(ONE, clock(), NO_HIT, MINIMUM) == (
        "the entry has expired: last used 312 s before, and kept for 300 s"
    )


def test_a_prefix_that_the_cache_does_not_take_is_too_short(sent, clock):
    sent.finish(ONE, clock(), NO_HIT, 4_096)

    missed = sent.finish(ONE, clock(), NO_HIT, 4_096)

    assert missed == f"the prefix is too short: {ONE.tokens:,} tokens, and the cache holds 4,096 or more"


def test_a_miss_that_nothing_explains_is_said_to_be_unknown(sent, clock):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)

    assert "the reason is unknown" in sent.finish(ONE, clock(), NO_HIT, MINIMUM)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        (prefix(Instructions("Other rules."), SHARED, TASK), "block 1 (instructions)"),
        (prefix(RULES, Instructions("Inserted."), SHARED, TASK), "block 2 (instructions)"),
        (prefix(RULES, SHARED, TASK, tools=(ToolSpec("look", "looks", {}),)), "the request (tools)"),
        (prefix(RULES, SHARED, TASK, schema={"type": "object"}), "the request (schema)"),
    ],
)
def test_a_change_before_the_same_text_is_named_with_its_place(sent, clock, changed, place):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)

    assert sent.finish(changed, clock(), NO_HIT, MINIMUM) == f"the prefix changed at {place}"


def document(text):
    return DocumentBlock(DocumentSet.of(Document.from_text(text, name="report.md")))


def test_a_document_that_was_edited_is_named_with_where_it_was(sent, clock):
    text = "\n".join(f"Line {number} of the report." for number in range(1_000))
    before = prefix(RULES, document(text), TASK)
    after = prefix(RULES, document(text.replace("Line 900 ", "Row 900 ")), TASK)
    sent.finish(before, clock(), NO_HIT, MINIMUM)

    missed = sent.finish(after, clock(), NO_HIT, MINIMUM)

    assert missed == "the prefix changed at block 2 (document, after character 20,480)"


@pytest.mark.parametrize(
    "other",
    [
        prefix(RULES, Instructions("Quite another text. " * 500, cacheable=True), TASK),
        prefix(Instructions("Other rules."), SHARED, TASK, owner="another https://host"),
        prefix(RULES, document("Short. " * 2_000), TASK),
    ],
)
def test_another_text_or_model_was_not_expected_to_hit(sent, clock, other):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)

    assert sent.finish(other, clock(), NO_HIT, MINIMUM) == ""


def test_a_change_to_what_has_expired_anyway_is_not_told(sent, clock):
    sent.finish(ONE, clock(), NO_HIT, MINIMUM)
    clock.now += 301

    assert sent.finish(prefix(Instructions("Other."), SHARED), clock(), NO_HIT, MINIMUM) == ""


def test_a_request_without_a_mark_has_no_prefix():
    assert prefix_of(ModelRequest((RULES, TASK)), "m") is None


def test_the_memory_is_bounded_and_forgets_what_was_not_used_for_longest(clock):
    sent = Prefixes(clock=clock, most=2)
    one, two, three = (prefix(Instructions(f"Text {n}. " * 500, cacheable=True)) for n in (1, 2, 3))
    sent.finish(one, clock(), NO_HIT, MINIMUM)
    sent.finish(two, clock(), NO_HIT, MINIMUM)
    sent.finish(one, clock(), HIT, MINIMUM)

    sent.finish(three, clock(), NO_HIT, MINIMUM)

    assert [sent.is_warm(each) for each in (one, two, three)] == [True, False, True]
