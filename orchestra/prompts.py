"""What a run sent, rebuilt from its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orchestra.configuration import configure
from orchestra.errors import InputInvalid
from orchestra.pipeline import story_of
from orchestra.run.keeping import open_store
from orchestra.run.prompts import SentPrompt
from orchestra.run.rebuilding import Rebuilding
from orchestra.settings import Skills, StoreChoice

__all__ = ["SentPrompt", "prompts_of"]


def prompts_of(
    run_id: str, *, store: StoreChoice = None, config: str | Path | None = None, skills: Skills | None = None
) -> Mapping[str, tuple[SentPrompt, ...]]:
    """The requests that a run sent, by the ids of its nodes, in the order of the run; `run_id` may be abbreviated.

    A store keeps the hash of each request and its reply, and each document once. So the run is carried out again from
    its record, of which nothing is sent, done, asked or written, and each request that comes of it is held to the
    hashes: `is_proved`. Of a run under way, what it has asked so far. `skills` are those that were passed to the run,
    where it holds some that a store cannot keep. Nothing of the run's models is needed, nor a key.

    Raises `RunNotFound`, `InputInvalid`, `DocumentUnreadable`, `SkillInvalid`, and `StoreError`s.
    """
    configuration = configure({}, config)
    opened = open_store(store, configuration.store)
    if opened is None:
        raise InputInvalid("there is no store to read from", suggestion="Pass store=, or set ORCHESTRA_STORE.")
    rebuilding = Rebuilding(opened, opened.find_run(run_id), skills)
    request = rebuilding.request
    rebuilding.drive(story_of(rebuilding.run, request.plan, request.answer_schema))
    return rebuilding.prompts()
