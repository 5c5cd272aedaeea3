"""YAML as skills hold it: mended where people stumble, refused where it could do harm.

Aliases, tags that could name code, deep nesting and more than one document are refused before a value is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from orchestra.errors import SkillInvalid
from orchestra.skills.skill import Diagnostic, Severity

MAX_DEPTH = 16
MAX_CHARACTERS = 64 * 1024

_TEXT, _MAP, _SEQUENCE = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))
_PLAIN = frozenset(
    {_TEXT, _MAP, _SEQUENCE, *(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool", "null", "timestamp"))}
)
_KEY_AND_VALUE = re.compile(r"^([ ]*(?:- )?)([A-Za-z][\w-]*:[ ]+)(\S.*?)[ ]*$")
_BLOCK = re.compile(r"[|>][-+0-9]*([ ]+#.*)?")
_NESTING = re.compile(r"[\[{]|[-?:][ \t]+(?=[-?:\[{])")  # what may open a level within a line
_MOST_INDENT = re.compile(r"^[ ]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """A YAML text within a file, and the line of the file that it begins on."""

    path: str
    first_line: int = 1

    def invalid(self, line: int, what: str, cause: str = "") -> SkillInvalid:
        """`line` is that of the file; 0 when it is about the whole file."""
        where = f"{self.path}:{line}" if line else self.path
        return SkillInvalid(f"{where} {what}", cause=cause, path=self.path, line=line)

    def found(self, line: int, severity: Severity, message: str) -> Diagnostic:
        return Diagnostic(self.path, line, severity, message)


@dataclass(frozen=True, slots=True)
class YamlMap:
    """A mapping: its values as plain Python (dates as text), and where each of them stands."""

    values: dict[str, Any]
    node: Any
    place: Place

    def line_of(self, *path: str | int) -> int:
        """The file's line of the deepest key of `path` that is there; 1 when not even the first one is."""
        node, line = self.node, 1
        for step in path:
            below = _step(node, step)
            if below is None:
                break
            line, node = below[0] + self.place.first_line, below[1]
        return line

    def text_of(self, *path: str) -> str | None:
        """A scalar as it was written, before YAML took it for a number, a date or a truth."""
        node = self.node
        for step in path:
            below = _step(node, step)
            if below is None:
                return None
            node = below[1]
        return str(node.value) if isinstance(node.value, str) else None


def load_mapping(text: str, place: Place, found: list[Diagnostic]) -> YamlMap:
    """The mapping that `text` is. What was mended is added to `found`. Raises `SkillInvalid`."""
    import yaml

    if len(text) > MAX_CHARACTERS:
        raise place.invalid(place.first_line, "has too much YAML", f"over {MAX_CHARACTERS:,} characters")
    try:
        values, node, repeated = _load(text, place)
    except yaml.YAMLError as error:
        mended, numbers = _mend(text)
        if not numbers:
            raise _unparseable(error, place) from error
        try:
            values, node, repeated = _load(mended, place)
        except yaml.YAMLError:
            raise _unparseable(error, place) from error
        found.extend(
            place.found(number + place.first_line, "warning", "a value was quoted to make it YAML")
            for number in numbers
        )
    for key in repeated:
        line = key.start_mark.line + place.first_line
        found.append(place.found(line, "warning", f"`{key.value}` is there twice: the last one holds"))
    if values is None and not text.strip():
        return YamlMap({}, node, place)
    if not isinstance(values, dict):
        raise place.invalid(place.first_line, "has YAML that is not a list of `key: value` lines")
    return YamlMap(values, node, place)


def _load(text: str, place: Place) -> tuple[Any, Any, list[Any]]:
    """The values, the tree they come from, and the nodes of keys that are there twice."""
    import yaml

    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if _may_nest(text):
        _check_depth(text, place, loader_class)
    loader = loader_class(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None, []
        if "*" in text or "!" in text:  # without these there is neither alias nor tag
            _check_nodes(node, text, place)
        try:
            repeated: list[Any] = []
            return _value(node, loader, repeated), node, [key for each in repeated for key in _twice(each)]
        except (ValueError, TypeError, OverflowError) as error:  # an impossible date, a number without end
            raise yaml.YAMLError(str(error)) from error
    finally:
        loader.dispose()


def _may_nest(text: str) -> bool:
    """Whether the text could be deeper than allowed, by a count that never says no where it is."""
    openers = len(_NESTING.findall(text))
    return 2 * openers + max(map(len, _MOST_INDENT.findall(text)), default=0) + 3 >= MAX_DEPTH


def _check_depth(text: str, place: Place, loader_class: Any) -> None:
    """By events, which take no stack: a composer would need some for every level."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=loader_class):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            line = (event.start_mark.line if event.start_mark else 0) + place.first_line
            raise place.invalid(line, "nests its YAML too deeply", f"over {MAX_DEPTH} levels")


def _check_nodes(root: Any, text: str, place: Place) -> None:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        line = node.start_mark.line + place.first_line
        if id(node) in seen:
            line = _line_of_alias(text) + place.first_line
            raise place.invalid(line, "uses a YAML alias", "aliases are refused: they can grow without bound")
        seen.add(id(node))
        if node.tag not in _PLAIN:
            raise place.invalid(line, "uses a YAML tag", "tags are refused: they can name code")
        if isinstance(node.value, list):
            waiting.extend(below for child in node.value for below in _below(child))


def _line_of_alias(text: str) -> int:
    import yaml

    events = yaml.parse(text, Loader=yaml.SafeLoader)
    marks = (event.start_mark for event in events if isinstance(event, yaml.AliasEvent))
    return next((mark.line for mark in marks if mark), 0)


def _below(child: Any) -> tuple[Any, ...]:
    return child if isinstance(child, tuple) else (child,)


def _step(node: Any, step: str | int) -> tuple[int, Any] | None:
    children = node.value if node is not None and isinstance(node.value, list) else []
    if isinstance(step, int):
        inside = children[step] if step < len(children) else None
        return None if inside is None or isinstance(inside, tuple) else (inside.start_mark.line, inside)
    return next(
        ((key.start_mark.line, value) for key, value in _pairs(children) if key.value == step),
        None,
    )


def _pairs(children: list[Any]) -> Iterator[tuple[Any, Any]]:
    return (child for child in children if isinstance(child, tuple))


def _value(node: Any, loader: Any, repeated: list[Any]) -> Any:
    """JSON's kinds of values only: keys and dates as text. Mappings with a key twice are added to `repeated`."""
    if node.tag == _TEXT or node.tag not in _PLAIN:
        return node.value
    if node.tag == _MAP:
        values = {_key(key): _value(inner, loader, repeated) for key, inner in node.value}
        if len(values) < len(node.value):
            repeated.append(node)
        return values
    if node.tag == _SEQUENCE:
        return [_value(inner, loader, repeated) for inner in node.value]
    value = loader.construct_object(node)
    return value.isoformat() if isinstance(value, date) else value  # a datetime is one too


def _twice(mapping: Any) -> Iterator[Any]:
    seen: set[str] = set()
    for key, _ in mapping.value:
        if key.value in seen:
            yield key
        seen.add(key.value)


def _key(node: Any) -> str:
    if not isinstance(node.value, str):
        raise ValueError("a key is a list or a mapping")
    return node.value


def _mend(text: str) -> tuple[str, list[int]]:
    """Values that YAML stumbles over, quoted; and the numbers (from 0) of the lines where that was done."""
    lines = text.replace("\t", "  ").split("\n")
    numbers = [number for number, line in enumerate(text.split("\n")) if "\t" in line]
    number = 0
    while number < len(lines):
        match = _KEY_AND_VALUE.match(lines[number])
        after = _continuation(lines, number) if match else 0
        if match and not _BLOCK.fullmatch(match[3]) and not _parses(match[3], lines[number + 1 : number + 1 + after]):
            whole = " ".join([match[3], *(line.strip() for line in lines[number + 1 : number + 1 + after])])
            lines[number] = match[1] + match[2] + _quoted(whole)
            lines[number + 1 : number + 1 + after] = [""] * after
            numbers.append(number)
        number += 1 + after
    return "\n".join(lines), sorted(set(numbers))


def _continuation(lines: list[str], number: int) -> int:
    """How many of the lines that follow belong to the value that begins on this one: those indented deeper."""
    indent = len(lines[number]) - len(lines[number].lstrip(" "))
    count = 0
    for offset, line in enumerate(lines[number + 1 :], 1):
        if not line.strip():
            continue
        if len(line) - len(line.lstrip(" ")) <= indent:
            break
        count = offset
    return count


def _parses(value: str, following: list[str]) -> bool:
    import yaml

    text = "\n".join([f"k: {value}", *(f"   {line.strip()}" for line in following)])
    try:
        for _ in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
    except yaml.YAMLError:
        return False
    return True


def _quoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return "'" + value.replace("'", "''") + "'"


def _unparseable(error: Exception, place: Place) -> SkillInvalid:
    is_scanning = getattr(error, "context", None) == "while scanning a simple key"  # the problem is seen a line late
    mark = getattr(error, "context_mark" if is_scanning else "problem_mark", None)
    line = (mark.line if mark else 0) + place.first_line
    return place.invalid(line, "has text that is not YAML", getattr(error, "problem", None) or str(error))
