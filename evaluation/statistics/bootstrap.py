"""Resampling whole clusters: intervals for paired differences and for scores without a formula."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

ROUNDS = 10_000
_SEED = 20_261_007
T = TypeVar("T")


class Difference(BaseModel):
    """A paired difference of two rates, in points between -1 and 1, with a 95 % interval."""

    model_config = ConfigDict(frozen=True)

    difference: float
    low: float
    high: float
    n: int
    better: int
    """Pairs in which the first did what the second did not."""
    worse: int

    def __str__(self) -> str:
        points = (100 * self.difference, 100 * self.low, 100 * self.high)
        body = "{:+.1f} [{:+.1f}, {:+.1f}]".format(*points)
        return f"{body} n={self.n}"


def paired_difference(
    pairs: Iterable[tuple[Hashable, bool, bool]], *, rounds: int = ROUNDS
) -> Difference | None:
    """First rate minus second over pairs (cluster, first, second), resampling clusters.

    The paper clusters by conversation. None when there are no pairs.
    """
    seen = list(pairs)
    if not seen:
        return None
    gains, sizes = _by_cluster(seen)
    picks = np.random.default_rng(_SEED).integers(0, len(sizes), size=(rounds, len(sizes)))
    drawn = gains[picks].sum(axis=1) / sizes[picks].sum(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Difference(
        difference=float(gains.sum() / sizes.sum()),
        low=float(low),
        high=float(high),
        n=len(seen),
        better=sum(first and not second for _, first, second in seen),
        worse=sum(second and not first for _, first, second in seen),
    )


def _by_cluster(
    pairs: Sequence[tuple[Hashable, bool, bool]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    names = {name: at for at, name in enumerate(dict.fromkeys(pair[0] for pair in pairs))}
    gains, sizes = np.zeros(len(names)), np.zeros(len(names))
    for name, first, second in pairs:
        gains[names[name]] += float(first) - float(second)
        sizes[names[name]] += 1
    return gains, sizes


def interval(
    items: Sequence[T], score: Callable[[Sequence[T]], float | None], *, rounds: int = 1000
) -> tuple[float, float] | None:
    """A 95 % percentile interval of a score over resampled items; None where it has no value."""
    if not items:
        return None
    source = np.random.default_rng(_SEED)
    scores = []
    for _ in range(rounds):
        picked = [items[at] for at in source.integers(0, len(items), size=len(items))]
        if (value := score(picked)) is not None:
            scores.append(value)
    if not scores:
        return None
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)
