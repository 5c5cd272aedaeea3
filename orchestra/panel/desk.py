"""What the pages work with: one store, and what stands around it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from orchestra.panel.estimating import Estimates
from orchestra.panel.folded.folds import Folds
from orchestra.panel.folded.forests import Forests
from orchestra.panel.live.feed import Feeds
from orchestra.panel.runner import Runner
from orchestra.panel.shelves.places import panel_folder
from orchestra.panel.shelves.shelf import UPLOAD_LIMIT, Shelf
from orchestra.panel.view.progress import RunningRun
from orchestra.panel.view.remarks import RunRemarks
from orchestra.runtime.tools.given import ToolChoice
from orchestra.skills import SkillLibrary
from orchestra.skills.policy import Policy
from orchestra.store import Store


@dataclass(frozen=True, slots=True)
class Desk:
    """One panel: its store, which it does not close, and what it may reach.

    `home` is the folder for what is uploaded; `documents`, `model`, `skills` and `tools` are those that were named when
    it was started; `secret` lets a browser in.
    """

    store: Store
    home: Path
    runner: Runner
    feeds: Feeds
    shelf: Shelf
    forests: Forests
    progress: Folds[RunningRun]
    remarks: Folds[RunRemarks]
    estimates: Estimates
    documents: tuple[Path, ...] = ()
    policy: Policy = field(default_factory=lambda: Policy.of(None))
    config: Path | None = None
    model: str | None = None
    skills: SkillLibrary | None = None
    tools: tuple[ToolChoice, ...] = ()
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    upload_limit: int = UPLOAD_LIMIT

    def close(self) -> None:
        """Let go of what works for the panel; runs under way stay resumable."""
        self.feeds.close()
        self.runner.close()


def open_desk(
    store: Store,
    documents: Sequence[Path] = (),
    *,
    home: Path | None = None,
    policy: Policy | None = None,
    config: Path | None = None,
    model: str | None = None,
    skills: SkillLibrary | None = None,
    tools: Sequence[ToolChoice] = (),
    upload_limit: int = UPLOAD_LIMIT,
) -> Desk:
    """A desk over an open store. `home`: by default beside the store."""
    policy = Policy.of(None) if policy is None else policy
    home = panel_folder(store) if home is None else home
    feeds = Feeds(store)
    return Desk(
        store,
        home,
        Runner(store, policy=policy, config=config, model=model, skills=skills, tools=tools),
        feeds,
        Shelf(home, documents=documents, policy=policy, upload_limit=upload_limit),
        Forests(store, feeds),
        Folds(store, RunningRun),
        Folds(store, RunRemarks),
        Estimates(store, model=model, config=config, skills=skills),
        tuple(documents),
        policy,
        config,
        model,
        skills,
        tuple(tools),
        upload_limit=upload_limit,
    )


def desk_of(request: Request) -> Desk:
    """The desk of the panel that a request came to."""
    return request.app.state.desk
