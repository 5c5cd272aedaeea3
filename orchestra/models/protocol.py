"""What every model speaks: one request, one reply, one method.

A request is a sequence of typed blocks. An adapter for a provider sends `block.text`; an engine that
runs here reads the block's own fields. Blocks that stay the same between calls come first, and the last
of them is marked `cacheable`, so that a provider's prompt cache can hold what stands before it.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from orchestra.errors import ModelTimeout, RunCancelled

if TYPE_CHECKING:
    from orchestra.document import DocumentSet, Slice
    from orchestra.document.view import OutlineView

Purpose = Literal["plan", "subtask", "synthesis", "route", "other"]
StopReason = Literal["end", "max_tokens", "tool_use", "refusal", "context_exceeded", "pause"]
ToolChoice = Literal["auto", "none"]
_SORTED_JSON = json.JSONEncoder(sort_keys=True)


def fence(tag: str, body: str, attributes: str = "") -> str:
    """`body` between `<tag>` and `</tag>`, the tag lengthened until the body cannot close it."""
    name = tag
    while f"</{name}" in body:
        name += "-x"
    return f"<{name}{attributes}>\n{body}\n</{name}>"


@dataclass(frozen=True, slots=True)
class Instructions:
    """Rules, a skill's prompt, or the format of the reply: what we say in our own name."""

    text: str
    cacheable: bool = False
    kind: ClassVar[str] = "instructions"


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """The whole text of the documents, with section ids where sections begin."""

    documents: DocumentSet
    cacheable: bool = True
    kind: ClassVar[str] = "document"

    @property
    def text(self) -> str:
        return fence("document", self.documents.annotated_text)


@dataclass(frozen=True, slots=True)
class OutlineBlock:
    """The outline of the documents and the lines that fit the task: what a planner reads instead of the text."""

    view: OutlineView
    cacheable: bool = False
    kind: ClassVar[str] = "outline"

    @property
    def text(self) -> str:
        return fence("outline", self.view.text)


@dataclass(frozen=True, slots=True)
class SliceBlock:
    """The passages that a subtask may see."""

    slice: Slice
    cacheable: bool = True
    kind: ClassVar[str] = "slice"

    @property
    def text(self) -> str:
        return fence("excerpts", self.slice.text)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills that a plan may name: (name, description) in a fixed order."""

    skills: tuple[tuple[str, str], ...]
    cacheable: bool = False
    kind: ClassVar[str] = "catalogue"

    @property
    def text(self) -> str:
        return "Skills:\n" + "\n".join(f"- {name}: {description}" for name, description in self.skills)


@dataclass(frozen=True, slots=True)
class SubSkills:
    """The parts of a composite skill that its steps may call: (name, what is said of it) and what each waits for."""

    listed: tuple[tuple[str, str], ...]
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    cacheable: bool = False
    kind: ClassVar[str] = "sub-skills"

    @property
    def text(self) -> str:
        lines = "\n".join(f"- {name}{said}" for name, said in self.listed)
        return f"Sub-skills (a parameter with ? is optional):\n{lines}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one subtask gave: its reply, or why there is none."""

    id: str
    task: str
    text: str
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """Replies that this call builds on, in plan order."""

    findings: tuple[Finding, ...]
    cacheable: bool = False
    kind: ClassVar[str] = "findings"

    @property
    def text(self) -> str:
        return "\n".join(
            fence("missing" if finding.is_missing else "finding", f"Question: {finding.task}\n{finding.text}")
            for finding in self.findings
        )


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done, in the user's or the plan's words."""

    words: str
    cacheable: bool = False
    kind: ClassVar[str] = "task"

    @property
    def text(self) -> str:
        return f"Task: {self.words}"


@dataclass(frozen=True, slots=True)
class Tasks:
    """Several tasks over the same excerpts, each answered by itself under its number.

    `reply_tokens` is what each answer may take, were it asked for alone.
    """

    words: tuple[str, ...]
    reply_tokens: int
    cacheable: bool = False
    kind: ClassVar[str] = "tasks"

    @property
    def text(self) -> str:
        return "\n".join(f"Task {number}: {words}" for number, words in enumerate(self.words, start=1))

    @staticmethod
    def mark(number: int) -> str:
        """The line that stands above the answer to a task, in the reply."""
        return f"<<{number}>>"


@dataclass(frozen=True, slots=True)
class Facts:
    """Values that code holds, as JSON inside a fence called `name`: outputs of steps, context of a caller."""

    name: str
    values: Mapping[str, Any]
    cacheable: bool = False
    kind: ClassVar[str] = "facts"

    @property
    def text(self) -> str:
        return fence(self.name, json.dumps(self.values, ensure_ascii=False, sort_keys=True, default=str))


@dataclass(frozen=True, slots=True)
class History:
    """Tasks that were asked before this one, each with its answer, oldest first."""

    turns: tuple[tuple[str, str], ...]
    cacheable: bool = False
    kind: ClassVar[str] = "history"

    @property
    def text(self) -> str:
        return fence("earlier", "\n\n".join(f"Task: {task}\nAnswer: {answer}" for task, answer in self.turns))


Block = (
    Instructions
    | DocumentBlock
    | OutlineBlock
    | SliceBlock
    | Catalogue
    | SubSkills
    | Findings
    | History
    | Task
    | Tasks
    | Facts
)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants done. `fault` says why its arguments cannot be used: they are empty then, nothing is run."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A turn after the blocks: what the model said, or what it is told next.

    `raw` is that of the reply which this turn repeats. A `cacheable` turn ends what a prompt cache may hold.
    """

    role: Literal["user", "assistant"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    raw: Mapping[str, Any] | None = None
    cacheable: bool = False

    @property
    def shown(self) -> str:
        """All that a model reads of the turn, as one text."""
        calls = (f"{call.name} {json.dumps(dict(call.arguments), default=str)}" for call in self.tool_calls)
        return "\n".join((*((self.text,) if self.text else ()), *calls, *(result.text for result in self.tool_results)))

    @property
    def identity(self) -> dict[str, Any]:
        """What of the turn is sent, JSON-ready."""
        written: dict[str, Any] = {
            "role": self.role,
            "text": self.text,
            "calls": [[call.id, call.name, dict(call.arguments)] for call in self.tool_calls],
            "results": [[result.call_id, result.text, result.is_error] for result in self.tool_results],
        }
        return written | ({"raw": self.raw} if self.raw else {}) | ({"cacheable": True} if self.cacheable else {})


class Cancellation:
    """A switch that ends work from outside, once and for good. Thread-safe.

    Whoever blocks on behalf of the work registers, with `on_cancel`, how to be woken.
    """

    def __init__(self) -> None:
        self._is_cancelled = False
        self._wakers: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        """End the work: wake whoever blocks on its behalf. Idempotent."""
        with self._lock:
            self._is_cancelled = True
            wakers = list(self._wakers.values())
        for wake in wakers:
            wake()

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Register `wake` (called at once if already cancelled); returns the call that unregisters it."""
        key = id(wake)
        with self._lock:
            self._wakers[key] = wake
            is_late = self._is_cancelled
        if is_late:
            wake()

        def unregister() -> None:
            with self._lock:
                self._wakers.pop(key, None)

        return unregister


class Deadline(Cancellation):
    """When a call must have ended, and the way to end it earlier.

    `seconds` counts from construction on the monotonic clock; None means no limit.
    """

    def __init__(self, seconds: float | None = None) -> None:
        super().__init__()
        self.seconds = seconds
        self._expires_at = None if seconds is None else time.monotonic() + seconds

    def remaining_s(self) -> float | None:
        """Seconds left, never negative; None without a limit."""
        return None if self._expires_at is None else max(0.0, self._expires_at - time.monotonic())

    def is_overdue(self, grace_s: float = 0.0) -> bool:
        """Whether the deadline passed more than `grace_s` seconds ago."""
        return self._expires_at is not None and time.monotonic() > self._expires_at + grace_s

    def check(self) -> None:
        """Raise `RunCancelled` or `ModelTimeout` when the call must not go on."""
        if self.is_cancelled:
            raise RunCancelled("the call was cancelled")
        if self._expires_at is not None and time.monotonic() >= self._expires_at:
            raise ModelTimeout(f"the call did not end within {self.seconds:g} s", is_retryable=False)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `blocks` make the prompt, `messages` the turns after it.

    `schema` asks for JSON of that shape, `on_delta` for the text as it arrives. With `tool_choice` "none" the tools
    stand in the request, for the prompt cache's sake, and cannot be called. Deadline and sink are no part of the
    request's identity: `fingerprint` covers only what is sent.
    """

    blocks: tuple[Block, ...]
    purpose: Purpose = "other"
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    max_tokens: int = 2048
    temperature: float | None = None
    deadline: Deadline | None = field(default=None, compare=False)
    on_delta: Callable[[str], None] | None = field(default=None, compare=False)

    def with_messages(self, *messages: Message) -> ModelRequest:
        return replace(self, messages=(*self.messages, *messages))

    @property
    def prompt(self) -> str:
        """The text of all blocks and turns as one string: what token counts are taken from."""
        turns = (f"{message.role}: {message.shown}" for message in self.messages)
        return "\n\n".join((*(block.text for block in self.blocks), *turns))

    @property
    def fingerprint(self) -> str:
        """SHA-256 over what is sent, as hex: equal requests have equal fingerprints on every machine."""
        parts = [f"{block.kind}\x1f{block.cacheable}\x1f{block.text}\x1e".encode() for block in self.blocks]
        rest = {
            "messages": [message.identity for message in self.messages],
            "tools": [[tool.name, tool.description, dict(tool.parameters)] for tool in self.tools],
            "schema": self.schema,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        rest |= {"tool_choice": self.tool_choice} if self.tool_choice != "auto" else {}
        return hashlib.sha256(b"".join((*parts, _SORTED_JSON.encode(rest).encode()))).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or of many. The whole input is `input + cached_input + cache_write`.

    `is_estimated` says that some of it was counted here, because the provider reported none.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    is_estimated: bool = False

    @property
    def total_input_tokens(self) -> int:
        return self.input_tokens + self.cached_input_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered. `data` is the parsed JSON when a schema was asked for and the text holds one.

    `raw` is set where its tool calls must go back to the provider as they came: the turn in the provider's own form,
    JSON-ready, with the `model` that wrote it. `answered_by` names the model that stood in for the one that was asked;
    "" where none did.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    data: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = "end"
    model: str = ""
    request_id: str = ""
    raw: Mapping[str, Any] | None = None
    answered_by: str = ""

    @property
    def turn(self) -> Message:
        """The reply as a turn of the conversation that goes on."""
        return Message("assistant", self.text, self.tool_calls, raw=self.raw)


@runtime_checkable
class Model(Protocol):
    """Anything with this method can answer. Errors are `ModelError`s; anything else counts as a defect.

    It is called from several threads, and should give up when `request.deadline` says so: the run goes on without
    one that does not, but its thread, and Python's exit, wait for it.

    An object may also have `name: str` (how results and prices call it), and
    `context_window: int` (tokens; unknown when absent), `cache_minimum_tokens: int`, the shortest prefix that its
    prompt cache holds (no cache when absent), `gate`, the `Gate` that says when its calls may go out (at once when
    absent), and `notice: str`, a sentence about itself that stands with every answer that is joined without a
    synthesis of its own.
    """

    def complete(self, request: ModelRequest) -> ModelReply: ...
