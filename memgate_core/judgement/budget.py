"""How many model calls a turn and a minute may cost."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from time import monotonic

from memgate_core.errors import ConfigurationError, ModelFaultError

_MINUTE = 60.0


class BudgetSpentError(ModelFaultError):
    """No call is left. The words that it was for are held, as after any other fault."""


class Budget:
    """Admits model calls. One budget serves all turns of a process; safe between threads."""

    def __init__(
        self,
        *,
        per_turn: int = 2,
        per_minute: int | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if per_turn < 0 or (per_minute is not None and per_minute < 0):
            raise ConfigurationError("a budget of model calls cannot be negative")
        self.per_turn, self.per_minute = per_turn, per_minute
        self._clock = clock
        self._recent: deque[float] = deque()
        self._lock = threading.Lock()

    def admit(self, calls_of_turn: int) -> None:
        """Takes one call out of the budget, for a turn that already made `calls_of_turn`.

        Raises:
            BudgetSpentError: this turn, or the last minute, has none left.
        """
        if calls_of_turn >= self.per_turn:
            raise BudgetSpentError(f"model budget: {self.per_turn} calls a turn are spent")
        if self.per_minute is None:
            return
        with self._lock:
            now = self._clock()
            while self._recent and now - self._recent[0] >= _MINUTE:
                self._recent.popleft()
            if len(self._recent) >= self.per_minute:
                raise BudgetSpentError(f"model budget: {self.per_minute} calls a minute are spent")
            self._recent.append(now)
