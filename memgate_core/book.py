"""The writing hand of one turn's transaction: facts, closings and events, under locked keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from memgate_core.ledger.protocol import KeyState, LedgerTransaction
from memgate_core.model import (
    EventType,
    Fact,
    FactStatus,
    FieldKey,
    StagedItem,
    StagedStatus,
    Turn,
    sha256_of,
)


@dataclass
class Book:
    """What one turn writes. Every method appends the event that projections need."""

    tx: LedgerTransaction
    turn: Turn
    recorded_at: datetime
    policy_version: str
    states: dict[FieldKey, KeyState] = field(default_factory=dict)

    def lock(self, keys: Iterable[FieldKey]) -> None:
        """Locks keys in the ledger's own fixed order and reads what hangs on them."""
        self.states.update(self.tx.lock(keys))

    def state(self, key: FieldKey) -> KeyState:
        """What hangs on a key now, this turn's own writes included."""
        if key not in self.states:
            self.lock([key])
        return self.states[key]

    def commit(self, fact: Fact) -> Fact:
        """Writes the next version of a key.

        Raises:
            NotAllowedError: the key moved on (CAS); cannot happen while its lock is held.
        """
        expected = self.state(fact.key).version
        written = self.tx.commit_fact(fact, expected_version=expected)
        self.states[fact.key] = KeyState(key=fact.key, current=written, version=written.version)
        return written

    def close(self, fact: Fact, at: datetime, status: FactStatus) -> None:
        """Ends a fact's interval, or marks it as never valid."""
        closed = fact.model_copy(
            update={"status": status, "valid_to": at, "closed_at": self.recorded_at}
        )
        self.tx.close_fact(closed)
        state = self.state(fact.key)
        if state.current is not None and state.current.fact_id == fact.fact_id:
            self.states[fact.key] = state.model_copy(update={"current": None})
        corrected = status is FactStatus.NEVER_VALID
        self.event(EventType.CORRECTED if corrected else EventType.SUPERSEDED, fact=closed)

    def pending(self, item: StagedItem) -> StagedItem | None:
        """The item as it is now, if nobody settled it yet."""
        fresh = self.tx.staged(item.staged_id)
        return fresh if fresh is not None and fresh.status is StagedStatus.PENDING else None

    def move(self, item: StagedItem) -> None:
        """Replaces a pending item by what it became."""
        self.tx.update_staged(item, expected=StagedStatus.PENDING)

    def event(
        self, event_type: EventType, *, staged: StagedItem | None = None, fact: Fact | None = None
    ) -> None:
        """Appends an event for the projections."""
        self.tx.append(
            event_type,
            occurred_at=self.turn.occurred_at,
            staged=staged,
            fact=fact,
            session=self.turn.session,
            policy_version=self.policy_version,
        )

    def event_key(self, key: FieldKey, words: str) -> FieldKey:
        """An open key made particular: two events of one kind stand beside each other."""
        suffix = f"@{self.turn.occurred_at:%Y-%m-%d}#{sha256_of(words.casefold())[:8]}"
        return key.model_copy(update={"normalized_key": key.normalized_key + suffix})


def not_before(begins: datetime, current: Fact | None) -> datetime:
    """A new interval never begins before the one it ends."""
    return begins if current is None else max(begins, current.valid_from)
