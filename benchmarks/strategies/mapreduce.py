"""Map-reduce: every chunk is read by a call of its own, one call joins what they found."""

from __future__ import annotations

from benchmarks.strategies.asking import Asker
from benchmarks.strategies.pieces import chunks_of, plain_slice
from benchmarks.strategies.prompts import JOIN, PART
from benchmarks.strategies.strategy import Answered, Attempt
from orchestra.models.blocks import Finding, Findings, Instructions, SliceBlock, Task

CHUNK_TOKENS = 8_000


def mapreduce(attempt: Attempt) -> Answered:
    """One call a chunk of up to 8,000 tokens, and one over the replies that found something."""
    asker = Asker(attempt.model, attempt.cancellation)
    documents = attempt.document.alone
    prompts = [
        [Instructions(PART), SliceBlock(plain_slice([chunk], documents), cacheable=False), Task(attempt.question)]
        for chunk in chunks_of(attempt.document, CHUNK_TOKENS)
    ]
    replies = asker.ask_all(prompts, "subtask")
    found = [reply for reply in replies if not reply.lstrip().startswith("INSUFFICIENT")]
    if len(replies) == 1 or not found:
        return Answered(replies[0])
    findings = tuple(Finding(str(number), attempt.question, reply) for number, reply in enumerate(found, start=1))
    return Answered(asker.ask([Instructions(JOIN), Findings(findings), Task(attempt.question)], "synthesis"))
