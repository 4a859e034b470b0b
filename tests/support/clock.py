"""A clock that tests move by hand."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.support.build import MARCH


class Clock:
    """Record time for a ledger under test: stands still until it is moved."""

    def __init__(self, now: datetime = MARCH) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        """Moves on."""
        self.now += timedelta(seconds=seconds)
