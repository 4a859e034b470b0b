"""The baselines' profile store: one field, its current value and its past, with no gate before it.

Ungated, every matched tuple becomes the current value. Plan-typed (paper A.1), speculation is
written too, but marked as a plan and hidden from reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from evaluation.plans.setting import Reading
from memgate_core.fields.values import same_value


@dataclass
class Entry:
    """One value that was written."""

    value: str
    valid_from: datetime
    plan: bool = False


@dataclass
class ProfileStore:
    """Values of one field in the order they were written."""

    reading: Reading = "refresh"
    entries: list[Entry] = field(default_factory=list)

    def write(self, value: str, at: datetime, *, plan: bool = False) -> None:
        """Writes a value. What equals the latest entry refreshes that entry: a fact turns a plan
        into a fact under the `refresh` reading, and leaves it masked under the `strict` one."""
        latest = self.entries[-1] if self.entries else None
        if latest is None or not same_value(latest.value, value):
            self.entries.append(Entry(value, at, plan))
        elif latest.plan and not plan and self.reading == "refresh":
            self.entries[-1] = Entry(value, at)

    def current(self) -> Entry | None:
        """The most recent value that is not masked as a plan."""
        return next((entry for entry in reversed(self.entries) if not entry.plan), None)

    def masked(self) -> list[str]:
        """Plans that still stand where the current value would."""
        return [self.entries[-1].value] if self.entries and self.entries[-1].plan else []
