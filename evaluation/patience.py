"""How long a model that fails is asked on: each question twice, and not for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from memgate_core.errors import ModelFaultError

T = TypeVar("T")

_TOO_MANY = 3
"""Questions in a row on which a model fails, each asked twice, before it is given up."""


@dataclass(frozen=True)
class Said(Generic[T]):
    """What a model said, so that an answer of None is told from no answer."""

    word: T


class Patience:
    """Puts questions to one model and remembers how many it failed on in a row."""

    def __init__(self) -> None:
        self._failing = 0

    def ask(self, question: Callable[[], T]) -> Said[T] | None:
        """What the model says, at the second asking if need be; None where it failed twice.

        Raises:
            ModelFaultError: the last of several failures in a row.
        """
        try:
            said = _twice(question)
        except ModelFaultError:
            self._failing += 1
            if self._failing >= _TOO_MANY:
                raise
            return None
        self._failing = 0
        return Said(said)


def _twice(question: Callable[[], T]) -> T:
    try:
        return question()
    except ModelFaultError:
        return question()
