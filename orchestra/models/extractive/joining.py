"""The last step: findings under their questions, or as the JSON that a schema asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from orchestra.models.blocks import Finding
from orchestra.models.extractive.notice import with_notice, without_notice
from orchestra.models.extractive.vocabulary import stems

_MARK = re.compile(r"\s*\[(?:d\d+:)?L\d[^\]]*\]")
_LACK = re.compile(r"^INSUFFICIENT:", re.MULTILINE)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
MAX_DEPTH = 8


def join(findings: Sequence[Finding]) -> str:
    """One heading per question, its finding below, what is missing said; marks stay as they are."""
    return with_notice("\n\n".join(f"### {finding.task}\n\n{_body(finding)}" for finding in findings))


def _body(finding: Finding) -> str:
    """What was found, in words for a reader: the mark by which a subtask says what it lacks is none."""
    text = without_notice(finding.text)
    return f"Missing: {text or 'no finding'}" if finding.is_missing else _LACK.sub("Missing:", text)


def fill(schema: Mapping[str, Any], findings: Sequence[Finding], task: str) -> Any:
    """JSON of a schema's shape, as far as quotes can fill it: texts are quotes, numbers the first one in a quote."""
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))
    if set(properties) == {"answer", "data"}:
        definitions = schema.get("$defs", {})
        data = _Filler(findings, definitions).value(properties["data"], task, "data", 0)
        return {"answer": join(findings), "data": data}
    return _Filler(findings, schema.get("$defs", {})).value(schema, task, "", 0)


class _Filler:
    """Values for the parts of a schema, each from the lines of the findings that share most words with its name."""

    def __init__(self, findings: Sequence[Finding], definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        found = [finding for finding in findings if not finding.is_missing]
        self._lines = [(line, finding.task) for finding in found for line in _lines(finding.text)]

    def value(self, schema: Mapping[str, Any], about: str, name: str, depth: int) -> Any:
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._choice(schema["enum"], about)
        kind = self._type(schema)
        about = " ".join((about, name.replace("_", " "), str(schema.get("description", ""))))
        if kind == "object" and depth < MAX_DEPTH:
            properties = cast("Mapping[str, Any]", schema.get("properties", {}))
            return {key: self.value(part, key.replace("_", " "), "", depth + 1) for key, part in properties.items()}
        if kind == "array" and depth < MAX_DEPTH:
            return self._items(schema, about, name, depth)
        best = self._best(about)
        number = _NUMBER.search(best)
        if kind == "string":
            return best
        if kind in ("number", "integer"):
            return _number(number[0] if number else "0", is_whole=kind == "integer")
        return bool(best) if kind == "boolean" else None

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Behind references and alternatives: the first of them that is not null."""
        for _ in range(MAX_DEPTH):
            if "$ref" in schema:
                schema = self._definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
                continue
            options = next((schema[key] for key in ("anyOf", "oneOf", "allOf") if key in schema), None)
            if not options:
                break
            schema = next((option for option in options if option.get("type") != "null"), options[0])
        return schema

    def _type(self, schema: Mapping[str, Any]) -> str:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        return kind if isinstance(kind, str) else next((each for each in kind if each != "null"), "null")

    def _items(self, schema: Mapping[str, Any], about: str, name: str, depth: int) -> list[Any]:
        """One entry per quote for plain items, one in all for objects."""
        item = self._resolved(cast("Mapping[str, Any]", schema.get("items", {})))
        most = int(schema.get("maxItems", 12))
        if self._type(item) == "string" and "enum" not in item:
            return [line for line, _ in self._ranked(about)][:most]
        return [self.value(item, about, name, depth + 1)][:most]

    def _choice(self, options: Sequence[Any], about: str) -> Any:
        said = set(stems(" ".join(line for line, _ in self._lines)))
        return max(options, key=lambda option: len(said & set(stems(str(option)))))

    def _best(self, about: str) -> str:
        ranked = self._ranked(about)
        return ranked[0][0] if ranked else ""

    def _ranked(self, about: str) -> list[tuple[str, str]]:
        asked = set(stems(about))

        def shared(entry: tuple[str, str]) -> int:
            line, task = entry
            return 2 * len(asked & set(stems(line))) + len(asked & set(stems(task)))

        ranked = sorted(self._lines, key=lambda entry: -shared(entry))
        return [entry for entry in ranked if shared(entry)] or ranked


def _lines(text: str) -> list[str]:
    """The quotes of a finding without their list marks and line marks."""
    lines = (_MARK.sub("", line).strip().removeprefix("- ") for line in without_notice(text).split("\n"))
    return [line for line in lines if line and not re.fullmatch(r"[|\s:-]+|\*\*.+\*\*", line)]


def _number(text: str, *, is_whole: bool) -> float | int:
    value = float(text.replace(",", ""))
    return int(value) if is_whole or value.is_integer() else value
