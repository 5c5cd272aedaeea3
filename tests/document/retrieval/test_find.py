"""What a search gives back: the right places first, within limits, the same each time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, LineRange, best_parts
from orchestra.document.retrieval import Hits, Place, find, neighbours, places_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "annual-report.md"


def ids(hits: Hits) -> list[str]:
    return [hit.place.id for hit in hits.places]


@pytest.mark.parametrize(
    ("task", "page"),
    [
        ("What are total assets? Use the balance sheet.", "p4"),
        ("What is the working capital ratio for FY2020?", "p4"),
        ("How much was capex in 2020?", "p6"),
        ("Relying on the P&L statement, what is the gross margin?", "p5"),
        ("Is there any litigation?", "p3"),
        ("What is the headcount?", "p7"),
        ("How did SG&A develop because of the warehouse?", "p2"),
    ],
)
def test_the_page_that_answers_comes_first(report: DocumentSet, task: str, page: str) -> None:
    assert ids(find(task, report))[0] == page


def test_a_metric_of_two_statements_brings_both_before_anything_else(report: DocumentSet) -> None:
    found = ids(find("What is the EBITDA margin for 2020?", report))

    assert set(found[:2]) == {"p5", "p6"}


def test_the_second_statement_comes_before_a_restatement_of_the_first(report: DocumentSet) -> None:
    restated = report[0].text.split("\f")[4].replace("9,100", "9,101").replace("Net sales", "Restated net sales")
    document = Document.from_text(f"{report[0].text}\fNote 9. Income statement restated\f{restated}")

    found = ids(find("What is the EBITDA margin, with operating income from the income statement?", document.alone))

    assert set(found[:2]) == {"p5", "p6"}


def test_each_part_of_a_task_brings_its_own_page_first(report: DocumentSet) -> None:
    found = ids(find("How many people work there, who sued the company, and how high was goodwill?", report))

    assert set(found[:3]) == {"p7", "p3", "p4"}


def test_a_part_that_many_pages_answer_leaves_room_for_the_others() -> None:
    pages = [f"Grey herons nest in reeds beside pond {number}.\n" for number in range(4)]
    document = Document.from_text("\f".join((*pages, "Fees rose.\n", "Nothing else.\n")))

    assert "p5" in ids(find("Where do grey herons nest in the reeds? Did fees change?", document.alone))[:2]


def test_words_that_stand_together_count_more() -> None:
    filler = "It rained on the hills for days.\n" * 12
    apart, together = f"Herons fly.\n{filler}Reeds grow.\n", f"It is late.\n{filler}Herons fly. Reeds grow.\n"
    document = Document.from_text("\f".join((apart, together, "Nothing.\n", "Still nothing.\n", "Nor here.\n")))

    assert ids(find("herons reeds", document.alone))[:2] == ["p2", "p1"]


def test_the_row_that_is_asked_for_is_the_first_line(report: DocumentSet) -> None:
    best = find("What were total current assets in 2020?", report).lines[0]

    assert report[0].line(best.line) == "Total current assets 1,910 1,780"
    assert best.place.id == "p4"


def test_a_row_that_a_report_term_means_is_the_first_line(report: DocumentSet) -> None:
    best = find("How much was capex in 2020?", report).lines[0]

    assert report[0].line(best.line) == "Purchases of property and equipment (450) (430)"


def test_a_title_says_what_the_lines_under_it_are_about() -> None:
    document = Document.from_text(
        "## Winter tariff\n\nThe price is 9 a day.\n\n## Summer tariff\n\nThe price is 7 a day.\n"
    )

    best = find("the price of the summer tariff", document.alone).lines[0]

    assert document.line(best.line) == "The price is 7 a day."


def test_the_line_that_announces_a_list_says_what_its_items_are_about() -> None:
    document = Document.from_text("Colours of ducks:\n- teal is common\n\nColours of geese:\n- grey is common\n")

    best = [document.line(hit.line) for hit in find("Which is a common colour of geese?", document.alone).lines]

    assert best.index("- grey is common") < best.index("- teal is common")


def test_every_part_of_a_task_has_a_line_among_the_first(report: DocumentSet) -> None:
    best = find("What were net sales, cost of sales and gross profit? When does the trial begin?", report).lines[:2]

    assert "The trial begins in May 2021." in [report[0].line(hit.line) for hit in best]


def test_a_line_that_repeats_is_shown_once() -> None:
    document = Document.from_text("\f".join(f"Heron colonies grew\nThe pond numbered {n} is deep.\n" for n in range(2)))

    lines = [document.line(hit.line).strip() for hit in find("heron colonies", document.alone).lines]

    assert lines.count("Heron colonies grew") == 1


def test_a_running_head_is_no_line_of_the_text() -> None:
    pages = (f"Heron Holdings 2024 | {n}\n\nThe colonies at pond {n} grew, as herons do.\n" for n in range(8))
    document = Document.from_text("\f".join(pages))

    lines = [document.line(hit.line).strip() for hit in find("heron holdings 2024", document.alone).lines]

    assert not any("Heron Holdings" in line for line in lines)


def test_letters_with_full_stops_are_an_abbreviation() -> None:
    rows = "\n".join(f"Region {n} sales 4,{n:03} 3,{n:03}" for n in range(10, 40))
    document = Document.from_text(f"# Sales\n\nWe help us grow.\n{rows}\nU.S. sales 5,100 4,900\n")

    hits = find("How did US sales grow?", document.alone)

    assert document.line(hits.lines[0].line) == "U.S. sales 5,100 4,900"


def test_a_row_whose_label_the_task_says_is_the_first_line() -> None:
    rows = "\n".join(f"Capital item {n} that is at work 4,{n:03} 3,{n:03}" for n in range(10, 40))
    document = Document.from_text(
        f"# Sheet\n\nWorking capital is what we work with.\n{rows}\nWorking capital $ 2,278 $ 2,853\n"
    )

    hits = find("Does it have positive working capital?", document.alone)

    assert document.line(hits.lines[0].line) == "Working capital $ 2,278 $ 2,853"


def test_a_number_is_found_with_and_without_its_commas(report: DocumentSet) -> None:
    assert ids(find("Where is 4100 shown?", report))[0] == ids(find("Where is 4,100 shown?", report))[0] == "p4"


def test_what_was_read_is_left_out(report: DocumentSet) -> None:
    best = find("What are total assets? Use the balance sheet.", report).places[0].place

    found = find("What are total assets? Use the balance sheet.", report, exclude=[best.lines])

    assert best.id not in ids(found)
    assert all(hit.place != best for hit in found.lines)
    assert found.places


def test_what_was_read_in_part_stays(report: DocumentSet) -> None:
    best = find("total assets", report).places[0].place

    found = find("total assets", report, exclude=[LineRange("", best.first_line, best.last_line - 1)])

    assert best.id in ids(found)


def test_nothing_is_found_where_no_word_occurs(report: DocumentSet) -> None:
    assert find("zebra xylophone", report) == Hits((), ())


def test_words_that_only_say_how_to_answer_find_nothing(report: DocumentSet) -> None:
    assert find("Please answer the following question.", report) == Hits((), ())


def test_the_document_that_speaks_of_it_comes_first() -> None:
    documents = DocumentSet(
        (Document.from_text("# Cats\n\nCats sleep.\n"), Document.from_text("# Dogs\n\nDogs dig holes in gardens.\n"))
    )

    best = find("Which animals dig holes?", documents).places[0].place

    assert (best.key, best.id) == ("d2", "s1")


def test_a_repeated_page_comes_after_what_is_new() -> None:
    page = "The harbour of Hull handles timber.\nCranes lift the timber all day.\nThe timber goes to Leeds.\n"
    other = "A mill near Leeds saws timber.\nIt burns what is left.\nNobody lives there.\nTrees are far away.\n"
    document = Document.from_text("\f".join((page, page, other, "Nothing here.\n", "Nor here.\n")))

    assert ids(find("timber", document.alone))[:2] == ["p1", "p3"]


def test_limits_hold(report: DocumentSet) -> None:
    found = find("total assets and net sales of Acme Lamps", report, most_places=2, most_lines=3)

    assert len(found.places) == 2
    assert len(found.lines) == 3


def test_no_lines_and_no_places_can_be_asked_for(report: DocumentSet) -> None:
    assert find("total assets", report, most_places=0, most_lines=0) == Hits((), ())


@pytest.mark.parametrize(
    ("task", "line"),
    [
        ("When does the revolving credit facility expire?", 1941),
        ("How high were the audit fees in 2025?", 2461),
        ("How much does the Calloway River Authority claim?", 1571),
        ("When and where will the annual meeting of 2026 take place?", 3292),
    ],
)
def test_a_lookup_in_a_long_report_finds_its_line(task: str, line: int) -> None:
    found = find(task, Document.from_path(EXAMPLE).alone)

    assert line in [hit.line for hit in found.lines[:3]]


def test_the_best_parts_are_the_best_places(report: DocumentSet) -> None:
    found = best_parts("What are total assets? Use the balance sheet.", report, budget_tokens=250)

    assert (4, 4) in [passage.pages for passage in found.passages]


def test_neighbours_stand_before_and_after_in_the_same_document(report: DocumentSet) -> None:
    places = list(places_of("", report[0]))

    assert neighbours(places[0], report) == (places[1],)
    assert neighbours(places[3], report) == (places[2], places[4])
    assert neighbours(places[-1], report) == (places[-2],)


def test_the_places_of_a_document_cover_each_line_once(report: DocumentSet) -> None:
    lines = [number for place in places_of("", report[0]) for number in range(place.first_line, place.last_line + 1)]

    assert lines == list(range(1, report[0].line_count + 1))


def test_the_seed_of_hashes_changes_nothing() -> None:
    code = (
        "from orchestra.document import Document; from orchestra.document.retrieval import find;"
        f"print(find('EBITDA margin, and who audits the company?', Document.from_path({str(EXAMPLE)!r}).alone))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }

    assert len(outputs) == 1


WORDS = [
    "sales ",
    "rose ",
    "# A\n",
    "\n",
    "\f",
    "| 1 | 2 |\n",
    "2020",
    "売上",
    "é",
    '"',
    "total assets 1 2\n",
    "(EPS) ",
]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=9), max_size=30).map("".join)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), task=TEXTS, most=st.integers(0, 4))
def test_any_task_over_any_texts_gives_existing_places_within_limits(texts: list[str], task: str, most: int) -> None:
    documents = DocumentSet([Document.from_text(text) for text in texts])
    every: list[Place] = [place for key, _, document in documents.items() for place in places_of(key, document)]

    found = find(task, documents, most_places=most, most_lines=most)

    assert {hit.place for hit in (*found.places, *found.lines)} <= set(every)
    assert max(len(found.places), len(found.lines)) <= most
    assert all(hit.place.first_line <= hit.line <= hit.place.last_line for hit in found.lines)
    assert [hit.score for hit in found.places] == sorted((hit.score for hit in found.places), reverse=True)
    assert found == find(task, documents, most_places=most, most_lines=most)


def test_a_short_number_tells_places_apart_by_the_word_before_it():
    chapters = (f"# Chapter {n}\n\nThe pump of type {n} weighs {n + 3} kg.\n" for n in range(1, 40))
    documents = DocumentSet.of("\n".join(chapters))

    hits = find("What does the pump of type 27 weigh?", documents)

    assert hits.places[0].place.id == "s27"
    assert documents[0].line(hits.lines[0].line) == "The pump of type 27 weighs 30 kg."
