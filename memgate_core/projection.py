"""What an adapter implements to carry ledger events into its framework, and the delivery loop.

Delivery is at least once. Every event carries ids from which native ids are derived, so a second
delivery overwrites the first instead of adding to it. A promotion becomes readable only when the
framework acknowledged its native write (step 10 of a turn).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memgate_core import telemetry
from memgate_core.ledger.protocol import Delivery, Ledger
from memgate_core.model import Event, EventType, Model, NativeLink, Subject
from memgate_core.tripwires import count_duplicates, trip_on_crossing, trip_on_residue

_log = logging.getLogger(__name__)


OUTSIDE_READS = ("history", "raw messages")
"""How the names of places begin that no read path of a framework shows."""


class Projection(Protocol):
    """One framework's store, as the ledger sees it."""

    name: str
    """Stable name, e.g. "mem0:memories"; the outbox cursor hangs on it."""

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Carries one event natively and returns what it wrote. Idempotent.

        Raises:
            Exception: anything the framework raises; the event stays due.
        """
        ...

    def residue(self, needle: Event) -> Sequence[str]:
        """After REVOKED, CORRECTED or ERASED: where traces are still found, in words; empty when
        clean. Places the framework keeps outside its stores (history tables, raw messages) are
        named too, and their names begin with one of `OUTSIDE_READS`."""
        ...


def is_outside_reads(place: str) -> bool:
    """True for residue in a place that no read of the framework can reach."""
    return place.startswith(OUTSIDE_READS)


class DeliveryReport(Model):
    """What one delivery run did."""

    projection: str
    delivered: int = 0
    failed: int = 0
    parked: int = 0
    errors: tuple[str, ...] = ()
    residue: tuple[str, ...] = ()
    """Where traces of what this run took away are still found; outside reads too."""


def deliver(
    ledger: Ledger, projection: Projection, *, subject: Subject | None = None, limit: int = 10_000
) -> DeliveryReport:
    """Delivers what is due until nothing is, or `limit` events went. Never raises for a store's
    fault: it is recorded with backoff and reported.

    After a revocation or erasure the framework is searched for traces; one that a read can reach
    stops all commits, and so does a write that landed in another subject's object.
    """
    with telemetry.span("memgate.deliver"):
        report = _deliver(_Run(ledger, projection), subject, limit)
    telemetry.delivered(report)
    return report


def _deliver(run: _Run, subject: Subject | None, limit: int) -> DeliveryReport:
    while run.delivered + run.failed < limit:
        batch = run.ledger.due(run.projection.name, subject=subject, limit=min(100, limit))
        if not batch:
            break
        with run.ledger.keeping(batch) as kept:
            for delivery in kept:
                if not run.carry(delivery):
                    break  # the rest of the batch may depend on it: ask the ledger again
    return run.report()


@dataclass
class _Run:
    """One delivery run on one projection."""

    ledger: Ledger
    projection: Projection
    delivered: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list)
    taken_away: list[Event] = field(default_factory=list)

    def carry(self, delivery: Delivery) -> bool:
        """Carries one event; False when the store did not take it."""
        event = delivery.event
        try:
            links = self.projection.apply(event)
        except Exception as fault:
            return self._fail(delivery, f"{type(fault).__name__} at event {event.seq}")
        if trip_on_crossing(self.ledger, event.subject, links):
            return self._fail(delivery, f"cross-tenant write at event {event.seq}")
        count_duplicates(self.ledger, event, links)
        self.ledger.acknowledge(delivery, links)
        self.delivered += 1
        if event.event_type in (EventType.REVOKED, EventType.ERASED):
            self.taken_away.append(event)
        return True

    def report(self) -> DeliveryReport:
        """What was done, and what is left of what was taken away.

        A trace is looked for once all of it went: one native object may carry several facts.
        """
        name = self.projection.name
        residue: list[str] = []
        if not self.failed:
            residue = [p for event in self.taken_away for p in self.projection.residue(event)]
            trip_on_residue(self.ledger, name, [p for p in residue if not is_outside_reads(p)])
        return DeliveryReport(
            projection=name,
            delivered=self.delivered,
            failed=self.failed,
            parked=len(self.ledger.parked(name)),
            errors=tuple(self.errors),
            residue=tuple(dict.fromkeys(residue)),
        )

    def _fail(self, delivery: Delivery, error: str) -> bool:
        _log.warning("projection %s: %s", self.projection.name, error)
        self.ledger.fail(delivery, error)
        self.failed += 1
        self.errors.append(error)
        return False
