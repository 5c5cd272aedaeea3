"""Report terms: what tasks ask for, and where reports print it; read from TOML files that users can add to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from orchestra.document.retrieval.words import Words, folded
from orchestra.errors import InputInvalid

if TYPE_CHECKING:
    from orchestra.document.retrieval.vocabulary_file import VocabularyFile

VARIABLE = "ORCHESTRA_VOCABULARY"
_OURS = Path(__file__).with_name("report_terms.toml")


@dataclass(frozen=True, slots=True)
class Statement:
    """A financial statement: how it is headed, and the labels of its rows."""

    name: str
    titles: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """What answers a task, or one side of it: rows of a statement, text under a heading, certain words."""

    statement: str = ""
    rows: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`named` leads from folded words of a task to the statement of that name, `asked` to the needs of a term."""

    statements: Mapping[str, Statement] = field(default_factory=dict[str, Statement])
    named: Mapping[Words, str] = field(default_factory=dict[Words, str])
    asked: Mapping[Words, tuple[Need, ...]] = field(default_factory=dict[Words, tuple[Need, ...]])


def read_vocabulary(path: str | Path | None = None) -> Vocabulary:
    """Our report terms, with those of a file on top: `path`, else what ORCHESTRA_VOCABULARY names.

    `InputInvalid` when the file cannot be read or is not of the form that the head of `report_terms.toml` gives.
    """
    chosen = str(path) if path is not None else os.environ.get(VARIABLE, "")
    if not chosen:
        return _ours()
    return _merged(_ours(), _read(Path(chosen)), chosen)


@lru_cache(maxsize=1)
def _ours() -> Vocabulary:
    return _merged(Vocabulary(), _read(_OURS), _OURS.name)


def _read(path: Path) -> VocabularyFile:
    from orchestra.document.retrieval.vocabulary_file import parse_vocabulary

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputInvalid(f"the vocabulary {path} cannot be read", cause=str(error)) from error
    return parse_vocabulary(text, str(path))


def _merged(ours: Vocabulary, added: VocabularyFile, source: str) -> Vocabulary:
    statements, named, asked = dict(ours.statements), dict(ours.named), dict(ours.asked)
    for one in added.statement:
        before = statements.get(one.name, Statement(one.name, (), ()))
        statements[one.name] = Statement(one.name, _union(before.titles, one.titles), _union(before.rows, one.rows))
        named.update((folded(phrase), one.name) for phrase in (one.name, *one.titles, *one.asked))
    for term in added.term:
        for need in term.needs:
            if need.statement and need.statement not in statements:
                raise InputInvalid(
                    f"the vocabulary {source} has a need for the statement {need.statement!r}",
                    cause="no [[statement]] has this name",
                )
        needs = tuple(Need(need.statement, need.rows, need.titles, need.words) for need in term.needs)
        asked.update((folded(phrase), needs) for phrase in term.asked)
    return Vocabulary(statements, named, asked)


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
