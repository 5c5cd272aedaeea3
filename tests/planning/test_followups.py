from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, cut
from orchestra.models.blocks import Finding
from orchestra.planning.assemble import assemble
from orchestra.planning.followups import followup_request, merged, widened, with_heads

TOPICS = ["steel", "wages", "tariffs", "patents", "audits", "leases", "pensions", "weather", "cocoa", "software"]
BOOK = Document.from_text(
    "\n".join(
        line
        for topic in TOPICS
        for line in (f"# About {topic}", "", f"The {topic} of the year were as {topic} are.", f"More on {topic}.", "")
    ),
    name="book.md",
)
PAGES = Document.from_text("\f".join(f"Page on {topic}\n\nAll there is to say of {topic}.\n" for topic in TOPICS))
TABLE = Document.from_text(
    "# Cash flows\n\nSome words.\n\n(in millions) 2018 2017\nNet income 5,363 4,869\n\f"
    "Capital expenditures (1,577) (1,373)\nDividends (3,193) (2,803)\n"
)


def assigned(document, *sections, task="What of it?"):
    (assignment,) = assemble([{"id": "1", "task": task, "sections": list(sections)}], document)
    return assignment


def shown(assignment, document, missing, **options):
    return [str(lines) for lines in widened(assignment, missing, DocumentSet.of(document), **options).line_ranges]


def test_the_neighbours_of_the_slice_come_and_then_the_best_other_place():
    found = shown(assigned(BOOK, "s5"), BOOK, "what was said of cocoa", budget_tokens=120)

    assert found == ["L16-L20", "L26-L30", "L41-L45"]


def test_neighbours_leave_room_for_a_place_that_speaks_for_itself():
    found = shown(assigned(BOOK, "s3", "s6"), BOOK, "cocoa", budget_tokens=120)

    assert "L41-L45" in found
    assert found[0] != "L41-L45"


def test_of_the_neighbours_those_go_first_that_the_missing_words_speak_for():
    found = shown(assigned(BOOK, "s5"), BOOK, "tariffs, patents", budget_tokens=35)

    assert found == ["L16-L20"]


def test_the_unread_rest_of_a_place_is_its_neighbour():
    document = Document.from_text("# One\n\nfirst\n\nsecond\n\nthird\n\n# Two\n\nfourth\n")
    (assignment,) = assemble([{"id": "1", "task": "x", "line_ranges": [[5, 5]]}], document)

    assert shown(assignment, document, "third") == ["L1-L4", "L6-L8"]


def test_a_document_with_pages_is_widened_by_pages():
    found = shown(assigned(PAGES, "p4"), PAGES, "weather", budget_tokens=140)

    assert found == ["L7-L9", "L13-L15", "L22-L24"]


def test_words_that_say_nothing_leave_the_subtask_s_own_words():
    found = shown(assigned(BOOK, "s1", task="What of cocoa?"), BOOK, "", budget_tokens=75)

    assert "L41-L45" in found


def test_pages_of_which_every_section_was_read_take_no_place_from_an_unread_one():
    read = [f"# Of {number}\n\nCocoa, cocoa.\n\n# On {number}\n\nMore cocoa.\n" for number in range(70)]
    unread = [*["Nothing at all of any worth.\n"] * 9, "# End\n\nA word on cocoa, among very many others.\n"]
    document = Document.from_text("\f".join(read + unread))

    assert "L500-L502" in shown(assigned(document, "p1-p70"), document, "cocoa")


def test_nothing_is_shown_where_all_has_been_read():
    whole = assigned(BOOK, *(f"s{number}" for number in range(1, 11)))

    assert widened(whole, "cocoa", DocumentSet.of(BOOK)).passages == ()


def test_several_documents_keep_their_order():
    documents = DocumentSet.of([BOOK, PAGES])
    found = [str(lines) for lines in widened(assigned(documents, "d2:p1"), "cocoa", documents).line_ranges]

    assert found[0].startswith("d1:")
    assert found[-1].startswith("d2:")


RANGES = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 12)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(
    ranges=RANGES,
    read=st.lists(st.tuples(st.integers(1, 50), st.integers(0, 12)), max_size=3),
    missing=st.lists(st.sampled_from([*TOPICS, "year", "said", "zebra"]), max_size=4).map(" ".join),
    budget=st.integers(0, 300),
)
def test_what_is_shown_is_new_within_the_budget_in_order_and_always_the_same(ranges, read, missing, budget):
    documents = DocumentSet.of(BOOK)
    (assignment,) = assemble(
        [{"id": "1", "task": "What of it?", "line_ranges": [[first, first + more] for first, more in ranges]}], BOOK
    )
    seen = [LineRange("", first, first + more) for first, more in read]

    found = widened(assignment, missing, documents, budget_tokens=budget, read=seen)
    again = widened(assignment, missing, DocumentSet([BOOK]), budget_tokens=budget, read=seen)

    lines = [n for each in found.line_ranges for n in range(each.first, each.last + 1)]
    old = {n for each in (*assignment.slice.line_ranges, *seen) for n in range(each.first, each.last + 1)}
    assert found.tokens <= budget
    assert lines == sorted(set(lines))
    assert not old & set(lines)
    assert found.text == again.text


def test_a_table_that_goes_on_is_shown_with_its_head():
    documents = DocumentSet.of(TABLE)
    further = widened(assigned(TABLE, "p1"), "capital expenditures", documents)

    fuller = with_heads(further, documents)

    assert "2018" not in further.text
    assert "(in millions) 2018 2017" in fuller.text
    assert "Net income" not in fuller.text
    assert with_heads(further, documents, budget_tokens=further.tokens) is further


def test_what_needs_no_head_gets_none():
    documents = DocumentSet.of(BOOK)
    slice_ = cut([LineRange("", 1, 5)], documents)

    assert with_heads(slice_, documents) == slice_


def test_a_reply_that_found_something_goes_along_and_is_to_be_given_anew():
    assignment = assigned(BOOK, "s5", task="What of audits and leases?")
    further = widened(assignment, "leases", DocumentSet.of(BOOK))

    request = followup_request(assignment, further, "Audits are as they are [L23].", findings=[Finding("0", "q", "a")])

    assert [block.kind for block in request.blocks] == [
        "instructions", "slice", "findings", "instructions", "instructions", "task",
    ]  # fmt: skip
    assert "Question: What of audits and leases?\nAudits are as they are [L23]." in request.prompt
    assert "The audits of the year" not in request.prompt
    assert not any(block.cacheable for block in request.blocks)


def test_a_reply_that_found_nothing_is_not_recalled():
    assignment = assigned(BOOK, "s5")
    further = widened(assignment, "leases", DocumentSet.of(BOOK))

    request = followup_request(assignment, further, "")

    assert [block.kind for block in request.blocks] == ["instructions", "slice", "instructions", "task"]


@pytest.mark.parametrize(
    ("earlier", "later", "finding"),
    [
        ("INSUFFICIENT: a", "A is 4 [L2].", "A is 4 [L2]."),
        ("A is 4 [L2].\nINSUFFICIENT: b", "A is 4 [L2], b is 5 [L9].", "A is 4 [L2], b is 5 [L9]."),
        ("A is 4 [L2].\nINSUFFICIENT: b", "INSUFFICIENT: b", "A is 4 [L2].\nINSUFFICIENT: b"),
        ("INSUFFICIENT: a", "INSUFFICIENT: a, on no page", "INSUFFICIENT: a, on no page"),
        ("A is 4 [L2].\nINSUFFICIENT: b, c", "A, b [L9].\nINSUFFICIENT: c", "A, b [L9].\nINSUFFICIENT: c"),
    ],
)
def test_two_replies_become_one_finding(earlier, later, finding):
    assert merged(earlier, later) == finding
