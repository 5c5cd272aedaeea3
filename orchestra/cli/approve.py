"""`orchestra approve`: the answer to what a run waits for, given from anywhere and at any time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestra.cli.group import FAILED, debug_option
from orchestra.cli.options import config_option, json_option
from orchestra.cli.prompting import ask_here, terminal_width
from orchestra.cli.question_text import question_text
from orchestra.cli.report import store_words
from orchestra.cli.store_choice import open_store, store_option
from orchestra.cli.terminal import as_json, one_line, print_answer, say, say_error
from orchestra.errors import InputInvalid, StoreDamaged

if TYPE_CHECKING:
    from orchestra.runtime.questions import Decision, Question
    from orchestra.store import ApprovalRecord, RunRecord, Store


@click.command(
    epilog="\b\nExamples:\n"
    "  orchestra approve 3f9a1c                       what run 3f9a1c waits for\n"
    "  orchestra approve 3f9a1c subtask-2\n"
    '  orchestra approve 3f9a1c subtask-2 --reject "not to this host"\n'
    '  orchestra approve 3f9a1c subtask-2 --edit \'{"task": "List the fees."}\''
)
@click.argument("run_id", metavar="RUN")
@click.argument("node", metavar="[NODE]", required=False)
@click.option("--yes", "is_approved", is_flag=True, help="Approve what is shown.")
@click.option("--edit", metavar="JSON", help="Approve it with these keys of it changed.")
@click.option("--reject", metavar="WHY", help="Reject it.")
@click.option("--answer", metavar="TEXT", help="Answer a question that wants words.")
@click.option("--digest", metavar="HEX", default="", help="Only if this is still what is asked; its beginning will do.")
@store_option
@config_option
@json_option
@debug_option
def approve(
    run_id: str,
    node: str | None,
    is_approved: bool,
    edit: str | None,
    reject: str | None,
    answer: str | None,
    digest: str,
    store: str | None,
    config: Path | None,
    is_json: bool,
) -> int:
    """Show what RUN asks of people, or answer NODE of it: approve it, if no
    option says otherwise.

    The answer holds for exactly what is shown; if the run asks for anything
    else later on, it is not used. On a terminal it is asked for when no
    option gives it. `orchestra resume RUN` then goes on.
    """
    given = [choice for choice in (is_approved or None, edit, reject, answer) if choice is not None]
    if len(given) > 1:
        raise click.UsageError("--yes, --edit, --reject and --answer exclude one another")
    with open_store(store, config) as opened:
        run = opened.find_run(run_id)
        records = _open_questions(opened, run)
        if run.status == "completed" or not (records or run.status == "waiting"):
            raise InputInvalid(
                f"run {run.id} asks nothing",
                cause=f"it is {run.status}",
                suggestion=f"`orchestra runs show {run.id}` says what became of it.",
            )
        if node is None and not given:
            return _show(run, records, is_json=is_json)
        record = _chosen(opened, run, records, node, digest)
        question = _question(record)
        say(question_text(question, width=terminal_width()))
        if given:
            decision = _decision(question, edit, reject, answer)
        elif sys.stdin.isatty() and sys.stderr.isatty():
            decision = ask_here(question)
        elif node is not None and question.kind != "ask_user":
            decision = _decision(question, None, None, None)
        else:
            raise click.UsageError("say what the answer is: --yes, --edit, --reject or --answer")
        if decision is None:
            say("nothing was answered")
            return 0
        return _keep(opened, run, record, decision, is_json=is_json)


def _open_questions(store: Store, run: RunRecord) -> list[ApprovalRecord]:
    """What the run asks. Of a run that has ended to wait, what it asked last."""
    records = store.approvals(run.id, "open")
    asked = (run.result or {}).get("waiting") if run.status == "waiting" else None
    if asked:
        digests = {each["digest"] for each in asked}
        records = [record for record in records if record.digest in digests]
    return records


def _show(run: RunRecord, records: Sequence[ApprovalRecord], *, is_json: bool) -> int:
    if is_json:
        asked = [{**_question(record).to_dict(), "digest": record.digest} for record in records]
        print_answer(as_json({"run_id": run.id, "status": run.status, "waiting": asked}))
        return 0
    blocks = [f"{question_text(_question(each), width=terminal_width())}\n{_how(run, each)}" for each in records]
    print_answer("\n\n".join(blocks or ["Everything is answered."]))
    if not records:
        say(_resume(run))
    return 0


def _how(run: RunRecord, record: ApprovalRecord) -> str:
    from shlex import quote

    way = '--answer "..."' if record.kind == "ask_user" else '--yes | --reject "why"'
    if _question(record).editable:
        way += " | --edit JSON"
    command = f"orchestra approve {run.id} {quote(one_line(record.node_id))} --digest {record.digest[:16]}"
    return f"{command}{_where()} {way}"


def _resume(run: RunRecord) -> str:
    return f"`orchestra resume {run.id}{_where()}` goes on"


def _where() -> str:
    return store_words(click.get_current_context().params.get("store"))


def _chosen(
    store: Store, run: RunRecord, records: Sequence[ApprovalRecord], node: str | None, digest: str
) -> ApprovalRecord:
    """The one open question that is meant. Raises `InputInvalid`."""
    found = [record for record in records if _is_meant(record, node, digest)]
    if len(found) == 1:
        return found[0]
    nodes = ", ".join(dict.fromkeys(one_line(record.node_id) for record in records))
    if len(found) > 1:
        several = "several questions are open"
        raise InputInvalid(
            f"it is not clear which question of run {run.id} is meant",
            cause=f"{several}: {nodes}",
            suggestion="Name NODE, and --digest where it asks more than one.",
        )
    answered = [each for each in store.approvals(run.id, "answered") if _is_meant(each, node, digest)]
    if answered:
        raise InputInvalid(
            f"{answered[-1].node_id} is answered: {answered[-1].outcome}{_when(answered[-1])}", suggestion=_resume(run)
        )
    asked = f"{node or 'run'}{f' with the digest {digest}' if digest else ''}"
    raise InputInvalid(
        f"{asked} asks nothing",
        cause=f"open: {nodes}" if nodes else "",
        suggestion=f"`orchestra approve {run.id}{_where()}` shows what is asked.",
    )


def _is_meant(record: ApprovalRecord, node: str | None, digest: str) -> bool:
    is_node = node is None or record.node_id == node or record.node_id.endswith(f"/{node}")
    return is_node and record.digest.startswith(digest.lower())


def _question(record: ApprovalRecord) -> Question:
    """What was asked, checked against the hash that the answer will be bound to."""
    from orchestra.runtime.questions import Question

    question = Question.from_dict(record.shown)
    if question.digest != record.digest or question.node_id != record.node_id:
        raise StoreDamaged(
            f"the question of {record.node_id} was changed after it was asked", cause="its hash is that of another"
        )
    return question


def _decision(question: Question, edit: str | None, reject: str | None, answer: str | None) -> Decision:
    """What the options say. Raises `InputInvalid` where that does not answer the question."""
    from orchestra.runtime.questions import Decision, checked_decision

    if edit is not None:
        return checked_decision(question, Decision("edited", _edit(edit)))
    if reject is not None:
        return checked_decision(question, Decision("rejected", reason=reject.strip()))
    if answer is not None:
        return checked_decision(question, Decision("answered", text=answer))
    return checked_decision(question, Decision("approved"))


def _edit(text: str) -> dict[str, Any]:
    try:
        edit = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--edit is no JSON: {error}") from error
    if not isinstance(edit, dict):
        raise click.UsageError("--edit is no JSON object with the keys that are to change")
    return edit


def _keep(store: Store, run: RunRecord, record: ApprovalRecord, decision: Decision, *, is_json: bool) -> int:
    is_first = store.answer(
        run.id,
        record.node_id,
        record.digest,
        outcome=decision.outcome,
        edited=decision.edited,
        reason=decision.reason,
        text=decision.text,
    )
    if not is_first:
        theirs = next(
            each
            for each in store.approvals(run.id, "answered")
            if (each.node_id, each.digest) == (record.node_id, record.digest)
        )
        say_error(
            f"somebody else answered {record.node_id} first: {theirs.outcome}{_when(theirs)}; this answer is not used",
            f"{_resume(run)}.",
        )
        return FAILED
    left = _open_questions(store, run)
    if is_json:
        answered = {"run_id": run.id, "node_id": record.node_id, "digest": record.digest, **decision.to_dict()}
        print_answer(as_json({**answered, "still_open": [each.node_id for each in left]}))
    else:
        say(f"{decision.outcome}: {one_line(record.node_id)}")
    open_nodes = ", ".join(one_line(each.node_id) for each in left)
    say(f"still open: {open_nodes}" if left else _resume(run))
    return 0


def _when(record: ApprovalRecord) -> str:
    if record.answered_at is None:
        return ""
    return time.strftime(" on %Y-%m-%d at %H:%M", time.localtime(record.answered_at))
