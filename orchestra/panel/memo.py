"""Values that take time, made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """The values of the keys that were asked for last. Thread-safe.

    Who asks for a value that is being made waits for it, and nobody else does. What fails is tried again next time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[K, V] = OrderedDict()
        self._makers: dict[K, threading.Lock] = {}

    def value(self, key: K, make: Callable[[], V]) -> V:
        """Raises what `make` does."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            maker = self._makers.setdefault(key, threading.Lock())
        with maker:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                made = make()
            finally:
                with self._lock:
                    self._makers.pop(key, None)
            with self._lock:
                self._values[key] = made
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            return made
