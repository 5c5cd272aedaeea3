"""What a page's form or address says, read into a model: whatever comes from a browser is checked here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request

from orchestra.errors import InputInvalid
from orchestra.panel.forms import form_of

M = TypeVar("M", bound=BaseModel)


async def read_form(request: Request, model: type[M]) -> M:
    """The fields of a form that holds no files. `InputInvalid` says which is wrong."""
    return checked(model, await form_of(request))


def read_query(parameters: QueryParams, model: type[M], *, lists: tuple[str, ...] = ()) -> M:
    """The query of an address; those of `lists` may stand in it more than once. `InputInvalid` says which is wrong."""
    given: dict[str, Any] = {**parameters}
    given |= {name: parameters.getlist(name) for name in lists if name in parameters}
    return checked(model, given)


def checked(model: type[M], given: Mapping[str, Any]) -> M:
    """Fields that the model does not have are left out."""
    known = {field.alias or name for name, field in model.model_fields.items()}
    try:
        return model.model_validate({name: value for name, value in given.items() if name in known})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InputInvalid(
            f"{name} is not valid", cause=first["msg"].lower(), suggestion="Load the page again, and try once more."
        ) from None
