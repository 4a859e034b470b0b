"""One figure with its unit and its target, and how a time is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict


class Measured(BaseModel):
    """One figure. `target` is an upper bound, unless `at_least`; None where there is none."""

    model_config = ConfigDict(frozen=True)

    part: str
    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self) -> Literal["met", "missed", ""]:
        """Against the target."""
        if self.target is None:
            return ""
        met = self.value >= self.target if self.at_least else self.value <= self.target
        return "met" if met else "missed"


class Series(BaseModel):
    """A figure over sizes: what must stay flat."""

    name: str
    unit: str
    sizes: list[int]
    values: list[float]


def times(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Milliseconds of each call, one after another."""
    taken = []
    for call in calls:
        started = perf_counter()
        call()
        taken.append((perf_counter() - started) * 1000)
    return taken


def percentile(values: Sequence[float], share: float) -> float:
    """A percentile, `share` between 0 and 100."""
    return float(np.percentile(values, share))


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return percentile(values, 50)
