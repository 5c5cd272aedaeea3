"""Files of records from outside, checked line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from orchestra.errors import InputInvalid

Record = TypeVar("Record", bound=BaseModel)


def records(path: Path, kind: type[Record]) -> Iterator[tuple[str, Record]]:
    """(`file:line`, record) of each line of a JSONL file that is not blank; `InputInvalid` names the line."""
    for number, line in enumerate(read(path).split("\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield where, checked(parse(line, where), kind, where)


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputInvalid(f"{path} cannot be read", cause=_reason(error)) from None


def parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputInvalid(f"{where} is no JSON", cause=str(error)) from None
    except RecursionError:
        raise InputInvalid(f"{where} is no JSON that can be read", cause="it is nested too deeply") from None


def checked(value: Any, kind: type[Record], where: str) -> Record:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise InputInvalid(
            f"{where} is no question", cause=f"{place}: {first['msg']}" if place else first["msg"]
        ) from None


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is no UTF-8 text"
