"""Which way to answer a task: what each would cost, and the cheapest that is expected to keep quality. Pure code.

Estimates are of expected tokens. What is known is counted (the planner's prompt, the whole document); what a plan
will ask for is taken from retrieval: a planner is expected to point at about what code itself ranks best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from orchestra.document import DocumentSet, count_tokens
from orchestra.document.retrieval import Hits, parts_of
from orchestra.models.protocol import Usage

Strategy: TypeAlias = Literal["direct", "full", "outline"]
StrategyChoice: TypeAlias = Literal["auto", "direct", "full", "outline", "route"]
CHOICES: tuple[StrategyChoice, ...] = get_args(StrategyChoice)

MOST_PARTS = 6
PLAN_OUTPUT_TOKENS = 160  # of a plan as JSON, by strategy `outline`; `full` writes sentences beside it
FULL_REPLY_ROOM = 4_096  # what a planner that reads everything may write
REPLY_TOKENS = 200  # of a subtask, and of the answer
SLICE_TOKENS = 5_500  # what a planner is expected to point at for a task of one part
MORE_SLICE_TOKENS = 2_500  # and for each further part
SUBTASK_PROMPT_TOKENS = 330  # rules, skill prompt and question of one subtask
SYNTHESIS_PROMPT_TOKENS = 260
# What a token weighs where no price is known: as most price lists have it.
PLAIN, CACHED, WRITTEN, OUTPUT = 1.0, 0.1, 1.25, 5.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the estimates rest on: token counts, and what is possible.

    `direct` and `full` are tokens of those strategies' first prompts, `outline` of the planner's prompt; `slices`
    is the sum over the expected subtasks, `parts` how many these are. `is_read_whole`: by its words the task is about
    the whole documents, and one call can read them.
    """

    direct: int
    full: int
    outline: int
    slices: int
    parts: int = 1
    is_document_cached: bool = False
    window: int | None = None
    planner_window: int | None = None
    max_followup_tokens: int = 0
    has_own_skills: bool = False
    is_read_whole: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected bill of one strategy, by phase. `note` says why it is not possible, or what it rests on."""

    strategy: Strategy
    calls: int
    plan: Usage
    subtasks: Usage
    synthesis: Usage
    is_possible: bool = True
    note: str = ""

    @property
    def phases(self) -> tuple[Usage, Usage, Usage]:
        return (self.plan, self.subtasks, self.synthesis)

    @property
    def input_tokens(self) -> int:
        return sum(phase.total_input_tokens for phase in self.phases)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is done, why, and the expected bills of all ways."""

    strategy: Strategy
    reason: str
    estimates: tuple[Estimate, ...]

    @property
    def estimate(self) -> Estimate:
        """The expected bill of what is done."""
        return next(estimate for estimate in self.estimates if estimate.strategy == self.strategy)


Price: TypeAlias = Callable[[Sequence[Usage]], "float | None"]


def expected_parts(task: str) -> int:
    """How many subtasks a plan is expected to have: one for each question that the task asks."""
    return min(parts_of(task), MOST_PARTS)


def most_slices(parts: int) -> int:
    """Tokens that a plan of so many subtasks is expected to point at, where the document has them."""
    return SLICE_TOKENS + (parts - 1) * MORE_SLICE_TOKENS


def expected_slices(hits: Hits, documents: DocumentSet, parts: int) -> int:
    """Tokens of what a plan is expected to point at: the places that code ranks best, as far as they go.

    Where no place holds a word of the task, a planner can only guess, or take the whole.
    """
    budget = most_slices(parts)
    if not hits.places:
        return min(budget, documents.size.tokens)
    expected = 0
    for hit in hits.places:
        if expected >= budget:
            break
        expected += count_tokens(documents.find(hit.place.key).lines(hit.place.first_line, hit.place.last_line))
    return min(expected, budget)


def estimates(sizes: Sizes) -> tuple[Estimate, ...]:
    """The expected bills of `direct`, `full` and `outline`."""
    direct = Usage(sizes.direct, output_tokens=REPLY_TOKENS * sizes.parts)
    if sizes.is_document_cached:
        direct = Usage(0, cached_input_tokens=sizes.direct, output_tokens=REPLY_TOKENS * sizes.parts)
    work = Usage(sizes.slices + sizes.parts * SUBTASK_PROMPT_TOKENS, output_tokens=sizes.parts * REPLY_TOKENS)
    synthesis, joins = Usage(), int(sizes.parts > 1)
    if joins:
        synthesis = Usage(sizes.parts * REPLY_TOKENS + SYNTHESIS_PROMPT_TOKENS, output_tokens=REPLY_TOKENS)
    calls = 1 + sizes.parts + joins
    full = Usage(sizes.full, output_tokens=2 * PLAN_OUTPUT_TOKENS)
    outline = Usage(sizes.outline, output_tokens=PLAN_OUTPUT_TOKENS)
    return (
        Estimate("direct", 1, Usage(), direct, Usage(), *_fits(sizes.direct, sizes.window)),
        Estimate("full", calls, full, work, synthesis, *_fits(sizes.full + FULL_REPLY_ROOM, sizes.planner_window)),
        Estimate("outline", calls, outline, work, synthesis),
    )


def choose(sizes: Sizes, asked: StrategyChoice, price: Price) -> Choice:
    """The strategy asked for; for `auto` the cheapest of `direct` and `outline`. Equal input, equal choice.

    `direct` sees everything, so it wins unless `outline` stays cheaper with all its follow-ups: that holds the
    promise that `auto` is never dearer than reading the document once. `full` is taken on request only.
    """
    all_ = estimates(sizes)
    direct, _, outline = all_
    if asked != "auto" and asked != "route":
        return Choice(asked, "as asked for", all_)
    if sizes.has_own_skills:
        return Choice("outline", "the skills that were brought need a plan; direct could not apply them", all_)
    if not direct.is_possible:
        return Choice("outline", direct.note, all_)
    if sizes.is_read_whole:
        return Choice("direct", "the task is about the whole, which a plan would read too", all_)
    dearest = _with_followups(outline, sizes)
    ours, other = _costs((direct, dearest), price)
    if ours <= other:
        why = "a cached copy is warm" if sizes.is_document_cached else "the document is short"
        return Choice("direct", f"{why}: one call costs no more than an outline, its slices and follow-ups", all_)
    share = round(100 * outline.input_tokens / max(1, direct.input_tokens))
    return Choice("outline", f"about {share} % of the input tokens of one call with everything", all_)


def _with_followups(outline: Estimate, sizes: Sizes) -> Estimate:
    work = outline.subtasks
    more = Usage(work.input_tokens + sizes.parts * sizes.max_followup_tokens, output_tokens=work.output_tokens)
    return Estimate("outline", outline.calls, outline.plan, more, outline.synthesis)


def _costs(compared: Sequence[Estimate], price: Price) -> list[float]:
    """Of each in dollars; of all in weighed tokens where a price is not known, or nothing costs anything."""
    prices = [price(estimate.phases) for estimate in compared]
    known = [each for each in prices if each is not None]
    if len(known) == len(prices) and any(known):
        return known
    return [sum(_weighed(usage) for usage in estimate.phases) for estimate in compared]


def _weighed(usage: Usage) -> float:
    return (
        PLAIN * usage.input_tokens
        + CACHED * usage.cached_input_tokens
        + WRITTEN * usage.cache_write_tokens
        + OUTPUT * usage.output_tokens
    )


def _fits(prompt_tokens: int, window: int | None) -> tuple[bool, str]:
    if window is None or prompt_tokens + REPLY_TOKENS <= window:
        return True, ""
    return False, f"the prompt of about {prompt_tokens:,} tokens does not fit the model's window of {window:,}"
