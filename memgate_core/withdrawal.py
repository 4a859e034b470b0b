"""Taking back what was said: facts and held items end, what they had replaced holds again.

Status first, then the event that projections act on, all in one transaction (article: revocation).
It reaches everything that came from the source, through any number of steps.

When the *saying* is taken back (a message, a proposal), the world goes back to where it stood
before: a replaced value holds again, a plan that the words had settled is open again. When a *fact*
is taken back, it alone goes: that somebody wants it forgotten does not make an older value true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from memgate_core.book import Book
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.records import Descent
from memgate_core.model import (
    EventType,
    Fact,
    FactStatus,
    Resolved,
    StagedItem,
    StagedStatus,
)
from memgate_core.tallies import tally_taken_back

REVOKED = "REVOKED"
"""Status of a proposal that was taken back."""

_LIVE = (FactStatus.CURRENT, FactStatus.SUPERSEDED)
_TAKEN_BACK = (FactStatus.REVOKED, FactStatus.NEVER_VALID)
_OPEN = (StagedStatus.PENDING, StagedStatus.PROMOTING, StagedStatus.PROMOTED)
_SETTLED = (StagedStatus.PROMOTING, StagedStatus.PROMOTED, StagedStatus.DISCARDED)


@dataclass
class Withdrawal:
    """Takes things back inside one transaction."""

    book: Book
    ledger: Ledger
    status: FactStatus
    """REVOKED, or NEVER_VALID when the user says that it never was so."""
    reopens: bool
    """True when what was replaced holds again."""
    reason: str
    facts: list[str] = field(default_factory=list)
    staged: list[str] = field(default_factory=list)
    proposals: list[str] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)

    @property
    def ids(self) -> tuple[str, ...]:
        """Everything that was taken back."""
        return (*self.facts, *self.staged)

    def message(self, message_id: str, resolved: Sequence[Resolved]) -> None:
        """Takes back all that came of a message; `resolved` is what its turn had settled."""
        self._withdraw(self.book.tx.descent(message_id=message_id), with_sources=False)
        for settled in resolved:
            self._open_again(settled.staged_id, message_id)
        proposed = self.ledger.proposals(self.book.turn.subject, message_id=message_id)
        self._open_ended({proposal.recorded_at for proposal in proposed})
        self._end_proposals(proposal.proposal_id for proposal in proposed)

    def thing(self, found_id: str) -> None:
        """Takes back a fact, held item or proposal, and what came of it."""
        found = self.book.tx.descent(found_id)
        fact, item = self.book.tx.fact(found_id), self.book.tx.staged(found_id)
        own = Descent(facts=(fact,) if fact else (), staged=(item,) if item else ())
        self._withdraw(_together(own, found), with_sources=True)
        if self.ledger.proposal(found_id) is not None:
            self._end_proposals([found_id])

    # --- facts and items -----------------------------------------------------------------------

    def _withdraw(self, found: Descent, *, with_sources: bool) -> None:
        facts = [fact for fact in found.facts if self._is_live(fact)]
        facts.sort(key=lambda fact: fact.version)
        self.book.lock({fact.key for fact in facts})
        for fact in reversed(facts):
            self._end(fact)
        if self.reopens:
            for fact in facts:
                self._let_hold_again(fact)
        sources = self._sources(facts) if with_sources else ()
        held = {item.staged_id: item for item in (*found.staged, *sources)}
        for item in held.values():
            self._end_item(item)
        self._end_proposals(fact.proposal_id for fact in facts)
        self._end_proposals(item.proposal_id for item in held.values())

    def _is_live(self, fact: Fact) -> bool:
        if self.status is FactStatus.REVOKED and fact.status is FactStatus.NEVER_VALID:
            return True
        return fact.status in _LIVE

    def _end(self, fact: Fact) -> None:
        never = self.status is FactStatus.NEVER_VALID
        until = fact.valid_from if never else fact.valid_to
        at = until or max(self.book.turn.occurred_at, fact.valid_from)
        tally_taken_back(self.book, self.ledger, fact)
        self.book.close(fact, at, self.status)
        self.facts.append(fact.fact_id)

    def _let_hold_again(self, gone: Fact) -> None:
        """What `gone` had replaced takes its place, for as long as `gone` had it."""
        before = self._replaced_by(gone)
        if before is not None and before.fact_id not in self.facts:
            self._reopen(before, like=gone)

    def _open_ended(self, recorded_at: Set[datetime]) -> None:
        """Open facts that the message had only declared over hold again."""
        known = self.ledger.facts(self.book.turn.subject, include_closed=True)
        for fact in known:
            over = fact.status is FactStatus.SUPERSEDED and fact.closed_at in recorded_at
            if over and fact.open and self.book.state(fact.key).current is None:
                holding = {"status": FactStatus.CURRENT, "valid_to": None, "closed_at": None}
                self._reopen(fact, like=fact.model_copy(update=holding))

    def _reopen(self, fact: Fact, *, like: Fact) -> None:
        if fact.expires_at is not None and fact.expires_at <= self.book.turn.occurred_at:
            return
        self.book.reopen(fact, like=like)
        self.reopened.append(fact.fact_id)

    def _replaced_by(self, gone: Fact) -> Fact | None:
        before = self._before(gone)
        while before is not None and not _ended_with(before, gone):
            if before.status not in _TAKEN_BACK:
                return None
            before = self._before(before)
        return before

    def _before(self, fact: Fact) -> Fact | None:
        return self.book.tx.fact(fact.supersedes) if fact.supersedes else None

    def _sources(self, facts: Iterable[Fact]) -> list[StagedItem]:
        """The held items that the facts came from."""
        found = [self.book.tx.staged(one) for fact in facts for one in fact.derived_from]
        return [item for item in found if item is not None]

    def _end_item(self, item: StagedItem) -> None:
        if item.status not in _OPEN:
            return
        gone = item.model_copy(
            update={
                "status": StagedStatus.REVOKED,
                "resolved_at": self.book.turn.occurred_at,
                "reason": self.reason,
            }
        )
        self.book.tx.update_staged(gone, expected=item.status)
        self.book.event(EventType.REVOKED, staged=gone)
        self.staged.append(item.staged_id)

    def _open_again(self, staged_id: str, message_id: str) -> None:
        """A plan that the message had settled waits again."""
        item = self.book.tx.staged(staged_id)
        settled_by = item.resolved_by.message_id if item and item.resolved_by else None
        if item is None or settled_by != message_id or item.status not in _SETTLED:
            return
        if item.evidence.message_id == message_id:
            return
        nothing = dict.fromkeys(("resolved_by", "resolved_at", "reason", "fact_id"))
        again = item.model_copy(update={**nothing, "status": StagedStatus.PENDING})
        self.book.tx.update_staged(again, expected=item.status)
        self.book.event(EventType.STAGED, staged=again)
        self.reopened.append(staged_id)

    # --- proposals -----------------------------------------------------------------------------

    def _end_proposals(self, proposal_ids: Iterable[str]) -> None:
        for proposal_id in dict.fromkeys(proposal_ids):
            if proposal_id in self.proposals or self.ledger.proposal(proposal_id) is None:
                continue
            self.book.tx.void_approvals(proposal_id, self.book.recorded_at)
            self.book.tx.settle_proposal(proposal_id, status=REVOKED)
            self.proposals.append(proposal_id)


def _ended_with(before: Fact, fact: Fact) -> bool:
    """True when `before` ended in the very transaction that wrote `fact`."""
    ended = before.status in (FactStatus.SUPERSEDED, FactStatus.NEVER_VALID)
    return ended and before.closed_at == fact.recorded_at


def _together(one: Descent, other: Descent) -> Descent:
    facts = {fact.fact_id: fact for fact in (*one.facts, *other.facts)}
    staged = {item.staged_id: item for item in (*one.staged, *other.staged)}
    return Descent(facts=tuple(facts.values()), staged=tuple(staged.values()))
