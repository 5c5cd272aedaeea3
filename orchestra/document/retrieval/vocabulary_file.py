"""The form of a vocabulary file, checked where it enters."""

from __future__ import annotations

import tomllib
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from orchestra.document.retrieval.words import folded
from orchestra.errors import InputInvalid


def _phrase(text: str) -> str:
    if not folded(text):
        raise ValueError(f"{text!r} holds no word")
    return text


Phrase = Annotated[str, AfterValidator(_phrase)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NeedEntry(_Entry):
    statement: str = ""
    rows: tuple[Phrase, ...] = ()
    titles: tuple[Phrase, ...] = ()
    words: tuple[Phrase, ...] = ()

    @model_validator(mode="after")
    def _asks_for_something(self) -> NeedEntry:
        if not (self.statement or self.rows or self.titles or self.words):
            raise ValueError("a need has at least one of statement, rows, titles and words")
        return self


class StatementEntry(_Entry):
    name: Phrase
    titles: tuple[Phrase, ...] = ()
    asked: tuple[Phrase, ...] = ()
    rows: tuple[Phrase, ...] = ()


class TermEntry(_Entry):
    asked: Annotated[tuple[Phrase, ...], Field(min_length=1)]
    needs: Annotated[tuple[NeedEntry, ...], Field(min_length=1)]


class VocabularyFile(_Entry):
    statement: tuple[StatementEntry, ...] = ()
    term: tuple[TermEntry, ...] = ()


def parse_vocabulary(text: str, source: str) -> VocabularyFile:
    """The entries of a vocabulary file's text. `InputInvalid` names the first thing that is wrong with it."""
    try:
        return VocabularyFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputInvalid(f"the vocabulary {source} is no TOML", cause=str(error)) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputInvalid(
            f"the vocabulary {source} has a wrong entry at {where}",
            cause=first["msg"],
            suggestion="The head of orchestra/document/retrieval/report_terms.toml shows the form.",
        ) from error
