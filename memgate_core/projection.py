"""What an adapter implements to carry ledger events into its framework, and the delivery loop.

Delivery is at least once. Every event carries ids from which native ids are derived, so a second
delivery overwrites the first instead of adding to it. A promotion becomes readable only when the
framework acknowledged its native write (design.md section 3, step 10).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Event, Model, NativeLink, Subject

_log = logging.getLogger(__name__)


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
        named too."""
        ...


class DeliveryReport(Model):
    """What one delivery run did."""

    projection: str
    delivered: int = 0
    failed: int = 0
    parked: int = 0
    errors: tuple[str, ...] = ()


def deliver(
    ledger: Ledger, projection: Projection, *, subject: Subject | None = None, limit: int = 10_000
) -> DeliveryReport:
    """Delivers what is due until nothing is, or `limit` events went. Never raises for a store's
    fault: it is recorded with backoff and reported."""
    delivered = failed = 0
    errors: list[str] = []
    while delivered + failed < limit:
        batch = ledger.due(projection.name, subject=subject, limit=min(100, limit))
        if not batch:
            break
        for delivery in batch:
            try:
                links = projection.apply(delivery.event)
            except Exception as fault:
                text = f"{type(fault).__name__} at event {delivery.event.seq}"
                _log.warning("projection %s: %s", projection.name, text)
                ledger.fail(delivery, text)
                failed += 1
                errors.append(text)
                break  # the rest of the batch may depend on it: ask the ledger again
            ledger.acknowledge(delivery, links)
            delivered += 1
    return DeliveryReport(
        projection=projection.name,
        delivered=delivered,
        failed=failed,
        parked=len(ledger.parked(projection.name)),
        errors=tuple(errors),
    )
