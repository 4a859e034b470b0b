"""The writing hand of one turn's transaction: facts, closings and events, under locked keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from memgate_core.ledger.protocol import KeyState, LedgerTransaction
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FactStatus,
    FieldKey,
    StagedItem,
    StagedStatus,
    Turn,
    sha256_of,
)

_EVENT_OF = {
    FactStatus.SUPERSEDED: EventType.SUPERSEDED,
    FactStatus.NEVER_VALID: EventType.CORRECTED,
    FactStatus.REVOKED: EventType.REVOKED,
}


@dataclass
class Book:
    """What one turn writes. Every method appends the event that projections need."""

    tx: LedgerTransaction
    turn: Turn
    recorded_at: datetime
    policy_version: str
    states: dict[FieldKey, KeyState] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    acts: bool = True
    """False where decisions are recorded only: then nothing ends by itself either."""

    def lock(self, keys: Iterable[FieldKey]) -> None:
        """Locks keys in the ledger's own fixed order and reads what hangs on them."""
        for key, state in self.tx.lock(keys).items():
            self.states[key] = state
            self._end_if_expired(state.current)

    def state(self, key: FieldKey) -> KeyState:
        """What hangs on a key now, this turn's own writes included."""
        if key not in self.states:
            self.lock([key])
        return self.states[key]

    def commit(self, fact: Fact) -> Fact:
        """Writes the next version of a key; it never begins before what held there has ended.

        Raises:
            NotAllowedError: the key moved on (CAS); cannot happen while its lock is held.
        """
        state = self.state(fact.key)
        if state.ended is not None and fact.valid_from < state.ended:
            fact = fact.model_copy(update={"valid_from": state.ended})
        written = self.tx.commit_fact(fact, expected_version=state.version)
        self.states[fact.key] = KeyState(key=fact.key, current=written, version=written.version)
        return written

    def close(self, fact: Fact, at: datetime, status: FactStatus) -> None:
        """Ends a fact's interval, or marks it as never valid or revoked."""
        closed = fact.model_copy(
            update={"status": status, "valid_to": at, "closed_at": self.recorded_at}
        )
        self.tx.close_fact(closed)
        state = self.state(fact.key)
        if state.current is not None and state.current.fact_id == fact.fact_id:
            ended = at if status is FactStatus.SUPERSEDED else fact.valid_from
            self.states[fact.key] = state.model_copy(update={"current": None, "ended": ended})
        self.event(_EVENT_OF[status], fact=closed)

    def reopen(self, fact: Fact, *, like: Fact) -> None:
        """Lets a closed fact hold again, as long as `like` did, which was taken back."""
        again = fact.model_copy(
            update={"status": like.status, "valid_to": like.valid_to, "closed_at": like.closed_at}
        )
        self.tx.close_fact(again)
        if again.status is not FactStatus.CURRENT:
            self.event(EventType.SUPERSEDED, fact=again)
            return
        state = self.state(again.key)
        self.states[again.key] = state.model_copy(update={"current": again, "ended": None})
        self.event(EventType.PROMOTED, fact=again)

    def _end_if_expired(self, fact: Fact | None) -> None:
        """A value whose time is up is no current value for this turn."""
        if not self.acts or fact is None or fact.expires_at is None:
            return
        if fact.expires_at <= self.turn.occurred_at:
            self.close(fact, max(fact.expires_at, fact.valid_from), FactStatus.SUPERSEDED)

    def pending(self, item: StagedItem) -> StagedItem | None:
        """The item as it is now, if nobody settled it yet."""
        fresh = self.tx.staged(item.staged_id)
        return fresh if fresh is not None and fresh.status is StagedStatus.PENDING else None

    def move(self, item: StagedItem) -> None:
        """Replaces a pending item by what it became."""
        self.tx.update_staged(item, expected=StagedStatus.PENDING)

    def expire(self, item: StagedItem, reason: str) -> StagedItem:
        """Ends a pending item that nobody settled; a request for its approval is void."""
        expired = item.model_copy(
            update={
                "status": StagedStatus.EXPIRED,
                "resolved_at": self.turn.occurred_at,
                "reason": reason,
            }
        )
        self.move(expired)
        self.event(EventType.EXPIRED, staged=expired)
        if item.held_as.asks:
            self.tx.void_approvals(item.proposal_id, self.recorded_at)
        return expired

    def event(
        self, event_type: EventType, *, staged: StagedItem | None = None, fact: Fact | None = None
    ) -> Event:
        """Appends an event for the projections."""
        told = self.tx.append(
            event_type,
            occurred_at=self.turn.occurred_at,
            staged=staged,
            fact=fact,
            session=self.turn.session,
            policy_version=self.policy_version,
        )
        self.events.append(told)
        return told

    def event_key(self, key: FieldKey, words: str) -> FieldKey:
        """An open key made particular: two events of one kind stand beside each other."""
        suffix = f"@{self.turn.occurred_at:%Y-%m-%d}#{sha256_of(words.casefold())[:8]}"
        return key.model_copy(update={"normalized_key": key.normalized_key + suffix})


def not_before(begins: datetime, current: Fact | None) -> datetime:
    """A new interval never begins before the one it ends."""
    return begins if current is None else max(begins, current.valid_from)
