"""Tasks about a document as a whole, which no retrieval can serve: they have no topic of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orchestra.document import DocumentSet
from orchestra.models.extractive.questions import Question
from orchestra.models.extractive.skill_words import FACTS, SUMMARY, choose_skill
from orchestra.models.extractive.vocabulary import stems
from orchestra.models.extractive.word_lists import ABOUT_THE_WHOLE, ASKING, ASKING_BY_SKILL, NUMBERS_IN_WORDS

_NO_TOPIC = frozenset(
    each
    for said in (ABOUT_THE_WHOLE, ASKING, NUMBERS_IN_WORDS, *ASKING_BY_SKILL.values())
    for each in stems(" ".join(said))
)
_ABOUT = re.compile(
    r"\bsummar\w+|\boverview\b|\boutline\b|\bgist\b|\bin brief\b|\brecap\b|\bcritique\b|\bcritici[sz]e\b"
    r"|\breview\b|\bevaluate\b|\bassess\b|\bdescribe\b|\bdiscuss\b|\bexplain\b|\babstract\b|\bcondense\b|\btranslate\b"
    r"|\b(?:main|key|central|principal|major|most important)\b|\babout\?*$|\bsay\?*$|\bmissing\b|\bgaps?\b"
    r"|\bweakness\w*|\bstrengths?\b|\bargu\w+",
    re.IGNORECASE,
)


def is_about_the_whole(questions: Sequence[Question], names: Iterable[str]) -> bool:
    """Whether every question asks for the document itself: "Summarize this report", not "Summarize the risks".

    `names` are those of the documents, see `names_of`: their words are no topic either.
    """
    named = {each for name in names for each in stems(name)}
    return all(
        _ABOUT.search(question.text) is not None
        and not any(each not in named and each not in _NO_TOPIC and not each.isdigit() for each in stems(question.text))
        for question in questions
    )


def names_of(documents: DocumentSet) -> tuple[str, ...]:
    """The documents' names, and the title of each whose outline has a single root."""
    roots = ([each for each in document.outline.sections[:2] if each.parent is None] for document in documents)
    return (*documents.names, *(root[0].title for root in roots if len(root) == 1))


def whole_skill(task: str, catalogue: Sequence[tuple[str, str]] = ()) -> str:
    """The skill for a task about the whole: a summary where its words name no other."""
    skill = choose_skill(task, catalogue)
    return SUMMARY if skill == FACTS and SUMMARY in ({name for name, _ in catalogue} or {SUMMARY}) else skill
