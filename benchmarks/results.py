"""What a benchmark writes: one line for each question and strategy, as it goes.

`settings.json` says what was measured and `results.jsonl` holds the outcomes. A run that was stopped goes on from
them; with other settings it refuses to.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestra.errors import InputInvalid

FORMAT = 1


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallRecord(_Strict):
    """One call: what it was for, its tokens, its seconds, and which lines of the document stood whole in it."""

    purpose: str
    input_tokens: int
    cache_write_tokens: int
    cached_input_tokens: int
    output_tokens: int
    seconds: float
    lines: list[str]


class Outcome(_Strict):
    """One question answered one way.

    `input_tokens` are plain ones: the whole input is `input_tokens + cache_write_tokens + cached_input_tokens`.
    `sent_tokens` is the same counted by us before sending. `cache`: "reported" by the provider, or "rule" where the
    documented rule stood in. `wall_s` is None where replies came from a store that does not know it.
    """

    question: str
    strategy: str
    document: str
    status: Literal["completed", "failed"]
    error: str = ""
    answer: str = ""
    calls: list[CallRecord] = []
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    sent_tokens: int = 0
    price_usd: float | None = None
    wall_s: float | None = None
    is_recalled: bool | None = None
    score: float = 0.0
    score_kind: Literal["number", "text"] = "text"
    judged: float | None = None
    cache: Literal["reported", "rule"] = "reported"
    is_counted_here: bool = False
    chosen: str = ""
    estimated_input_tokens: int | None = None
    budget_tokens: int | None = None

    @property
    def total_input_tokens(self) -> int:
        return self.input_tokens + self.cache_write_tokens + self.cached_input_tokens


class RunSettings(_Strict):
    """What must be the same for a run to go on. Strategies may be added."""

    format: int = FORMAT
    dataset: str
    questions: list[str]
    dataset_hash: str
    note: str = ""
    model: str
    priced_as: str
    is_builtin: bool
    judge: str = ""
    sample: int | None = None
    seed: int = 0
    subtasks: int = 5
    budget: str = ""


class ResultFolder:
    """The folder `--out`. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    @property
    def _settings_path(self) -> Path:
        return self.path / "settings.json"

    @property
    def _outcomes_path(self) -> Path:
        return self.path / "results.jsonl"

    def begin(self, settings: RunSettings) -> list[Outcome]:
        """Make the folder, or check that it holds a run with these settings; what is done already."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not self._settings_path.exists():
            if self._outcomes_path.exists():
                raise InputInvalid(
                    f"{self.path} has results and no settings.json", suggestion="Name another folder with --out."
                )
            _write(self._settings_path, settings.model_dump_json(indent=1) + "\n")
            return []
        _refuse_difference(self.settings(), settings, self.path)
        self._drop_unfinished_line()
        return self.outcomes()

    def settings(self) -> RunSettings:
        return _checked(_text(self._settings_path), RunSettings, str(self._settings_path))

    def outcomes(self) -> list[Outcome]:
        """Every outcome; of two for the same question and strategy the later one."""
        if not self._outcomes_path.exists():
            return []
        lines = _text(self._outcomes_path).split("\n")
        whole = [(number, line) for number, line in enumerate(lines[:-1], start=1) if line]
        found = [_checked(line, Outcome, f"{self._outcomes_path}:{number}") for number, line in whole]
        return list({(each.question, each.strategy): each for each in found}.values())

    def add(self, outcome: Outcome) -> None:
        """Append a line, which is whole on disk when this returns."""
        line = (outcome.model_dump_json() + "\n").encode()
        with self._lock, self._outcomes_path.open("ab") as file:
            file.write(line)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        _write(path, text)
        return path

    def _drop_unfinished_line(self) -> None:
        """What a killed run was writing."""
        if not self._outcomes_path.exists():
            return
        content = self._outcomes_path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            with self._outcomes_path.open("r+b") as file:
                file.truncate(end)


def _refuse_difference(kept: RunSettings, asked: RunSettings, path: Path) -> None:
    before, now = kept.model_dump(), asked.model_dump()
    changed = [name for name in before if before[name] != now[name]]
    if not changed:
        return
    said = "; ".join(f"{name} was {_short(before[name])} and is {_short(now[name])}" for name in changed)
    raise InputInvalid(
        f"{path} holds a run with other settings", cause=said, suggestion="Name another folder with --out."
    )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputInvalid(f"{path} cannot be read", cause=str(error)) from None


def _checked(text: str, kind: type[Any], where: str) -> Any:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise InputInvalid(
            f"{where} was not written by this benchmark", cause=f"{place}: {first['msg']}".lstrip(": ")
        ) from None


def _write(path: Path, text: str) -> None:
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def by_strategy(outcomes: Iterable[Outcome]) -> dict[str, dict[str, Outcome]]:
    """Strategy -> question -> outcome."""
    grouped: dict[str, dict[str, Outcome]] = {}
    for outcome in outcomes:
        grouped.setdefault(outcome.strategy, {})[outcome.question] = outcome
    return grouped
