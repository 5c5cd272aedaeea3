"""Before the first call: which way the task is answered, decided by code."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.document.retrieval import Hits
from orchestra.models.blocks import OutlineBlock
from orchestra.models.prices import price
from orchestra.models.protocol import ModelRequest, Usage
from orchestra.planning.costs import request_tokens
from orchestra.planning.direct import direct_tokens
from orchestra.planning.followups import FOLLOWUP_TOKENS
from orchestra.planning.history import history_tokens, with_history
from orchestra.planning.outline_planner import outline_request
from orchestra.planning.planner import full_tokens
from orchestra.planning.strategy import (
    Choice,
    Price,
    Sizes,
    choose,
    estimates,
    expected_parts,
    expected_slices,
    most_slices,
)
from orchestra.planning.tools_note import with_tools_note
from orchestra.result import EstimateReport, StrategyReport
from orchestra.run.state import Run
from orchestra.run.toolbox import planner_note
from orchestra.run.whole import fits_one_call
from orchestra.runtime.calls import context_window, model_host, model_name
from orchestra.runtime.events import StrategyChosen
from orchestra.skills import SkillLibrary

FOLLOWUP_PROMPT_TOKENS = 500  # rules, skill and question of a follow-up
BY_SKILLS = StrategyReport(chosen="route", asked="route", reason="skills were asked for")


def choose_strategy(run: Run) -> Choice:
    """The strategy of this run; `run.strategy` tells the caller."""
    choice = _choice(run)
    run.strategy = StrategyReport.of(choice, run.settings.strategy, _names(run))
    run.stream.emit(StrategyChosen, strategy=choice.strategy, reason=choice.reason)
    return choice


def strategy_report(run: Run) -> StrategyReport:
    """What `choose_strategy` would choose, without a run; for a route, what the other ways would cost."""
    if run.settings.strategy == "route":
        others = tuple(EstimateReport.of(each, _names(run)) for each in estimates(sizes(run)))
        return BY_SKILLS.model_copy(update={"estimates": others})
    return StrategyReport.of(_choice(run), run.settings.strategy, _names(run))


def _choice(run: Run) -> Choice:
    return choose(sizes(run), run.settings.strategy, _price_of(run))


def sizes(run: Run) -> Sizes:
    """What the estimates rest on.

    The outline's prompt is made for it, for that is what would be sent; not where another way was asked for, and the
    search would be in vain.
    """
    settings, document = run.settings, run.documents.size.tokens
    parts, earlier = expected_parts(run.task), history_tokens(run.history)
    outline, slices = min(settings.outline_tokens, document), min(most_slices(parts), document)
    if settings.strategy in ("auto", "outline"):
        outline, slices = request_tokens(first_request(run)), expected_slices(_hits(run), run.documents, parts)
    return Sizes(
        direct=direct_tokens(run.documents, run.task) + earlier,
        full=full_tokens(run.documents, run.task, run.library, settings.most_catalogue_tokens) + earlier,
        outline=outline,
        slices=slices,
        parts=parts,
        is_document_cached=settings.is_document_cached,
        window=context_window(run.worker),
        planner_window=context_window(run.planner),
        max_followup_tokens=settings.max_followups * (FOLLOWUP_TOKENS + FOLLOWUP_PROMPT_TOKENS),
        has_own_skills=run.library != SkillLibrary.builtin(),
        is_read_whole=settings.strategy == "auto" and fits_one_call(run) and _asks_for_the_whole(run),
    )


def _asks_for_the_whole(run: Run) -> bool:
    from orchestra.models.extractive.questions import split
    from orchestra.models.extractive.whole_tasks import is_about_the_whole, names_of

    return is_about_the_whole(split(run.task), names_of(run.documents))


def first_request(run: Run) -> ModelRequest:
    """What the planner of an outline is sent first; made once."""
    if run.outline_request is None:
        request = outline_request(
            run.documents,
            run.task,
            run.library,
            outline_tokens=run.settings.outline_tokens,
            catalogue_tokens=run.settings.most_catalogue_tokens,
            temperature=run.settings.temperature,
            words=run.task_alone,
        )
        run.outline_request = with_history(with_tools_note(request, planner_note(run)), run.history)
    return run.outline_request


def _hits(run: Run) -> Hits:
    return next(block.view.hits for block in first_request(run).blocks if isinstance(block, OutlineBlock))


def _names(run: Run) -> list[tuple[str, str]]:
    """Name and host of who plans, who works and who joins."""
    return [(model_name(model), model_host(model)) for model in run.phase_models]


def _price_of(run: Run) -> Price:
    """US dollars for the usages of the three phases; None where a price is not known."""
    models = _names(run)

    def price_of(phases: Sequence[Usage]) -> float | None:
        costs = [
            price(name, usage, base_url=f"https://{host}/" if host else "") if usage != Usage() else 0.0
            for (name, host), usage in zip(models, phases, strict=True)
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    return price_of
