"""What a browser asks of the call graph, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field, model_validator

from orchestra.panel.view.tree import Base, Choices, SortKey

_KEYS = r"^(g?\d{1,7}(\.g?\d{1,7})*)?$"
_MORE = r"^((g?\d{1,7})?x\d{1,3}(\.(g?\d{1,7})?x\d{1,3})*)?$"
_LONGEST = 30_000

Keys = Annotated[str, Field(max_length=_LONGEST, pattern=_KEYS)]


class Moment(BaseModel):
    """`at` is the sequence of an event: the run as it was then. What is empty is as good as not given."""

    at: Annotated[int | None, Field(ge=0, le=2**53)] = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in given.items() if value != ""}


class GraphQuery(Moment):
    """The query of `/runs/RUN/graph`. `open` and `shut` are keys of rows with dots between, such as `3.g17`.

    `more` is a key, `x` and a number of further pages, such as `g17x2`. `sort` begins with `-` for the largest first.
    `node` is selected, and what it stands in is opened if `reveal` is set; `find` selects the next failure behind it.
    """

    open: Keys = ""
    shut: Keys = ""
    base: Base = "default"
    sort: Annotated[str, Field(pattern=r"^-?(started|duration|tokens|price|status)$")] = "started"
    more: Annotated[str, Field(max_length=_LONGEST, pattern=_MORE)] = ""
    node: Annotated[str, Field(max_length=_LONGEST)] = ""
    reveal: Literal["", "1"] = ""
    find: Literal["", "failure"] = ""
    part: Literal["", "rows"] = ""

    @property
    def sort_key(self) -> SortKey:
        return cast("SortKey", self.sort.removeprefix("-"))

    @property
    def is_descending(self) -> bool:
        return self.sort.startswith("-")

    def choices(self, selected: int | None, *, reveals: bool) -> Choices:
        return Choices(
            frozenset(filter(None, self.open.split("."))),
            frozenset(filter(None, self.shut.split("."))),
            self.base,
            self.sort_key,
            self.is_descending,
            {key: int(pages) for key, pages in re.findall(r"(g?\d*)x(\d+)", self.more)},
            selected,
            reveals,
        )
