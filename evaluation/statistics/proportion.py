"""A share of cases with its 95 % Wilson score interval, as the paper reports them."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Self

from pydantic import BaseModel, ConfigDict, computed_field

Z95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


class Proportion(BaseModel):
    """`successes` of `n`; with n = 0 there is no rate and no interval."""

    model_config = ConfigDict(frozen=True)

    successes: int
    n: int

    @classmethod
    def of(cls, outcomes: Iterable[bool]) -> Self:
        """Counts outcomes."""
        seen = list(outcomes)
        return cls(successes=sum(seen), n=len(seen))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rate(self) -> float | None:
        """Between 0 and 1."""
        return self.successes / self.n if self.n else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval, between 0 and 1; never empty, also at 0 of n and n of n."""
        if not self.n:
            return None
        rate = self.successes / self.n
        spread = Z95 * sqrt(rate * (1 - rate) / self.n + Z95**2 / (4 * self.n**2))
        centre, scale = rate + Z95**2 / (2 * self.n), 1 + Z95**2 / self.n
        low, high = max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
        # In exact arithmetic 0 of n begins at 0 and n of n ends at 1.
        return (
            0.0 if self.successes == 0 else low,
            1.0 if self.successes == self.n else high,
        )

    def __str__(self) -> str:
        if self.rate is None or self.interval is None:
            return "–"
        low, high = (f"{100 * edge:.1f}" for edge in self.interval)
        return f"{percent(self.rate)} [{low}, {high}] n={self.n}"


def percent(rate: float) -> str:
    """A rate as a person reads it: 0%, 87.5%, 100%."""
    text = f"{rate:.1%}"
    return text.replace(".0%", "%") if text in ("0.0%", "100.0%") else text
