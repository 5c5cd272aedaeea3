"""Answer a task over long documents with language models, without paying for the same tokens again and again.

    from orchestra import orchestrate
    result = orchestrate(Path("report.pdf"), "Who audits the company, and what drove the margin change?")

Names load when they are used: importing the package loads nothing that a run may not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orchestra.version import __version__ as __version__

if TYPE_CHECKING:
    from orchestra.document import Document
    from orchestra.errors import OrchestraError
    from orchestra.models.blocks import Finding
    from orchestra.models.deadline import Cancellation
    from orchestra.models.protocol import Model, ModelReply, ModelRequest, Usage
    from orchestra.pipeline import (
        compare_strategies,
        compose_skills,
        make_plan,
        orchestrate,
        orchestrate_async,
        resume,
        route,
        synthesize,
    )
    from orchestra.planning.assemble import assemble
    from orchestra.planning.plan import Plan
    from orchestra.prompts import SentPrompt, prompts_of
    from orchestra.result import Result
    from orchestra.runtime.events import Event
    from orchestra.runtime.questions import Decision, Question
    from orchestra.runtime.tools.tool import Tool
    from orchestra.runtime.workers import WorkerPool
    from orchestra.skills import Skill, SkillLibrary
    from orchestra.skills.policy import Policy

_HOMES = {
    "Cancellation": "models.deadline",
    "Decision": "runtime.questions",
    "Document": "document",
    "Event": "runtime.events",
    "Finding": "models.blocks",
    "Model": "models.protocol",
    "ModelReply": "models.protocol",
    "ModelRequest": "models.protocol",
    "OrchestraError": "errors",
    "Plan": "planning.plan",
    "Policy": "skills.policy",
    "Question": "runtime.questions",
    "Result": "result",
    "SentPrompt": "prompts",
    "Skill": "skills",
    "SkillLibrary": "skills",
    "Tool": "runtime.tools.tool",
    "Usage": "models.protocol",
    "WorkerPool": "runtime.workers",
    "assemble": "planning.assemble",
    "compare_strategies": "pipeline",
    "compose_skills": "pipeline",
    "make_plan": "pipeline",
    "orchestrate": "pipeline",
    "orchestrate_async": "pipeline",
    "prompts_of": "prompts",
    "resume": "pipeline",
    "route": "pipeline",
    "synthesize": "pipeline",
}

__all__ = [
    "Cancellation",
    "Decision",
    "Document",
    "Event",
    "Finding",
    "Model",
    "ModelReply",
    "ModelRequest",
    "OrchestraError",
    "Plan",
    "Policy",
    "Question",
    "Result",
    "SentPrompt",
    "Skill",
    "SkillLibrary",
    "Tool",
    "Usage",
    "WorkerPool",
    "assemble",
    "compare_strategies",
    "compose_skills",
    "make_plan",
    "orchestrate",
    "orchestrate_async",
    "prompts_of",
    "resume",
    "route",
    "synthesize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
