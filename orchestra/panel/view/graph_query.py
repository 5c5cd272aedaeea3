"""What a browser asks of the call graph, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from orchestra.errors import InputInvalid
from orchestra.panel.view.tree import Base, Choices, SortKey

_KEYS = r"^(g?\d{1,7}(\.g?\d{1,7})*)?$"
_MORE = r"^((g?\d{1,7})?x\d{1,3}(\.(g?\d{1,7})?x\d{1,3})*)?$"
_LONGEST = 30_000

Keys = Annotated[str, Field(max_length=_LONGEST, pattern=_KEYS)]


class GraphQuery(BaseModel):
    """The query of `/runs/RUN/graph`. `open` and `shut` are keys of rows with dots between, such as `3.g17`.

    `more` is a key, `x` and a number of further pages, such as `g17x2`. `sort` begins with `-` for the largest first.
    `node` is selected, and what it stands in is opened if `reveal` is set; `find` selects the next failure behind it.
    `at` is the sequence of an event: the run as it was then.
    """

    open: Keys = ""
    shut: Keys = ""
    base: Base = "default"
    sort: Literal["", "started", "duration", "tokens", "price", "status"] = ""
    is_descending: bool = False
    more: Annotated[str, Field(max_length=_LONGEST, pattern=_MORE)] = ""
    node: Annotated[str, Field(max_length=_LONGEST)] = ""
    reveal: Literal["", "1"] = ""
    find: Literal["", "failure"] = ""
    part: Literal["", "rows"] = ""
    at: Annotated[int | None, Field(ge=0, le=2**53)] = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> GraphQuery:
        """Raises `InputInvalid`. Values that are empty are as good as none."""
        given: dict[str, object] = {name: query[name] for name in cls.model_fields if query.get(name)}
        sort = query.get("sort", "")
        given |= {"sort": sort.removeprefix("-"), "is_descending": sort.startswith("-")}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InputInvalid(
                "the address of this part of the page is not right",
                cause=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
                suggestion="Load the page again.",
            ) from None

    def choices(self, selected: int | None, *, reveals: bool) -> Choices:
        sort: SortKey = self.sort or "started"
        return Choices(
            frozenset(filter(None, self.open.split("."))),
            frozenset(filter(None, self.shut.split("."))),
            self.base,
            sort,
            self.is_descending,
            {key: int(pages) for key, pages in re.findall(r"(g?\d*)x(\d+)", self.more)},
            selected,
            reveals,
        )
