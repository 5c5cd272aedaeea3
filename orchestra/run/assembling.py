"""The assembly phase: from a plan to what each subtask is sent, with an event for every step."""

from __future__ import annotations

from contextlib import suppress

from orchestra.errors import SkillInvalid
from orchestra.planning.assemble import DEFAULT_CONTEXT_TOKENS, LARGEST_CONTEXT_TOKENS, Assignment
from orchestra.planning.assemble import assemble as assembled
from orchestra.planning.direct import direct_assignment, is_direct
from orchestra.planning.plan import Plan
from orchestra.run.state import Run
from orchestra.runtime.calls import context_window
from orchestra.runtime.events import PointerResolved, SliceReady
from orchestra.settings import REPLY_ROOM

_SHOWN = {"full": "the whole document is sent", "search": "the best parts for its words are sent"}


def assemble(run: Run, plan: Plan) -> tuple[Assignment, ...]:
    """The slice and prompt of every delegated subtask; each step of the pointer ladder is an event."""
    if is_direct(plan):
        assignments = (direct_assignment(plan, run.documents, is_kept=run.settings.is_document_cached),)
        _report_slice(run, assignments[0])
        return assignments
    _read_skills(run, plan)
    window = context_window(run.worker)
    assignments = assembled(
        plan,
        run.documents,
        run.library,
        on_unresolved=run.on_unresolved,
        context_tokens=int(window * REPLY_ROOM) if window else DEFAULT_CONTEXT_TOKENS,
        largest_tokens=int(window * REPLY_ROOM) if window else LARGEST_CONTEXT_TOKENS,
    )
    for assignment in assignments:
        _report_slice(run, assignment)
    return assignments


def _read_skills(run: Run, plan: Plan) -> None:
    """On behalf of the subtasks that use them; one that cannot be read fails its subtasks, and not the run."""
    for subtask in plan.delegated:
        if subtask.skill in run.library:
            with suppress(SkillInvalid):  # raised again, and kept, where the subtask is assembled
                run.library.reach(run.library.manifest(subtask.skill), f"run/subtask-{subtask.id}")


def _report_slice(run: Run, assignment: Assignment) -> None:
    node_id = f"run/subtask-{assignment.subtask.id}"
    for resolution in assignment.resolutions:
        run.stream.emit(
            PointerResolved,
            node_id=node_id,
            pointer=resolution.pointer,
            rung=resolution.rung,
            ranges=[str(lines) for lines in resolution.ranges],
            notes=resolution.notes,
        )
        for note in resolution.notes:
            run.warn("POINTER_NOTE", f"{resolution.pointer}: {note}", node_id)
    for warning in assignment.warnings:
        run.warn("SKILL_UNKNOWN", warning, node_id)
    if assignment.fallback == "narrowed":
        run.warn("SLICE_NARROWED", "its pointers hold more than the model's window: the best parts are sent", node_id)
    elif assignment.fallback and run.settings.strategy != "route":  # a route gives no pointers
        run.warn("POINTERS_UNRESOLVED", f"no pointer resolved: {_SHOWN[assignment.fallback]}", node_id)
    run.stream.emit(
        SliceReady,
        node_id=node_id,
        ranges=[str(lines) for lines in assignment.slice.line_ranges],
        tokens=assignment.slice.tokens,
        fallback=assignment.fallback,
    )
