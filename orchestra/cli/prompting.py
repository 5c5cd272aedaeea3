"""Asking a person on the terminal, while a run goes on behind it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from orchestra.cli.question_text import barred, question_text
from orchestra.cli.terminal import say
from orchestra.errors import InputInvalid

if TYPE_CHECKING:
    from orchestra.runtime.events import Event, Listener
    from orchestra.runtime.questions import Decision, OnApproval, Question

F = TypeVar("F", bound=Callable[..., Any])

approve_option = click.option(
    "--approve",
    type=click.Choice(["ask", "never"]),
    default="ask",
    show_default=True,
    help="Ask here what needs approval, when this is a terminal; or ask nobody, and wait.",
)


@contextmanager
def prompting(listener: Listener | None, approve: str) -> Iterator[tuple[Listener | None, OnApproval | None]]:
    """What to pass as `on_event` and as `on_approval` while a run lasts; no `on_approval` where nobody can be asked.

    `listener` is told nothing while a question stands on the terminal, and everything afterwards.
    """
    if approve == "never" or not (sys.stdin.isatty() and sys.stderr.isatty()):
        yield listener, None
        return
    held, lines = _Held(listener), _Lines(sys.stdin.fileno())
    try:
        yield (None if listener is None else held), _Prompt(held, lines)
    finally:
        lines.end()


def ask_here(question: Question) -> Decision | None:
    """What a person says on the terminal; None for later."""
    lines = _Lines(sys.stdin.fileno())
    try:
        return _Prompt(_Held(None), lines, is_shown=True)(question)
    finally:
        lines.end()


class _Held:
    """A listener that can be kept waiting."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._lock = threading.RLock()
        self._kept: list[Event] | None = None

    def __call__(self, event: Event) -> None:
        with self._lock:
            if self._kept is not None:
                self._kept.append(event)
            elif self._listener is not None:
                self._listener(event)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Meanwhile the terminal is left alone."""
        pause, go_on = (getattr(self._listener, name, None) for name in ("pause", "go_on"))
        with self._lock:
            self._kept = []
        if pause is not None:
            pause()
        try:
            yield
        finally:
            if go_on is not None:
                go_on()
            with self._lock:
                kept, self._kept = self._kept, None
                for event in kept:
                    self(event)


class _Lines:
    """Lines from a terminal, until somebody ends it: whoever reads then goes away empty-handed.

    Python's own standard input would hold a lock that the end of the process waits for.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._woken, self._waker = os.pipe()
        self._lock = threading.Lock()
        self._is_reading = False
        self.is_ended = False

    def read(self, prompt: str, *, is_decision: bool = True) -> str | None:
        """What is typed after `prompt`; None at the end of the input. A decision is not taken from earlier keys."""
        import select

        with self._lock:
            if self.is_ended:
                return None
            self._is_reading = True
        try:
            if is_decision:
                _forget_typed_ahead(self._descriptor)
            sys.stderr.write(prompt)
            sys.stderr.flush()
            ready, _, _ = select.select([self._descriptor, self._woken], [], [])
            if self._woken in ready:
                return None
            typed = os.read(self._descriptor, 1 << 16)
            return typed.decode("utf-8", "replace").rstrip("\r\n") if typed else None
        finally:
            with self._lock:
                self._is_reading = False
                if self.is_ended:
                    self._close()

    def end(self) -> None:
        with self._lock:
            self.is_ended = True
            os.write(self._waker, b".")
            if not self._is_reading:
                self._close()

    def _close(self) -> None:
        os.close(self._woken)
        os.close(self._waker)


def _forget_typed_ahead(descriptor: int) -> None:
    """Keys that were hit before the question was there must not answer it."""
    with suppress(ImportError, OSError):
        import termios

        termios.tcflush(descriptor, termios.TCIFLUSH)


class _Prompt:
    """`on_approval` of a run on a terminal."""

    def __init__(self, held: _Held, lines: _Lines, *, is_shown: bool = False) -> None:
        self._held = held
        self._lines = lines
        self._is_shown = is_shown

    def __call__(self, question: Question) -> Decision | None:
        with self._held.waiting():
            if not self._is_shown:
                say(question_text(question, width=terminal_width()))
            decision = self._words(question) if question.kind == "ask_user" else self._approval(question)
            if decision is None and not self._lines.is_ended:
                say("left for later")
            return decision

    def _words(self, question: Question) -> Decision | None:
        from orchestra.runtime.questions import Decision

        answer = self._lines.read("Your answer (empty: later): ")
        if answer is None or not answer.strip():
            return None
        if answer.strip().isdecimal() and 1 <= int(answer) <= len(question.options):
            answer = question.options[int(answer) - 1]
        return Decision("answered", text=answer)

    def _approval(self, question: Question) -> Decision | None:
        from orchestra.runtime.questions import Decision

        edited: dict[str, Any] | None = None
        choices = f"[a]pprove, [r]eject{', [e]dit' if question.editable else ''}, [l]ater: "
        while True:
            choice = self._lines.read(choices)
            match (choice or "l").strip().lower():
                case "a" | "approve":
                    return Decision("approved") if edited is None else Decision("edited", edited)
                case "r" | "reject":
                    reason = self._lines.read("Why (empty: no reason): ", is_decision=False)
                    return None if reason is None else Decision("rejected", reason=reason.strip())
                case "e" | "edit" if question.editable:
                    edited = self._edited(question, edited)
                    say(question_text(question, width=terminal_width(), edited=edited))
                case "l" | "later":
                    return None
                case _:
                    say("that is none of these")

    def _edited(self, question: Question, edited: dict[str, Any] | None) -> dict[str, Any] | None:
        """What was shown, as the person wants it; as it was when he leaves it, or what he wrote cannot be used."""
        from orchestra.runtime.questions import Decision, checked_decision

        current = dict(question.shown if edited is None else edited)
        for key in question.editable or ():
            try:
                current[key] = self._edited_value(key, current[key])
                checked = checked_decision(question, Decision("edited", current))
            except (ValueError, InputInvalid, click.ClickException) as error:
                say(f"this cannot be used: {error.what if isinstance(error, InputInvalid) else error}")
                return edited
            current = dict(checked.edited or current)
        return None if current == question.shown else current

    def _edited_value(self, key: str, value: Any) -> Any:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
            written = click.edit(text, extension=".txt" if isinstance(value, str) else ".json")
            written = None if written is None else written.removesuffix("\n")
        else:
            say("\n".join(barred(f"{key}: {text}", terminal_width())))
            written = self._lines.read("Instead (empty: as it is): ", is_decision=False) or None
        if written is None:
            return value
        return written if isinstance(value, str) else json.loads(written)


def terminal_width() -> int:
    return shutil.get_terminal_size().columns
