"""When a held item has waited long enough: the review policy (EXPIRED is never set without one)."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import Field

from memgate_core.model import Model, StagedItem


class ReviewPolicy(Model):
    """Ages at which a held item expires, in days; None: it waits for ever."""

    unheard_days: int | None = Field(default=None, ge=1)
    """Since the plan was last stated (world time)."""
    overdue_days: int | None = Field(default=None, ge=0)
    """Since the day that the words themselves named ("on 3 May")."""

    @property
    def name(self) -> str:
        """How the policy is named in the record."""
        parts = [
            f"{self.unheard_days} days unheard of" if self.unheard_days is not None else "",
            f"{self.overdue_days} days overdue" if self.overdue_days is not None else "",
        ]
        return f"policy:{' or '.join(part for part in parts if part) or 'none'}"

    def reason(self, item: StagedItem, now: datetime) -> str | None:
        """Why the item expires at `now` (aware), or None while it may wait."""
        if item.expires_at is not None and item.expires_at <= now:
            return f"what it would say ended {item.expires_at:%Y-%m-%d}"
        if _passed(item.review_at, self.overdue_days, now):
            return f"its day passed {self.overdue_days} days ago, and nothing was heard"
        if _passed(item.last_stated_at, self.unheard_days, now):
            return f"nothing was heard of it for {self.unheard_days} days"
        return None


def _passed(since: datetime | None, days: int | None, now: datetime) -> bool:
    return since is not None and days is not None and since + timedelta(days=days) <= now
