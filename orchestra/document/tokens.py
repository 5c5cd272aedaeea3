"""Token counts before a call, from a bundled BPE: nothing is downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, cast

from orchestra.extension_modules import extension_module

EXACT_CHARACTERS = 4_000_000  # up to here everything is counted
_WINDOWS = 128
_WINDOW_CHARACTERS = 8_192


@dataclass(frozen=True, slots=True)
class TokenCount:
    """`tokens`, and whether every one was counted: of a huge text they are estimated from a sample."""

    tokens: int
    is_exact: bool


class _Tokenizer(Protocol):
    def count(self, text: str) -> int: ...


@lru_cache(maxsize=1)
def _tokenizer() -> _Tokenizer:
    bindings = extension_module("bpe_openai", "_bindings")  # the package around it reads all of its tables at once
    return cast("_Tokenizer", bindings.tokenizer_for_encoding("o200k_base"))


def count_tokens(text: str) -> int:
    """How many o200k tokens `text` has. Thread-safe; a lone surrogate counts as the replacement character."""
    try:
        return _tokenizer().count(text)
    except UnicodeEncodeError:
        return _tokenizer().count(text.encode("utf-8", "replace").decode("utf-8"))


def size_of(text: str) -> TokenCount:
    """The tokens of a text: counted up to `EXACT_CHARACTERS`, beyond that from windows spaced evenly over it."""
    if len(text) <= EXACT_CHARACTERS:
        return TokenCount(count_tokens(text), is_exact=True)
    return TokenCount(round(len(text) * _tokens_per_character(text)), is_exact=False)


def _tokens_per_character(text: str) -> float:
    """From as many characters in all, whatever the length; the same text gives the same figure."""
    last = len(text) - _WINDOW_CHARACTERS
    starts = [last * window // (_WINDOWS - 1) for window in range(_WINDOWS)]
    counted = sum(count_tokens(text[start : start + _WINDOW_CHARACTERS]) for start in starts)
    return counted / (_WINDOWS * _WINDOW_CHARACTERS)
