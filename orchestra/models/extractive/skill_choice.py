"""Which skills a query needs, and which of a skill's parts, by shared words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestra.models.extractive.questions import split
from orchestra.models.extractive.skill_words import choose_skill
from orchestra.models.extractive.vocabulary import stems
from orchestra.models.extractive.word_lists import STOP_WORDS

BY_WORDS = "chosen by shared words; nothing was weighed"
_COMPLEXITY = 5


def choose_skills(query: str, catalogue: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """An intent: for each question in the query the skill that shares most words with it, one after the other."""
    chosen = dict.fromkeys(_best(part.full, catalogue) for part in split(query))
    return {
        "primary_skills": list(chosen),
        "execution_order": "sequential",
        "reasoning": BY_WORDS,
        "estimated_complexity": _COMPLEXITY,
    }


def choose_steps(query: str, listed: Sequence[tuple[str, str]], needs: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A decomposition: the sub-skills that share words with the query, or all if none does, and what they depend on.

    One waits for those that it declares. `listed` are names with what is said of them, `needs` dependencies by name.
    """
    fits = {name: _shared(query, name, text) for name, text in listed}
    wanted = [name for name, fit in fits.items() if fit] or list(fits)
    for name in wanted:  # grows as it is gone through
        wanted.extend(each for each in needs.get(name, ()) if each in fits and each not in wanted)
    steps: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    left = [name for name, _ in listed if name in wanted]
    while left:
        name = next((each for each in left if not set(needs.get(each, ())) & set(left)), left[0])
        left.remove(name)
        numbers[name] = len(numbers) + 1
        waits = sorted(numbers[each] for each in needs.get(name, ()) if each in numbers and each != name)
        steps.append({"step": numbers[name], "sub_skill": name, "trigger_reason": BY_WORDS, "depends_on": waits})
    return {"execution_plan": steps, "data_flow": {}}


def _best(question: str, catalogue: Sequence[tuple[str, str]]) -> str:
    best = max(catalogue, key=lambda entry: _shared(question, *entry))
    if _shared(question, *best):
        return best[0]
    usual = choose_skill(question, catalogue)
    return usual if usual in {name for name, _ in catalogue} else best[0]


def _shared(question: str, name: str, description: str) -> int:
    """How many stems they have in common, those of the name twice."""
    asked = {each for each in stems(question) if each not in STOP_WORDS}
    named, said = set(stems(name.replace("-", " "))), set(stems(description))
    return 2 * len(asked & named) + len(asked & (said - named))
