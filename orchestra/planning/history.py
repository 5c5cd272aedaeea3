"""What was asked and answered before: as much of it as a prompt has room for, and where it stands there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from orchestra.document import count_tokens
from orchestra.errors import InputInvalid
from orchestra.models.blocks import Block, History, Instructions, Task
from orchestra.models.protocol import ModelRequest
from orchestra.planning.prompt_files import prompt

HISTORY_TOKENS = 1_000
"""What earlier tasks and answers may take of a prompt."""

_MARKS = re.compile(r"\s?\[(?:\d+\??|[^\[\]\n]*\bL\d+[^\[\]\n]*)\]")  # they point into another answer's sources
_CUT = " …"
_FRAME_TOKENS = 8  # what stands around a turn
_MOST_CHARACTERS = 12  # of a token of prose, so that a huge answer is not counted word by word


@dataclass(frozen=True, slots=True)
class Turn:
    """A task and its answer."""

    task: str
    answer: str


def read_turns(given: object) -> tuple[Turn, ...]:
    """What a caller may pass as history: (task, answer) pairs, oldest first. Raises `InputInvalid`."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputInvalid(
            f"the history is a {type(given).__name__}", cause="it is a list of pairs: a task, its answer"
        )
    return tuple(_turn(entry) for entry in cast("Iterable[object]", given))


def _turn(entry: object) -> Turn:
    if isinstance(entry, Turn):
        return entry
    pair = cast("Sequence[object]", entry) if isinstance(entry, list | tuple) else ()
    if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        raise InputInvalid(
            f"an entry of the history is {entry!r:.80}", cause="it is a pair of texts: a task, its answer"
        )
    task, answer = (str(text).encode("utf-8", "replace").decode() for text in pair)
    return Turn(task, answer)


def newest(turns: Sequence[Turn], budget_tokens: int = HISTORY_TOKENS) -> tuple[Turn, ...]:
    """The last turns that fit into the budget, oldest first, without citation marks.

    The first that does not fit is the last one taken, its answer cut, if some of that fits.
    """
    kept: list[Turn] = []
    left = budget_tokens
    for turn in reversed(turns):
        bare = Turn(turn.task.strip(), _MARKS.sub("", turn.answer).strip())
        tokens = _tokens(bare)
        if tokens <= left:
            kept.append(bare)
            left -= tokens
            continue
        cut = _cut(bare, left)
        if cut is not None:
            kept.append(cut)
        break
    return tuple(reversed(kept))


def with_history(request: ModelRequest, turns: Sequence[Turn]) -> ModelRequest:
    """The request with what was asked before in front of its task, behind all that stays the same between tasks."""
    blocks = history_blocks(turns)
    if not blocks:
        return request
    at = next((at for at, block in enumerate(request.blocks) if isinstance(block, Task)), len(request.blocks))
    return replace(request, blocks=(*request.blocks[:at], *blocks, *request.blocks[at:]))


def history_blocks(turns: Sequence[Turn]) -> tuple[Block, ...]:
    """How earlier turns stand in a prompt; nothing where there are none."""
    if not turns:
        return ()
    return (Instructions(prompt("history")), History(tuple((turn.task, turn.answer) for turn in turns)))


def history_tokens(turns: Sequence[Turn]) -> int:
    """Tokens of `history_blocks`."""
    return sum(count_tokens(block.text) for block in history_blocks(turns))


def _tokens(turn: Turn) -> int:
    return count_tokens(turn.task) + count_tokens(turn.answer) + _FRAME_TOKENS


def _cut(turn: Turn, budget_tokens: int) -> Turn | None:
    """The turn with as many words of its answer as fit; None where none does."""
    room = budget_tokens - count_tokens(turn.task) - _FRAME_TOKENS - count_tokens(_CUT)
    if room < 1:
        return None
    words = turn.answer[: room * _MOST_CHARACTERS].split(" ")
    fewest, most = 0, len(words)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        fewest, most = (middle, most) if count_tokens(" ".join(words[:middle])) <= room else (fewest, middle - 1)
    text = " ".join(words[:fewest]).rstrip()
    return Turn(turn.task, text + _CUT) if text else None
