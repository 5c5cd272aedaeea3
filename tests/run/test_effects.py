"""Effects that happen once."""

from __future__ import annotations

import pytest
from journals import MemoryJournal

from orchestra.errors import ApprovalRejected, OrchestraError, ToolFailed
from orchestra.run import Run
from orchestra.run.effects import once
from orchestra.run.journal import EffectRecord
from orchestra.settings import Services, Settings


class Counted:
    """Work that counts how often it is done; raises what it is given."""

    def __init__(self, result=None, error=None):
        self.result = {"value": (1, 2)} if result is None else result
        self.error = error
        self.times = 0

    def __call__(self, deadline, attempt):
        self.times += 1
        if self.error is not None:
            raise self.error
        return self.result


def driven(journal, story, on_event=None):
    """What `story(run, node)` gives in a run with this journal."""
    models = ("builtin:extractive",) * 3
    run = Run.prepare("# Text\n\nWords.\n", "task", None, models, Settings(), Services(on_event))
    run.journal = journal
    node = run.node("subtask-1", "subtask")
    return run.drive(story(run, node))


def test_an_effect_is_done_once_and_replayed_as_it_was():
    journal, work, events = MemoryJournal(), Counted(), []

    first = driven(journal, lambda run, node: once(run, node, "tool", "f", work))
    second = driven(journal.resumed(), lambda run, node: once(run, node, "tool", "f", work), events.append)

    assert first == second == {"value": [1, 2]}
    assert work.times == 1
    replayed = [event for event in events if event.type == "effect-replayed"]
    assert [(event.node_id, event.kind, event.source) for event in replayed] == [("run/subtask-1", "tool", "journal")]


def test_the_same_effect_asked_for_twice_is_two_effects():
    work = Counted()

    async def story(run, node):
        await once(run, node, "tool", "f", work)
        await once(run, node, "tool", "f", work)

    driven(MemoryJournal(), story)

    assert work.times == 2


def test_an_effect_that_fails_leaves_nothing_on_record():
    journal = MemoryJournal()

    with pytest.raises(ToolFailed):
        driven(journal, lambda run, node: once(run, node, "tool", "f", Counted(error=ToolFailed("it broke"))))

    assert journal.records == {}


def test_it_is_on_record_before_its_result_is_used():
    journal, seen = MemoryJournal(), []

    async def story(run, node):
        await once(run, node, "tool", "f", lambda deadline, attempt: seen.append(dict(journal.records)) or {"x": 1})
        return list(journal.records.values())

    records = driven(journal, story)

    assert [record.payload for record in seen[0].values()] == [None]
    assert records == [EffectRecord({"x": 1})]


def begun():
    """The journal of a run whose process ended within its one effect."""
    journal = MemoryJournal()
    journal.begin(journal.key("run/subtask-1", "tool", "f"))
    return journal.resumed()


def test_what_was_begun_and_not_seen_to_end_is_not_done_again_unasked():
    work = Counted()

    with pytest.raises(ToolFailed, match="nobody saw it end"):
        driven(begun(), lambda run, node: once(run, node, "tool", "f", work))

    assert work.times == 0


def test_what_was_begun_and_is_idempotent_is_done_again():
    work = Counted()

    driven(begun(), lambda run, node: once(run, node, "tool", "f", work, is_idempotent=True))

    assert work.times == 1


@pytest.mark.parametrize(("error", "times"), [(None, 1), (ApprovalRejected("no"), 0)])
def test_who_is_asked_before_a_repetition_decides(error, times):
    work, asked = Counted(), []

    async def ask():
        asked.append(True)
        if error is not None:
            raise error

    async def story(run, node):
        try:
            await once(run, node, "tool", "f", work, before_repeat=ask)
        except OrchestraError as raised:
            return raised

    outcome = driven(begun(), story)

    assert (asked, work.times) == ([True], times)
    assert outcome is error
