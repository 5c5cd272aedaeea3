"""`orchestra plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.bill import Bill, bill_text, estimate, strategies_text
from orchestra.cli.group import debug_option
from orchestra.cli.options import (
    config_option,
    documents_and_task,
    given,
    json_option,
    load_documents,
    load_skills,
    on_unresolved_option,
    skills_option,
    split_task,
    strategy_options,
    timeout_option,
)
from orchestra.cli.progress import progress
from orchestra.cli.terminal import as_json, print_answer

if TYPE_CHECKING:
    from orchestra.document import DocumentSet, LineRange
    from orchestra.planning.assemble import Assignment
    from orchestra.planning.plan import Plan, Subtask
    from orchestra.result import StrategyReport
    from orchestra.skills import SkillLibrary


@click.command(
    epilog="\b\nExamples:\n"
    '  orchestra plan report.md "How do the two segments compare?"\n'
    '  orchestra plan report.md "How do they compare?" --json > plan.json\n'
    '  orchestra run report.md "How do they compare?" --plan plan.json'
)
@documents_and_task
@click.option("--model", metavar="NAME", help="Who plans; `orchestra models` says what the default is.")
@skills_option
@strategy_options
@on_unresolved_option
@timeout_option
@config_option
@json_option
@click.option("--quiet", is_flag=True, help="Say nothing on standard error but errors.")
@debug_option
def plan(
    words: tuple[str, ...],
    model: str | None,
    skill_folders: tuple[Path, ...],
    config: Path | None,
    is_json: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    """Show the plan, slices and estimated bill of a run, beside other strategies.

    Asks the planner (not by `direct`) and sends nothing after it. The JSON is a
    plan that `orchestra run --plan` takes.
    """
    paths, task = split_task(words)
    documents = load_documents(paths)
    library = load_skills(skill_folders, is_quiet=quiet)

    from orchestra.configuration import configure
    from orchestra.models import resolve_model
    from orchestra.pipeline import compare_strategies, make_plan
    from orchestra.result import UsageReport
    from orchestra.runtime.calls import model_name

    options: Any = given(choices)
    configuration = configure(options, config)
    worker = model_name(resolve_model(configuration.models(model)[1]))
    strategies = compare_strategies(documents, task, library, model, config=config, **options)
    with progress(is_quiet=quiet) as listener:
        made = make_plan(documents, task, library, model, config=config, on_event=listener, **options)
    on_unresolved = configuration.settings.on_unresolved or strategies.on_unresolved
    assignments = _assigned(made, documents, library, on_unresolved)
    planned = next((each.plan for each in strategies.estimates if each.strategy == strategies.chosen), UsageReport())
    bill = estimate(made, assignments, documents, task=task, model=worker, planned=planned)
    if is_json:
        print_answer(as_json(_as_data(made, assignments, bill, strategies)))
    else:
        print_answer(_as_text(made, assignments, bill, strategies))


def _assigned(plan: Plan, documents: DocumentSet, library: SkillLibrary, on_unresolved: Any) -> Sequence[Assignment]:
    from orchestra.planning.assemble import assemble
    from orchestra.planning.direct import direct_assignment, is_direct

    if is_direct(plan):
        return [direct_assignment(plan, documents)]
    return assemble(plan, documents, library, on_unresolved=on_unresolved)


def _as_text(plan: Plan, assignments: Sequence[Assignment], bill: Bill, strategies: StrategyReport) -> str:
    by_id = {assignment.subtask.id: assignment for assignment in assignments}
    blocks = [_subtask_text(subtask, by_id.get(subtask.id)) for subtask in plan.subtasks]
    if plan.reasoning:
        blocks.insert(0, plan.reasoning)
    compared = "Strategies, as expected before planning\n" + strategies_text(strategies)
    return "\n\n".join((*blocks, "Estimated bill\n" + bill_text(bill), compared))


def _subtask_text(subtask: Subtask, assignment: Assignment | None) -> str:
    skill = assignment.skill.name if assignment else subtask.skill
    lines = [f"{subtask.id}. [{skill}] {subtask.task}"]
    if subtask.depends_on:
        lines.append(f"   after: {', '.join(subtask.depends_on)}")
    if assignment is None:
        return "\n".join((*lines, f"   answer: {subtask.answer}"))
    lines += [
        f"   {resolution.pointer}: {_spans(resolution.ranges) or 'nothing'} (by {resolution.rung})"
        for resolution in assignment.resolutions
    ]
    lines += [f"   warning: {warning}" for warning in assignment.warnings]
    if assignment.error is not None:
        return "\n".join((*lines, f"   {assignment.error.code}: {assignment.error.what}"))
    why = "too long for the model" if assignment.fallback == "narrowed" else "nothing resolved"
    how = f" ({why}: {assignment.fallback})" if assignment.fallback else ""
    return "\n".join(
        (*lines, f"   slice: {_spans(assignment.slice.line_ranges)}, {assignment.slice.tokens:,} tokens{how}")
    )


def _as_data(plan: Plan, assignments: Sequence[Assignment], bill: Bill, strategies: StrategyReport) -> dict[str, Any]:
    slices = [
        {
            "subtask": assignment.subtask.id,
            "skill": assignment.skill.name,
            "line_ranges": [str(found) for found in assignment.slice.line_ranges],
            "tokens": assignment.slice.tokens,
            "fallback": assignment.fallback,
            "pointers": [
                {"pointer": found.pointer, "rung": found.rung, "notes": list(found.notes)}
                for found in assignment.resolutions
            ],
            "warnings": list(assignment.warnings),
            "error": assignment.error.to_dict() if assignment.error else None,
        }
        for assignment in assignments
    ]
    return {
        **plan.model_dump(mode="json"),
        "slices": slices,
        "bill": [asdict(line) for line in bill.lines],
        "strategy": strategies.model_dump(mode="json"),
    }


def _spans(ranges: Sequence[LineRange]) -> str:
    return ", ".join(map(str, ranges))
