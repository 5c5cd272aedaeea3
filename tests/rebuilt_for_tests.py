"""What the tests of rebuilt prompts share: a report's task and plan, and how prompts and stores are compared."""

from __future__ import annotations

import hashlib
import sqlite3

from models_for_tests import AUDITOR, COSTS, REVENUE, ScriptedModel, plan_of

TASK = "What was revenue, why did costs rise, and who audits?"
PLAN = plan_of({"context_pointers": REVENUE}, {"context_pointers": COSTS}, {"context_pointers": AUDITOR})


def dump_of(place):
    """Every row of a database of SQLite, hashed, and how many there are by table."""
    with sqlite3.connect(place) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        return counts, hashlib.sha256("\n".join(connection.iterdump()).encode()).hexdigest()


def a_model(**answers):
    return ScriptedModel(**{"plan": PLAN, "subtask": "So it says [L5].", "synthesis": "All of it [L5].", **answers})


def every(prompts):
    return [prompt for of_node in prompts.values() for prompt in of_node]


def hashes(prompts):
    return sorted(prompt.fingerprint for prompt in every(prompts))


def sent_hashes(model):
    return sorted({request.fingerprint for request in model.requests})


def look_up(city: str, most: int = 3) -> str:
    """Look up a city."""
    return f"{city} is there, {most} times"
