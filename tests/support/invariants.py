"""What must hold of a ledger at every moment, whatever happened to it."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FactStatus,
    FieldKey,
    StagedStatus,
    Subject,
)

WRITES = (EventType.COMMITTED, EventType.PROMOTED)


def check(ledger: SqlLedger) -> None:
    """Fails with what does not hold."""
    events = _all_events(ledger)
    for subject in ledger.subjects():
        facts = list(ledger.facts(subject, include_closed=True, include_pending_native=True))
        for of_key in _by_key(facts).values():
            _check_key(of_key)
        _check_facts_have_events(subject, facts, events)
        _check_held(ledger, subject, events)


def _all_events(ledger: SqlLedger) -> list[Event]:
    events: list[Event] = []
    while page := ledger.events(after=events[-1].seq if events else 0):
        events += page
    return events


def _by_key(facts: list[Fact]) -> dict[FieldKey, list[Fact]]:
    keys: defaultdict[FieldKey, list[Fact]] = defaultdict(list)
    for fact in facts:
        keys[fact.key].append(fact)
    return keys


def _check_key(facts: list[Fact]) -> None:
    versions = sorted(fact.version for fact in facts)
    assert versions == list(range(1, len(facts) + 1)), f"versions of a key: {versions}"
    current = [fact.fact_id for fact in facts if fact.status is FactStatus.CURRENT]
    assert len(current) <= 1, f"two current facts on a key: {current}"
    held = [f for f in facts if f.status in (FactStatus.CURRENT, FactStatus.SUPERSEDED)]
    for earlier, later in pairwise(sorted(held, key=lambda fact: fact.version)):
        ends = earlier.valid_to
        assert ends is not None, f"{earlier.memory_id} was superseded and never ended"
        assert ends <= later.valid_from, "intervals overlap"


def _check_facts_have_events(subject: Subject, facts: list[Fact], events: list[Event]) -> None:
    told = [
        event.fact.memory_id
        for event in events
        if event.subject == subject and event.event_type in WRITES and event.fact
    ]
    assert sorted(told) == sorted(fact.memory_id for fact in facts), "facts and events disagree"


def _check_held(ledger: SqlLedger, subject: Subject, events: list[Event]) -> None:
    items = ledger.staged(subject, status=None)
    told = [
        event.staged.staged_id
        for event in events
        if event.subject == subject and event.event_type is EventType.STAGED and event.staged
    ]
    assert sorted(told) == sorted(item.staged_id for item in items), "items and events disagree"
    pending = [item for item in items if item.status is StagedStatus.PENDING]
    assert ledger.pending_count(subject) == len(pending), "the count of pending items is off"
    readable = {fact.fact_id for fact in ledger.facts(subject)}
    for item in items:
        fact = ledger.fact(item.fact_id) if item.fact_id else None
        if item.status is StagedStatus.PROMOTING:
            assert item.fact_id not in readable, "a promotion is readable before its native write"
        if item.status is StagedStatus.PROMOTED:
            assert fact is not None, "promoted to nothing"
            assert fact.native, "promoted and not readable"
