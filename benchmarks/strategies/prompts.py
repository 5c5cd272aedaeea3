"""What the baselines say to a model. The same words wherever the same thing is asked."""

from __future__ import annotations

ANSWER = (
    "Answer the question from the document alone, in one to three sentences. State figures with their unit and scale. "
    "If the document does not hold the answer, say INSUFFICIENT and what is missing."
)
PART = (
    "Answer the question from this part of a document alone, in one to three sentences. State figures with their unit "
    "and scale. If the part holds nothing that bears on the question, say only INSUFFICIENT."
)
JOIN = (
    "Join these findings into one answer to the question, in one to three sentences. State figures with their unit and "
    "scale. Findings that say INSUFFICIENT found nothing."
)
# How naive fan-out splits any question: it knows nothing of the document, so it splits by point of view.
ANGLES = (
    "Answer this directly: {question}",
    "Quote the sentences and table rows that bear on this, with their figures: {question}",
    "Which figures, units and periods does an answer to this need, and what are they? {question}",
    "What explains, qualifies or limits the answer to this? {question}",
    "What speaks against the obvious answer to this? {question}",
    "Which definitions and assumptions matter for this? {question}",
    "How did what this asks about change over time? {question}",
    "What follows from the answer to this? {question}",
)
