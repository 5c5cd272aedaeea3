"""What a request is made of: typed blocks, each with the text that a provider is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from orchestra.document import DocumentSet, Slice
    from orchestra.document.view import OutlineView


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
