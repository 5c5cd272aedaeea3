"""What a task costs, and what it would have cost otherwise: plain sums over token counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from orchestra.document import DocumentSet, count_tokens
from orchestra.models.blocks import Block, Catalogue, DocumentBlock, Instructions, SliceBlock
from orchestra.models.protocol import ModelRequest, Usage

Way = Literal["fanout", "fanout-cached", "one-call"]

FEWEST_CACHED_TOKENS = 1024  # a shorter prefix is not kept by the providers' prompt caches
EXPECTED_REPLY_TOKENS = 200  # per subtask and per answer, before there is a reply to count
PROMPT_TOKENS = 150  # rules, skill prompt and question of one naive call


@dataclass(frozen=True, slots=True)
class Alternative:
    """The same task done another way: calls, tokens, and what the way is."""

    way: Way
    calls: int
    usage: Usage


def request_tokens(request: ModelRequest) -> int:
    """Tokens of a request, counted here before it is sent."""
    turns = sum(count_tokens(message.shown) for message in request.messages)
    return turns + sum(_block_tokens(block) for block in request.blocks)


def _block_tokens(block: Block) -> int:
    if isinstance(block, DocumentBlock):
        return block.documents.tokens
    if isinstance(block, SliceBlock):
        return block.slice.tokens
    return prompt_tokens(block.text) if isinstance(block, Instructions | Catalogue) else count_tokens(block.text)


@lru_cache(maxsize=256)
def prompt_tokens(text: str) -> int:
    """Rules, skill prompts and catalogues recur from call to call."""
    return count_tokens(text)


def alternatives(
    documents: DocumentSet, reply_tokens: Sequence[int], answer_tokens: int, *, scale: float = 1.0
) -> tuple[Alternative, ...]:
    """Three other ways to the same answer.

    `fanout`: each subtask's call gets everything, then one call joins the replies. `fanout-cached`: the same, the
    document written to the provider's cache by the first call and read from it by the others. `one-call`:
    everything and the whole task in a single call.
    `reply_tokens` holds the tokens of each subtask's reply, self-answers included. `scale` is the provider's count
    over ours for the same text (1 when not known).
    """
    document = round(sum(each.size.tokens for each in documents) * scale)
    prompt = round(PROMPT_TOKENS * scale)
    calls = max(1, len(reply_tokens))
    joins = calls > 1
    join_input = sum(reply_tokens) + prompt if joins else 0
    output = sum(reply_tokens) + (answer_tokens if joins else 0)
    plain = Usage(input_tokens=calls * (document + prompt) + join_input, output_tokens=output)
    cached = plain
    if calls > 1 and document >= FEWEST_CACHED_TOKENS:
        cached = Usage(
            input_tokens=calls * prompt + join_input,
            cache_write_tokens=document,
            cached_input_tokens=(calls - 1) * document,
            output_tokens=output,
        )
    single = Usage(input_tokens=document + prompt, output_tokens=answer_tokens)
    return (
        Alternative("fanout", calls + joins, plain),
        Alternative("fanout-cached", calls + joins, cached),
        Alternative("one-call", 1, single),
    )
