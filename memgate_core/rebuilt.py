"""What a rebuild of a framework's store wrote: the same report for every adapter.

Rebuilding itself is each adapter's own: it takes out what the gate owns in the store and writes
the ledger's state anew.
"""

from __future__ import annotations

from memgate_core.model import Event, EventType, Model, StagedItem, Subject


class RebuildReport(Model):
    """What a rebuild wrote."""

    projection: str
    subjects: int = 0
    removed: int = 0
    """Native objects that were taken out first."""
    current: int = 0
    closed: int = 0
    """Facts that have ended; 0 where a store keeps none."""
    staged: int = 0
    """Held items; 0 where a store keeps none."""

    def plus(
        self, *, removed: int = 0, current: int = 0, closed: int = 0, staged: int = 0
    ) -> RebuildReport:
        """The report with one more subject's counts."""
        return self.model_copy(
            update={
                "removed": self.removed + removed,
                "current": self.current + current,
                "closed": self.closed + closed,
                "staged": self.staged + staged,
            }
        )


def as_staged(subject: Subject, item: StagedItem) -> Event:
    """A held item as the event that a projection writes it from. It stands in no outbox."""
    return Event(
        seq=0,
        event_type=EventType.STAGED,
        subject=subject,
        occurred_at=item.created_at,
        recorded_at=item.last_stated_at,
        staged=item,
        session=item.session,
    )
