"""`orchestra runs`: what is on record of earlier runs."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.call_graph import call_graph, duration, error_lines
from orchestra.cli.dates import PointInTime, local_time
from orchestra.cli.group import debug_option
from orchestra.cli.options import json_option
from orchestra.cli.sent_prompts import prompts_of_node, text_of
from orchestra.cli.store_choice import open_store, store_option
from orchestra.cli.terminal import as_json, clean, one_line, print_answer, say

if TYPE_CHECKING:
    from orchestra.store import ApprovalRecord, RunRecord, RunSummary, Store

SHORT_ID = 12
STATUSES = ("running", "waiting", "completed", "partial", "failed", "cancelled")


@click.group(
    invoke_without_command=True,
    epilog="\b\nExamples:\n"
    "  orchestra runs --status failed --since 3d\n"
    "  orchestra runs show 3f9a1c\n"
    "  orchestra runs export 3f9a1c --output run.json",
)
@click.option("--status", type=click.Choice(STATUSES), help="Those that are so.")
@click.option("--skill", metavar="NAME", help="Those that used this skill.")
@click.option("--text", metavar="TEXT", help="Those with TEXT in their task or result.")
@click.option("--since", type=PointInTime(), metavar="TIME", help="Begun then or later: 2026-11-21, or 3d ago.")
@click.option("--until", type=PointInTime(is_end=True), metavar="TIME", help="Begun by then.")
@click.option("--limit", type=click.IntRange(1), metavar="N", default=50, show_default=True, help="No more than N.")
@store_option
@json_option
@debug_option
@click.pass_context
def runs(context: click.Context, store: str | None, is_json: bool, limit: int, **choices: Any) -> None:
    """List the runs on record, newest first; or show, export and remove them.

    A run is named by its id or the beginning of it.
    """
    if context.invoked_subcommand is not None:
        return
    with open_store(store) as opened:
        listed = opened.runs(limit=limit, **choices)
    if is_json:
        print_answer(as_json([asdict(run) for run in listed]))
    elif listed:
        print_answer("\n".join(_lines(listed)))
    else:
        say("no run is on record that fits" if any(choices.values()) else "no run is on record")


@runs.command(
    epilog="\b\nExamples:\n"
    "  orchestra runs show 3f9a1c\n"
    "  orchestra runs show 3f9a1c --prompt run/subtask-2\n"
    "  orchestra runs show 3f9a1c --events | head"
)
@click.argument("run_id", metavar="RUN")
@click.option("--events", "is_raw", is_flag=True, help="Print its events instead, as lines of JSON.")
@click.option("--prompt", "node_id", metavar="NODE", help="Print what NODE sent instead, rebuilt from the record.")
@store_option
@json_option
@debug_option
def show(run_id: str, is_raw: bool, node_id: str | None, store: str | None, is_json: bool) -> None:
    """Show RUN: what was asked, its nodes as a tree, and its answer."""
    with open_store(store) as opened:
        run = opened.find_run(run_id)
        if node_id is not None:
            prompts = prompts_of_node(opened, run.id, node_id)
            print_answer(
                as_json([asdict(prompt) for prompt in prompts]) if is_json else "\n\n".join(map(text_of, prompts))
            )
        elif is_raw:
            for event in opened.events(run.id):
                click.echo(json.dumps(event))
        elif is_json:
            print_answer(as_json(_as_data(opened, run)))
        else:
            print_answer("\n".join(_described(opened, run)))


@runs.command(epilog="\b\nExample:\n  orchestra runs export 3f9a1c --output run.json")
@click.argument("run_id", metavar="RUN")
@click.option("--no-texts", is_flag=True, help="Leave the texts of its documents out.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write there instead.",
)
@store_option
@debug_option
def export(run_id: str, no_texts: bool, output: Path | None, store: str | None) -> None:
    """Print all that is on record of RUN, as JSON.

    Its nodes, events, calls with their replies, questions and answers, and the
    texts of its documents.
    """
    with open_store(store) as opened:
        run = opened.find_run(run_id)
        exported = _as_data(opened, run)
        exported["events"] = list(opened.events(run.id))
        exported["calls"] = [asdict(call) for call in opened.calls(run.id)]
        for document in () if no_texts else exported["documents"]:
            document["text"] = opened.document(document["digest"])
    if output is None:
        print_answer(as_json(exported))
    else:
        output.write_text(as_json(exported) + "\n", encoding="utf-8")


@runs.command(epilog="\b\nExample:\n  orchestra runs rm 3f9a1c 81c2aa")
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@store_option
@debug_option
def rm(run_ids: tuple[str, ...], store: str | None) -> None:
    """Remove each RUN, and the documents that no other run uses.

    All or none: a run that somebody works on stays, and then they all do.
    """
    with open_store(store) as opened:
        found = list(dict.fromkeys(opened.find_run(run_id).id for run_id in run_ids))
        is_gone = opened.remove_runs(found)
    for run_id in found:
        say(f"removed: {run_id}")
    if not is_gone:
        say("Another process uses the store: what was removed stays in its files until the next removal.")


def _lines(listed: list[RunSummary]) -> list[str]:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    status_width = max(len(run.status) for run in listed)
    lines: list[str] = []
    for run in listed:
        took = duration((run.ended_at - run.started_at) * 1000) if run.ended_at else ""
        facts = f"{run.id[:SHORT_ID]}  {local_time(run.started_at)}  {run.status:<{status_width}}  {took:>8}"
        documents = f"  ({one_line(', '.join(run.documents))})" if run.documents else ""
        line = f"{_plain(facts)}  {one_line(run.task)}{documents}"
        lines.append(line if not 0 < width < len(line) else line[: max(width - 3, 1)] + "...")
    return lines


def _plain(text: str) -> str:
    """Without controls; spaces between columns stay."""
    return clean(text).replace("\n", " ")


def _described(store: Store, run: RunRecord) -> list[str]:
    took = duration((run.ended_at - run.started_at) * 1000) if run.ended_at else ""
    calls = store.calls(run.id)
    finished = sum(call.payload is not None for call in calls)
    documents = ", ".join(document.name for document in run.documents)
    rows = [
        ("run", run.id),
        ("status", ", ".join(fact for fact in (run.status, took) if fact)),
        ("begun", local_time(run.started_at)),
        ("task", run.task),
        ("documents", documents),
        ("models", ", ".join(f"{phase} {name}" for phase, name in run.models.items())),
        ("session", run.session_id),
        ("journal", f"{finished} finished" + (f", {len(calls) - finished} not" if finished < len(calls) else "")),
        ("version", run.version),
    ]
    lines = [f"{name:<10} {one_line(value)}" for name, value in rows if value]
    if nodes := store.nodes(run.id):
        lines += ["", *call_graph(nodes)]
    if run.error:
        lines += ["", *error_lines(run.error)]
    waiting = store.approvals(run.id, "open") if run.status == "waiting" else []
    lines += ["", *(_question(run, each) for each in waiting)] if waiting else []
    answer = str((run.result or {}).get("answer") or "").strip()
    return [*lines, "", answer] if answer else lines


def _question(run: RunRecord, asked: ApprovalRecord) -> str:
    node = one_line(asked.node_id)
    return f"waits for {one_line(asked.title) or asked.kind}: `orchestra approve {run.id[:SHORT_ID]} {node}`"


def _as_data(store: Store, run: RunRecord) -> dict[str, Any]:
    calls = store.calls(run.id)
    return {
        **asdict(run),
        "documents": [asdict(document) for document in run.documents],
        "nodes": [asdict(node) for node in store.nodes(run.id)],
        "approvals": [asdict(asked) for asked in store.approvals(run.id)],
        "calls": {
            "finished": sum(call.payload is not None for call in calls),
            "unfinished": [call.node_id for call in calls if call.payload is None],
        },
    }
