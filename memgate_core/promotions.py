"""What becomes of held items: promoted to facts, or discarded, each exactly once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from memgate_core.book import Book, not_before
from memgate_core.fields.values import same_value
from memgate_core.judgement.protocol import Realiser
from memgate_core.ledger.identity import fact_id_of
from memgate_core.ledger.protocol import KeyState
from memgate_core.model import (
    EventType,
    Evidence,
    Fact,
    FactStatus,
    FieldKey,
    Model,
    ResolutionType,
    Resolved,
    Span,
    StagedItem,
    StagedStatus,
)
from memgate_core.settling import Settlement


class Slot(Model):
    """Where the outcome of an open plan belongs: "moving to Seattle" -> home_city = Seattle."""

    key: FieldKey
    attribute: str
    value: str | None
    text: str


@dataclass
class Promotions:
    """Settles held items inside one transaction. The loser of a race finds the item moved."""

    book: Book
    realiser: Realiser
    approved_by: str
    """`user:<message_id>` for a confirming turn, `approver:<name>` for a person."""
    resolved: list[Resolved] = field(default_factory=list)
    entities: dict[str, str] = field(default_factory=dict)
    """Whose plan each resolved one was, by the held item's id."""

    def settle(self, settlement: Settlement) -> None:
        """Promotes or discards as the checker said, unless another writer was first."""
        item = self.book.pending(settlement.item)
        if item is None:
            return
        span = settlement.judgement.span
        evidence = Evidence.of(self.book.turn, span) if span else None
        if settlement.confirms:
            self.promote(item, settlement.judgement.reason, evidence)
        else:
            self.discard(item, settlement.judgement.reason, evidence)

    def note_only(self, settlement: Settlement) -> None:
        """Notes what would have become of an item, where nothing may be written."""
        judged = settlement.judgement
        self._note(settlement.item, judged.resolution, judged.reason, None)

    def promote(
        self,
        item: StagedItem,
        reason: str,
        evidence: Evidence | None,
        *,
        begins: datetime | None = None,
        slot: Slot | None = None,
    ) -> Fact:
        """Turns a held item into a fact. No read shows it before its native write is acknowledged;
        the value it replaces ends at the event's time, which is `begins` where that is given.
        An open item whose outcome names a registered field becomes that field's value (`slot`)."""
        if slot is not None:
            item = item.model_copy(update=slot.model_dump(exclude={"key"}))
        key = slot.key if slot is not None else item.key
        if item.attribute is None:
            key = self.book.event_key(item.key, item.words)
        state = self.book.state(key)
        current = state.current
        known = current is not None and same_claim(current.value, item.value)
        fact = current if known and current else self._new_fact(item, evidence, state, begins)
        moved = item.model_copy(
            update={
                "status": StagedStatus.PROMOTED if fact.native else StagedStatus.PROMOTING,
                "resolved_by": evidence,
                "resolved_at": self.book.turn.occurred_at,
                "reason": reason,
                "fact_id": fact.fact_id,
            }
        )
        self.book.move(moved)
        self.book.event(EventType.PROMOTED, staged=moved, fact=fact)
        if current is not None and current.fact_id != fact.fact_id:
            self.book.close(current, fact.valid_from, FactStatus.SUPERSEDED)
            self.book.states[key] = KeyState(key=key, current=fact, version=fact.version)
        self._void_request(moved)
        self._note(moved, ResolutionType.CONFIRM, reason, fact.fact_id)
        self._drop_rivals(moved)
        return fact

    def discard(self, item: StagedItem, reason: str, evidence: Evidence | None) -> StagedItem:
        """Ends a held item that will not come true."""
        moved = item.model_copy(
            update={
                "status": StagedStatus.DISCARDED,
                "resolved_by": evidence,
                "resolved_at": self.book.turn.occurred_at,
                "reason": reason,
            }
        )
        self.book.move(moved)
        self.book.event(EventType.DISCARDED, staged=moved)
        self._void_request(moved)
        self._note(moved, ResolutionType.ABANDON, reason, None)
        return moved

    def _new_fact(
        self,
        item: StagedItem,
        evidence: Evidence | None,
        state: KeyState,
        begins: datetime | None,
    ) -> Fact:
        turn = self.book.turn
        own = evidence is not None and evidence.message_id == turn.message_id
        span = evidence.span if own and evidence else Span(start=0, end=len(turn.text))
        words = span.of(turn.text)
        if begins is None:
            begins = self.realiser.event_time(turn, words) if own else turn.occurred_at
        begins = not_before(begins, state.current)
        return self.book.commit(
            Fact(
                fact_id=fact_id_of(item.proposal_id),
                version=state.version + 1,
                key=state.key,
                entity=item.entity,
                attribute=item.attribute,
                value=item.value,
                text=item.text,
                words=words,
                evidence=evidence or Evidence.of(turn, span),
                valid_from=begins,
                recorded_at=self.book.recorded_at,
                proposal_id=item.proposal_id,
                derived_from=(item.staged_id, item.proposal_id),
                supersedes=state.current.fact_id if state.current else None,
                approved_by=self.approved_by,
                expires_at=_still_ahead(item.expires_at, begins),
                native=False,
            )
        )

    def _void_request(self, item: StagedItem) -> None:
        """A request for approval is void once the item is settled otherwise."""
        if not item.held_as.asks:
            return
        if self.book.tx.void_approvals(item.proposal_id, self.book.recorded_at):
            self.book.tx.settle_proposal(item.proposal_id, status="DECIDED", fact_id=item.fact_id)

    def _drop_rivals(self, promoted: StagedItem) -> None:
        if promoted.attribute is None:
            return
        for rival in self.book.tx.pending_on(promoted.key):
            self.discard(rival, f"{promoted.text} came true instead", promoted.resolved_by)

    def _note(
        self, item: StagedItem, resolution: ResolutionType, reason: str, fact_id: str | None
    ) -> None:
        self.entities[item.staged_id] = item.entity
        self.resolved.append(
            Resolved(
                staged_id=item.staged_id,
                attribute=item.attribute,
                value=item.value,
                text=item.text,
                resolution=resolution,
                reason=reason,
                span=item.resolved_by.span if item.resolved_by else None,
                fact_id=fact_id,
            )
        )


def _still_ahead(expires_at: datetime | None, begins: datetime) -> datetime | None:
    return expires_at if expires_at is not None and expires_at > begins else None


def same_claim(one: str | None, other: str | None) -> bool:
    """True when both name a value and it is the same one."""
    return one is not None and other is not None and same_value(one, other)
