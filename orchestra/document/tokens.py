"""Token counts before a call, from a bundled BPE: nothing is downloaded."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol, cast


class _Tokenizer(Protocol):
    def count(self, text: str) -> int: ...


@lru_cache(maxsize=1)
def _tokenizer() -> _Tokenizer:
    from bpe_openai._bindings import tokenizer_for_encoding  # the package itself also loads a slower wrapper

    return cast("_Tokenizer", tokenizer_for_encoding("o200k_base"))


def count_tokens(text: str) -> int:
    """How many o200k tokens `text` has. Thread-safe; a lone surrogate counts as the replacement character."""
    try:
        return _tokenizer().count(text)
    except UnicodeEncodeError:
        return _tokenizer().count(text.encode("utf-8", "replace").decode("utf-8"))
