"""Ledgers on every backend, for suites that must hold on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import EventType, Fact, FactStatus, StagedItem, StagedStatus
from tests.support import postgres
from tests.support.build import day

FILE, MEMORY, POSTGRES = "sqlite-file", "sqlite-memory", "postgresql"

EVERY_BACKEND = [FILE, MEMORY, pytest.param(POSTGRES, marks=pytest.mark.postgres)]
SHARED_BACKENDS = [FILE, pytest.param(POSTGRES, marks=pytest.mark.postgres)]
"""Those that several processes can open at once."""


def fresh_url(backend: str, folder: Path) -> str:
    """The url of a new, empty ledger."""
    if backend == POSTGRES:
        return postgres.fresh_database()
    return "sqlite://" if backend == MEMORY else f"sqlite:///{folder}/ledger.db"


def empty_url(backend: str, folder: Path) -> str:
    """As `fresh_url`, where a test may share a database with those before it."""
    return postgres.emptied_database() if backend == POSTGRES else fresh_url(backend, folder)


@contextmanager
def opened(url: str, **options: Any) -> Iterator[SqlLedger]:
    """A ledger that is closed at the end."""
    ledger = open_ledger(url, **options)
    try:
        yield ledger
    finally:
        ledger.close()


def commit(ledger: SqlLedger, fact: Fact, event: EventType | None = EventType.COMMITTED) -> Fact:
    """Commits a fact as the gate does: under the key's lock, superseding what is current."""
    with ledger.write(fact.key.subject) as tx:
        state = tx.lock([fact.key])[fact.key]
        if state.current is not None:
            fact = fact.model_copy(update={"supersedes": state.current.fact_id})
        written = tx.commit_fact(fact, expected_version=state.version)
        if state.current is not None:
            tx.close_fact(ended(state.current, fact))
        if event is not None:
            tx.append(event, occurred_at=fact.valid_from, fact=written)
    return written


def ended(fact: Fact, by: Fact, status: FactStatus = FactStatus.SUPERSEDED) -> Fact:
    """The fact, closed where its successor begins."""
    ends = {"status": status, "valid_to": by.valid_from, "closed_at": by.recorded_at}
    return fact.model_copy(update=ends)


def hold(ledger: SqlLedger, item: StagedItem) -> StagedItem:
    """Stages an item with its event."""
    with ledger.write(item.key.subject) as tx:
        tx.stage(item)
        tx.append(EventType.STAGED, occurred_at=item.created_at, staged=item)
    return item


def promote(ledger: SqlLedger, item: StagedItem, fact: Fact) -> Fact:
    """Turns a held item into a fact that waits for its native write."""
    with ledger.write(item.key.subject) as tx:
        state = tx.lock([fact.key])[fact.key]
        former = state.current
        update = {"native": False, "supersedes": former.fact_id if former else None}
        written = tx.commit_fact(fact.model_copy(update=update), expected_version=state.version)
        moved = moved_to(item, StagedStatus.PROMOTING, fact_id=written.fact_id)
        tx.update_staged(moved, expected=StagedStatus.PENDING)
        tx.append(EventType.PROMOTED, occurred_at=fact.valid_from, staged=moved, fact=written)
        if former is not None:
            closed = ended(former, fact)
            tx.close_fact(closed)
            tx.append(EventType.SUPERSEDED, occurred_at=fact.valid_from, fact=closed)
    return written


def moved_to(item: StagedItem, status: StagedStatus, **update: Any) -> StagedItem:
    """The item in another status."""
    return item.model_copy(update={"status": status, **update})


def discard(ledger: SqlLedger, item: StagedItem) -> StagedItem:
    """Discards a pending item."""
    moved = moved_to(item, StagedStatus.DISCARDED, resolved_at=day(5))
    with ledger.write(item.key.subject) as tx:
        tx.update_staged(moved, expected=StagedStatus.PENDING)
        tx.append(EventType.DISCARDED, occurred_at=day(5), staged=moved)
    return moved


def deliver_all(
    ledger: SqlLedger, projection: str, apply: Callable[[Any], Any] = lambda _: ()
) -> list[EventType]:
    """Delivers what is due; returns the types of what went, in order."""
    went = []
    while batch := ledger.due(projection):
        for delivery in batch:
            ledger.acknowledge(delivery, apply(delivery.event))
            went.append(delivery.event.event_type)
    return went
