"""What a planner is shown of a library: all of it, or the best matches within a budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestra.document import Document, DocumentSet, count_tokens
from orchestra.models.blocks import Catalogue
from orchestra.planning.outline_planner import outline_request
from orchestra.planning.planner import plan_request
from orchestra.skills import CATALOGUE_TOKENS, SkillLibrary
from orchestra.skills.manifest import Manifest

SUBJECTS = ("invoices", "shipments", "contracts", "payroll", "patents", "trials", "turbines", "kernels")


def library(count: int, *, has_builtin: bool = True) -> SkillLibrary:
    manifests = [
        Manifest(f"skill-{n}", f"Checks {SUBJECTS[n % 8]} of kind {n} for errors that matter; use when somebody asks.")
        for n in range(count)
    ]
    own = SkillLibrary(manifests)
    return SkillLibrary.builtin().merged(own) if has_builtin else own


def tokens(catalogue) -> int:
    return count_tokens(Catalogue(catalogue).text)


def test_a_library_that_fits_is_shown_whole() -> None:
    shown = SkillLibrary.builtin().catalogue_for("Anything at all")

    assert shown == SkillLibrary.builtin().catalogue


@pytest.mark.parametrize("count", [100, 1000])
def test_a_larger_one_is_cut_to_its_budget_and_keeps_the_shipped_skills(count: int) -> None:
    shown = library(count).catalogue_for("Which turbines of kind 38 have errors?")

    assert tokens(shown) <= CATALOGUE_TOKENS
    assert shown[: len(SkillLibrary.builtin().catalogue)] == SkillLibrary.builtin().catalogue
    assert "skill-38" in [name for name, _ in shown]


def test_the_best_matches_are_kept_by_name_description_and_triggers() -> None:
    own = SkillLibrary(
        [
            *library(200, has_builtin=False).manifests.values(),
            Manifest("zebra-counting", "Does something."),
            Manifest("other", "Counts zebras."),
            Manifest("third", "Does something else.", triggers=("zebra",)),
        ]
    )

    shown = own.catalogue_for("How many zebras are there?", 200)

    assert [name for name, _ in shown][-3:] == ["zebra-counting", "other", "third"]


def test_where_nothing_matches_the_first_ones_are_shown() -> None:
    shown = library(500, has_builtin=False).catalogue_for("文書は何を言っているか", 100)

    assert [name for name, _ in shown][:2] == ["skill-0", "skill-1"]
    assert tokens(shown) <= 100


def test_skills_of_other_layers_and_unlisted_ones_are_not_shown() -> None:
    own = SkillLibrary(
        [
            Manifest("gate", "Checks.", layer="guarantee"),
            Manifest("extra", "Adds.", layer="enhancement"),
            Manifest("hidden", "Hides.", is_listed=False),
            Manifest("plain", "Works."),
        ]
    )

    assert own.catalogue == own.catalogue_for("Check, add, hide and work") == (("plain", "Works."),)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80), st.integers(20, 400), st.integers(1, 60))
def test_a_catalogue_keeps_its_budget_and_its_order_whatever_is_asked(task: str, budget: int, count: int) -> None:
    own = library(count, has_builtin=False)

    shown = own.catalogue_for(task, budget)

    assert tokens(shown) <= budget or shown == ()
    assert list(shown) == [entry for entry in own.catalogue if entry in shown]
    assert own.catalogue_for(task, budget) == shown


def test_a_planners_prompt_does_not_grow_with_the_library() -> None:
    documents = DocumentSet.of(Document.from_text("# One\n\nText.\n" * 400, name="report.md"))
    task = "Which turbines of kind 38 have errors?"

    full = [plan_request(documents, task, library(count)) for count in (100, 1000)]
    outline = [outline_request(documents, task, library(count)) for count in (100, 1000)]

    assert abs(count_tokens(full[0].prompt) - count_tokens(full[1].prompt)) < 60
    assert all(count_tokens(request.prompt) <= 3_000 for request in outline)


def test_a_cut_catalogue_leaves_what_stands_before_it_as_it_is() -> None:
    documents = DocumentSet.of(Document.from_text("# One\n\nText.\n", name="report.md"))
    own = library(300)

    first = plan_request(documents, "Which turbines of kind 38 have errors?", own)
    second = plan_request(documents, "Which contracts of kind 10 have errors?", own)

    kinds = [block.kind for block in first.blocks]
    assert kinds == ["instructions", "document", "catalogue", "task"]
    assert first.blocks[:2] == second.blocks[:2]
    assert first.blocks[2] != second.blocks[2]
