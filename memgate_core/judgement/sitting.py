"""One turn before the judges: what it cost in model calls, and what a model already answered.

A sitting is opened by whoever takes a turn through several judges. Judges find it by themselves
(a context variable), so that their protocols say nothing of models, and a judge asked outside any
sitting has one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Sitting:
    """The running account of one turn. Used by one thread at a time."""

    calls: int = 0
    """Questions put to a model, answered or not. Retries inside a model's client are not seen."""
    tokens_in: int = 0
    tokens_out: int = 0
    ms: float = 0.0
    """Time spent waiting for models, in milliseconds."""
    faults: list[str] = field(default_factory=list)
    """What went wrong, in words without any of the user's."""
    _kept: dict[Hashable, object] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Tokens read and written, as far as the models report them."""
        return self.tokens_in + self.tokens_out

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was kept under this key; made and kept at the first asking."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value]

    def keep(self, key: Hashable, value: object) -> None:
        """Keeps a value for the rest of the turn."""
        self._kept[key] = value

    def kept(self, key: Hashable) -> object | None:
        """What was kept under this key, or None."""
        return self._kept.get(key)

    def fault(self, reason: str) -> None:
        """Notes a fault once."""
        if reason not in self.faults:
            self.faults.append(reason)


_CURRENT: ContextVar[Sitting | None] = ContextVar("memgate_sitting", default=None)


@contextmanager
def sitting() -> Iterator[Sitting]:
    """The open sitting, or a new one for the length of the block."""
    current = _CURRENT.get()
    if current is not None:
        yield current
        return
    opened = Sitting()
    token = _CURRENT.set(opened)
    try:
        yield opened
    finally:
        _CURRENT.reset(token)
