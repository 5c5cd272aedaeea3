"""From what a model really sends to a `Plan`.

First the JSON is found (fences, prose around it, trailing commas, a cut-off tail), then its shape is mended
(other names, a bare list, single values for lists, missing or repeated ids), then pydantic judges the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any, cast

from pydantic import ValidationError

from orchestra.errors import PlanInvalid
from orchestra.models.json_text import repaired
from orchestra.planning.plan import SELF, Plan

MOST_SUBTASKS = 12
LONGEST_REPLY = 1_000_000  # characters; a longer reply is no plan

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_RANGE = re.compile(r"\s*L?(\d+)\s*(?:-|–|—|\.\.|:|,|to)\s*L?(\d+)\s*", re.IGNORECASE)

_SUBTASK_LISTS = ("subtasks", "sub_tasks", "tasks", "steps", "plan")
_POINTER_NAMES = ("context_pointers", "context_pointer", "pointers", "context")
_SECTION_NAMES = ("sections", "section", "section_ids", "ids", "pages", "page", "headers", "header")
_RANGE_NAMES = ("line_ranges", "line_range", "lines", "ranges")


def parse_plan(reply: object) -> tuple[Plan, tuple[str, ...]]:
    """A plan, and a note for each thing that was mended.

    `reply` is a model's text, or JSON already parsed. Raises `PlanInvalid`, with the reply in
    `details["raw"]`, and nothing else.
    """
    if isinstance(reply, Plan):
        return reply, ()
    notes: list[str] = []
    with refusing(reply):
        plan = plan_of(json_of(reply, notes, is_plan), notes)
    return plan, tuple(notes)


@contextmanager
def refusing(reply: object) -> Generator[None, None, None]:
    """What goes wrong inside, in reading `reply`, is raised as `PlanInvalid` with its cause."""
    try:
        yield
    except ValidationError as error:
        raise _invalid(_first_reason(error), reply) from None
    except ValueError as error:
        raise _invalid(str(error), reply) from None
    except RecursionError:
        raise _invalid("the JSON is nested too deeply", reply) from None


def json_of(reply: object, notes: list[str], is_wanted: Callable[[Any], bool]) -> Any:
    """The JSON in a model's text, mended if need be; what is no text stays as it is. ValueError without JSON."""
    return _find_json(reply, notes, is_wanted) if isinstance(reply, str) else reply


def plan_of(value: Any, notes: list[str]) -> Plan:
    """A plan from JSON whose shape may need mending; each mend adds a note. ValueError when it cannot be mended."""
    subtasks, reasoning = _find_subtasks(value)
    return Plan.model_validate({"subtasks": _mend_subtasks(subtasks, notes), "reasoning": reasoning})


def _invalid(cause: str, reply: object) -> PlanInvalid:
    return PlanInvalid("the reply is no valid plan", cause=cause, raw=reply)


def _first_reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


# Finding the JSON


def _find_json(text: str, notes: list[str], is_wanted: Callable[[Any], bool]) -> Any:
    if len(text) > LONGEST_REPLY:
        raise ValueError(f"the reply has {len(text):,} characters")
    try:
        return json.loads(text)
    except ValueError:
        pass
    found = [value for candidate in _candidates(text) for value in _decoded(candidate)]
    plans = [value for value in found if is_wanted(value)]
    if plans:
        notes.append("text around the plan was dropped")
        return max(plans, key=lambda value: len(json.dumps(value)))
    start = re.search(r"[\[{]", text)
    if start is None:
        raise ValueError("the reply holds no JSON")
    notes.append("broken JSON was mended")
    return _repaired(text[start.start() :], is_wanted)


def _candidates(text: str) -> Iterator[str]:
    yield from _FENCED.findall(text)
    yield text


def _decoded(text: str) -> Iterator[Any]:
    """Each complete JSON object or array that starts in `text`, outermost ones only."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(200):
        start = re.compile(r"[\[{]").search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
            yield value
        except ValueError:
            position = start.end()


def _repaired(text: str, is_wanted: Callable[[Any], bool]) -> Any:
    fenced = [body for body in _FENCED.findall(text) if re.search(r"[\[{]", body)]
    value = repaired(fenced[0] if fenced else text)
    if isinstance(value, list) and not is_wanted(cast("Any", value)):
        items = cast("list[Any]", value)
        return next((item for item in items if is_wanted(item)), items)
    return cast("Any", value)


def is_plan(value: Any) -> bool:
    """Whether JSON holds subtasks, in whatever form."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return bool(items) and all(_is_subtask(item) for item in items)
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return any(isinstance(fields.get(name), list | dict) for name in _SUBTASK_LISTS)


def _is_subtask(value: Any) -> bool:
    return isinstance(value, dict) and "task" in value


# Mending the shape


def _find_subtasks(value: Any) -> tuple[list[Any], str]:
    if isinstance(value, list):
        return cast("list[Any]", value), ""
    if not isinstance(value, dict):
        raise ValueError(f"a plan is a JSON object, not {type(value).__name__}")
    fields = cast("dict[str, Any]", value)
    if _is_subtask(fields) and not isinstance(fields.get("subtasks"), list):
        return [fields], ""
    for name in _SUBTASK_LISTS:
        found = fields.get(name)
        if isinstance(found, list):
            return cast("list[Any]", found), _as_text(fields.get("reasoning"))
        if isinstance(found, dict):
            return _find_subtasks(cast("Any", found))
    raise ValueError("the plan has no list `subtasks`")


def _mend_subtasks(raw: list[Any], notes: list[str]) -> list[dict[str, Any]]:
    mended: list[dict[str, Any]] = []
    for position, item in enumerate(raw, start=1):
        fields: Mapping[str, Any] = cast("Mapping[str, Any]", item) if isinstance(item, Mapping) else {}
        if _as_text(fields.get("task")).strip():
            mended.append(_mend_subtask(fields))
        else:
            notes.append(f"entry {position} has no task and was dropped")
    if not mended:
        raise ValueError("the plan has no subtasks")
    if len(mended) > MOST_SUBTASKS:
        raise ValueError(f"the plan has {len(mended)} subtasks; give 1 to 6")
    _mend_ids(mended, notes)
    return mended


def _mend_ids(subtasks: list[dict[str, Any]], notes: list[str]) -> None:
    """The first to bear an id keeps it; the others get the lowest numbers that are free."""
    given = {subtask["id"] for subtask in subtasks}
    free = (str(number) for number in count(1) if str(number) not in given)
    kept: set[str] = set()
    for subtask in subtasks:
        if not subtask["id"] or subtask["id"] in kept:
            notes.append(f"an id was {'repeated' if subtask['id'] else 'missing'}: {subtask['task'][:60]!r}")
            subtask["id"] = next(free)
        kept.add(subtask["id"])


def _mend_subtask(item: Mapping[str, Any]) -> dict[str, Any]:
    pointers = _first(item, _POINTER_NAMES)
    places: list[Mapping[str, Any]] = [item]
    if isinstance(pointers, Mapping):
        places.insert(0, cast("Mapping[str, Any]", pointers))
    elif pointers:
        places.insert(0, {"sections": pointers})
    sections = next((found for place in places if (found := _first(place, _SECTION_NAMES))), None)
    ranges = next((found for place in places if (found := _first(place, _RANGE_NAMES))), None)
    answer = _as_text(item.get("answer")).strip() or None
    skill = _as_text(item.get("skill")).strip() or (SELF if answer else "fact-extraction")
    return {
        "id": _as_text(item.get("id")).strip(),
        "task": _as_text(item.get("task")).strip(),
        "skill": SELF if skill.casefold() == SELF else skill,
        "context_pointers": {
            "sections": [text for text in (_as_text(section).strip() for section in _as_list(sections)) if text],
            "line_ranges": _mend_ranges(ranges),
        },
        "answer": answer,
        "depends_on": _mend_dependencies(item.get("depends_on")),
    }


def _mend_ranges(ranges: Any) -> list[list[Any]]:
    """`[a, b]` for `[[a, b]]`, `"10-20"`, `{"start": 10, "end": 20}` and single numbers become pairs."""
    entries = _as_list(ranges)
    if len(entries) == 2 and all(_is_number(entry) for entry in entries):
        return [entries]
    return [pair for entry in entries if (pair := _mend_range(entry))]


def _mend_range(entry: Any) -> list[Any]:
    if isinstance(entry, Mapping):
        bounds = list(cast("Mapping[str, Any]", entry).values())
        return bounds[:2] if len(bounds) >= 2 else []
    if isinstance(entry, str) and (match := _RANGE.fullmatch(entry)):
        return [int(match[1]), int(match[2])]
    if isinstance(entry, list | tuple):
        bounds = list(cast("list[Any]", entry))
        return (bounds * 2)[:2] if len(bounds) == 1 else bounds[:2]
    return [entry, entry] if _is_number(entry) else []


def _mend_dependencies(value: Any) -> list[str]:
    names = [text for text in (_as_text(name).strip() for name in _as_list(value)) if text]
    return list(dict.fromkeys(names))


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, int | float) or (isinstance(value, str) and value.strip().isdecimal())
    )


def _first(place: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((place[name] for name in names if place.get(name)), None)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(cast("list[Any]", value))
    return [value]


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return next((_as_text(named[name]) for name in ("id", "title", "text", "answer") if name in named), "")
    if isinstance(value, int | float):
        return str(value)
    return ""
