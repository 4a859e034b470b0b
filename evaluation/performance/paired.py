"""Gated against ungated: both do the same in turns, so that a busy machine slows both alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evaluation.performance.measured import Measured, median, times

WARM = 4
"""First rounds that load models and make tables; they are not counted."""

Pair = tuple[Callable[[], object], Callable[[], object]]
"""The same call ungated and gated."""


@dataclass(frozen=True)
class Paired:
    """Milliseconds of each call."""

    plain: list[float]
    gated: list[float]

    def ratio(self, part: str, name: str, *, target: float | None = None) -> Measured:
        """How many times longer the gated call takes."""
        plain, gated = median(self.plain), median(self.gated)
        return Measured(
            part=part,
            name=name,
            value=gated / plain,
            unit="×",
            target=target,
            note=f"{gated:.1f} ms against {plain:.1f} ms",
        )


def paired(calls: Iterable[Pair], *, between: Callable[[], object] = lambda: None) -> Paired:
    """Times each pair, ungated first. `between` is called untimed after every call."""
    plain: list[float] = []
    gated: list[float] = []
    for alone, behind in calls:
        plain += times([alone])
        between()
        gated += times([behind])
        between()
    return Paired(plain[WARM:], gated[WARM:])
