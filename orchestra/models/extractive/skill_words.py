"""Which skill fits a question, by its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestra.models.extractive.vocabulary import stems

FACTS, SUMMARY = "fact-extraction", "summarization"
OWN_SKILL_FIT = 2

# The first skill whose words a question uses. Order matters: "why do they differ" asks for causes.
_WORDS = (
    (
        "causal-reasoning",
        r"why|drove|what (?:is |are )?driv\w+|driven|drivers? (?:of|behind|for)|causes?|caused|reasons?|because|led to"
        r"|leads to|explain (?:why|how)|explained|affect(?:ed|s)?|due to|effects? of|impacts? of|consequences?"
        r"|contributed to|result(?:ed)? (?:in|from)",
    ),
    (
        "analytical-comparison",
        r"compare[sd]?|comparison|versus|vs|differ|differs|differences?|contrast|relative to|better|worse",
    ),
    (
        "gap-analysis",
        r"missing|gaps?|lacks?|lacking|omits?|omitted|not (?:covered|addressed|disclosed|mentioned|say)"
        r"|leaves? (?:open|out)|unanswered|incomplete",
    ),
    (
        "classification",
        r"classif\w+|categor\w+|(?:what|which) (?:type|kind|sort|category)|group the",
    ),
    (
        "critique",
        r"evaluate|assess|critique|critici\w+|convincing|persuasive|credible|plausible|arguments?|weakness\w*"
        r"|strengths? and|how (?:good|sound|reliable|realistic)",
    ),
    (
        "structured-synthesis",
        r"synthesi\w+|combine|integrate|fit together|relate to each other|overall picture|overview across|put together",
    ),
    (
        "summarization",
        r"summar\w+|overview|outline|gist|main points?|key points?|in brief|recap|discuss|describe"
        r"|what does .+ say about|what are the (?:main|key|principal|major)",
    ),
)
_PATTERNS = tuple((skill, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for skill, pattern in _WORDS)
_ORDERS = re.compile(r"\W*(?:please\s+)?(\w+)", re.IGNORECASE)
BUILTIN_SKILLS = frozenset({FACTS, *(skill for skill, _ in _PATTERNS)})


def choose_skill(question: str, catalogue: Sequence[tuple[str, str]] = ()) -> str:
    """The caller's own skill whose name and description share most words with the question, else a built-in one.

    Without a catalogue every built-in skill may be chosen; with one, only what it lists.
    """
    own = [entry for entry in catalogue if entry[0] not in BUILTIN_SKILLS]
    best = max(own, key=lambda entry: _fit(question, *entry), default=("", ""))
    if best[0] and _fit(question, *best) >= OWN_SKILL_FIT:
        return best[0]
    order = _ORDERS.match(question)
    builtin = _first(order[1] if order else "") or _first(question) or FACTS
    listed = [name for name, _ in catalogue]
    return builtin if not listed or builtin in listed else listed[0]


def _first(text: str) -> str:
    """The first skill that a text has a word of: the verb that orders decides before all others."""
    return next((skill for skill, pattern in _PATTERNS if pattern.search(text)), "")


def _fit(question: str, name: str, description: str) -> int:
    """How many words of a question a skill's name (twice) and description hold."""
    asked, named = set(stems(question)), set(stems(name.replace("-", " ").replace("_", " ")))
    return 2 * len(asked & named) + len(asked & (set(stems(description)) - named))
