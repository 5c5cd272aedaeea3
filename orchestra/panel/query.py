"""What a browser asks for, checked where it enters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ValidationError

from orchestra.errors import InputInvalid


class Query(BaseModel):
    """The query of an address; each page says in a class of its own what it knows."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Raises `InputInvalid`. Values that are empty are as good as none, and names that are not known too."""
        try:
            return cls.model_validate({name: query[name] for name in cls.model_fields if query.get(name)})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InputInvalid(
                "the address of this part of the page is not right",
                cause=f"{'.'.join(map(str, first['loc']))}: {first['msg']}",
                suggestion="Load the page again.",
            ) from None
