"""Level 0: which top-level skills a query needs."""

from __future__ import annotations

from collections.abc import Sequence

from orchestra.errors import PlanInvalid
from orchestra.models.protocol import ModelReply
from orchestra.planning.routing import again, intent_request, read_reply
from orchestra.run.asking import ask
from orchestra.run.state import Run
from orchestra.runtime.node import Node
from orchestra.skills.catalogue import Shelf
from orchestra.skills.manifest import Manifest
from orchestra.skills.skill import fold_name
from orchestra.skills.trees.replies import Intent
from orchestra.skills.trees.triggers import parts_of, triggered


async def route_intent(run: Run, query: str, skills: Sequence[Manifest]) -> Intent:
    """By code where `decide` can tell, else by one call, which `run.complexity` is from. Raises `PlanInvalid`."""
    decided = decide(query, skills)
    if decided is not None:
        return decided
    node = run.node("route", "route", title="which skills")
    job = run.scheduler.spawn(_ask(run, node, query, skills), node)
    await run.scheduler.join([job])
    run.complexity = job.value.estimated_complexity
    return job.value


def decide(query: str, skills: Sequence[Manifest]) -> Intent | None:
    """The intent, if it can be told without a model: there is one skill, the triggers of one alone match, or each part
    of the query has the triggers of one, and none leans on another.
    """
    if len(skills) == 1:
        return Intent(primary_skills=(skills[0].name,), reasoning="it is the only skill")
    triggers = {skill.name: skill.triggers for skill in skills if skill.triggers}
    matching = triggered(query, triggers)
    if len(matching) == 1:
        return Intent(primary_skills=matching, reasoning="its triggers alone match")
    parts = parts_of(query)
    by_part = [triggered(part, triggers) for part in parts]
    named = tuple(dict.fromkeys(name for names in by_part for name in names))
    needed = {fold_name(each) for skill in skills if skill.name in named for each in skill.dependencies}
    is_clear = len(parts) > 1 and all(len(names) == 1 for names in by_part) and len(named) == len(parts)
    if is_clear and set(named) == set(matching) and not needed & set(named):
        reasoning = "each part of the query has the triggers of one"
        return Intent(primary_skills=named, execution_order="parallel", reasoning=reasoning)
    return None


async def _ask(run: Run, node: Node, query: str, skills: Sequence[Manifest]) -> Intent:
    catalogue = Shelf(skills).fitting(query, run.settings.most_catalogue_tokens)
    request = intent_request(query, catalogue, temperature=run.settings.temperature)
    reply = await ask(run, node, run.planner, request, run.settings.phase_limit_s)
    try:
        return _known(reply, skills)
    except PlanInvalid as error:
        run.warn("PLAN_ASKED_AGAIN", f"{node.id}: {error.what}: {error.cause}", node.id)
        return _known(
            await ask(run, node, run.planner, again(request, reply, error.cause), run.settings.phase_limit_s), skills
        )


def _known(reply: ModelReply, skills: Sequence[Manifest]) -> Intent:
    intent = read_reply(reply, Intent)
    names = tuple(dict.fromkeys(fold_name(name) for name in intent.primary_skills))
    known = {skill.name for skill in skills}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise PlanInvalid("the reply names a skill that is not listed", cause=f"{unknown[0]!r}", raw=reply.text)
    return intent.model_copy(update={"primary_skills": names})
