"""`orchestra compose`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from orchestra.cli.group import debug_option
from orchestra.cli.options import (
    config_option,
    documents_and_task,
    json_option,
    load_documents,
    load_skills,
    mode_option,
    skills_option,
    split_task,
)
from orchestra.cli.terminal import one_line, print_answer


@click.command(epilog='\b\nExample:\n  orchestra compose report.md "What drove the margin?" --mode deep-work')
@documents_and_task
@skills_option
@mode_option
@config_option
@json_option
@debug_option
def compose(
    words: tuple[str, ...], skill_folders: tuple[Path, ...], mode: str, config: Path | None, is_json: bool
) -> None:
    """Show which skills stand around TASK: gates, enhancements, execution.

    Nothing is sent. The answer itself, a plan and its subtasks, is `answer`.
    """
    paths, task = split_task(words)
    library = load_skills(skill_folders, is_quiet=is_json)

    from orchestra.configuration import configure
    from orchestra.pipeline import compose_skills

    documents = load_documents(paths)
    chain = compose_skills(task, mode, library, documents=documents, modes=configure({}, config).modes)
    if is_json:
        print_answer(json.dumps(asdict(chain), ensure_ascii=False, indent=2))
        return
    lines = [f"mode {chain.mode}"]
    for step in chain.steps:
        after = f", after {', '.join(step.waits_for)}" if step.waits_for else ""
        kind = "" if step.layer != "guarantee" else " (blocks)" if step.is_blocking else " (degrades)"
        lines.append(one_line(f"{step.layer:<12}{step.skill}{kind}{after}: {step.reason}"))
    lines.extend(one_line(f"{'skipped':<12}{each.skill}: {each.reason}") for each in chain.skipped)
    print_answer("\n".join((*lines, *(f"warning: {one_line(warning)}" for warning in chain.warnings))))
