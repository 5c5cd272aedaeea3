"""The text of a reply as it arrives."""

from __future__ import annotations

from collections.abc import Callable

from orchestra.models.json_text import without_lone_surrogates

_OPEN, _CLOSE = "<think>", "</think>"


class ListenerRaised(Exception):
    """Whoever hears the text raised `error`: nothing is wrong with the reply."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class TextSink:
    """Collects deltas and hands each on. A character that was sent in two halves is handed on whole."""

    __slots__ = ("_held", "_on_delta", "_parts")

    def __init__(self, on_delta: Callable[[str], None] | None) -> None:
        self._on_delta = on_delta
        self._parts: list[str] = []
        self._held = ""

    def add(self, delta: str) -> None:
        if self._held:
            delta, self._held = self._held + delta, ""
        if not delta.isascii():
            if "\ud800" <= delta[-1] <= "\udbff":
                delta, self._held = delta[:-1], delta[-1]
            delta = without_lone_surrogates(delta)
        self._hand_on(delta)

    def finish(self) -> str:
        """The whole text, after the last delta."""
        if self._held:
            self._hand_on("\ufffd")
            self._held = ""
        return "".join(self._parts)

    def _hand_on(self, text: str) -> None:
        if not text:
            return
        self._parts.append(text)
        if self._on_delta is not None:
            try:
                self._on_delta(text)
            except Exception as error:
                raise ListenerRaised(error) from error


class AnswerSink(TextSink):
    """A sink that leaves out a leading `<think>...</think>`, which some servers send as part of the text."""

    __slots__ = ("_is_decided", "_pending")

    def __init__(self, on_delta: Callable[[str], None] | None) -> None:
        super().__init__(on_delta)
        self._pending = ""
        self._is_decided = False

    def add(self, delta: str) -> None:
        if self._is_decided:
            return super().add(delta)
        self._pending += delta
        start = self._pending.lstrip()
        if start.startswith(_OPEN):
            _, closed, rest = start.partition(_CLOSE)
            if closed:
                self._decide(rest.lstrip())
        elif not _OPEN.startswith(start):
            self._decide(self._pending)
        return None

    def finish(self) -> str:
        if not self._is_decided and not self._pending.lstrip().startswith(_OPEN):
            self._decide(self._pending)
        return super().finish()

    def _decide(self, text: str) -> None:
        self._is_decided = True
        self._pending = ""
        if text:
            super().add(text)
