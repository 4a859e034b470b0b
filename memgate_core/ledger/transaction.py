"""One write transaction of one subject, on any backend."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from datetime import datetime

from memgate_core.errors import ProtocolConflictError
from memgate_core.ledger import (
    approvals,
    deliveries,
    erasure,
    events,
    facts,
    measures,
    native_links,
    proposals,
    staging,
    subjects,
    turns,
)
from memgate_core.ledger.descent import descent_of
from memgate_core.ledger.protocol import KeyState, LedgerTransaction, ProposalRecord, TurnRecord
from memgate_core.ledger.records import Approval, Descent
from memgate_core.ledger.runner import Runner
from memgate_core.ledger.scope import Owner
from memgate_core.ledger.times import micros
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FieldKey,
    JsonObject,
    NativeLink,
    Receipt,
    StagedItem,
    StagedStatus,
    Turn,
)

CONFLICTS = "protocol_conflicts"
"""Counter of proposals that came again with another payload."""


class SqlTransaction(LedgerTransaction):
    """See `LedgerTransaction`. `finish` has to be called before the commit."""

    def __init__(self, runner: Runner, owner: Owner, now: datetime) -> None:
        self._runner, self._owner = runner, owner
        self._now = now
        self._at = micros(now)
        self._grown = 0
        self._made_way = False
        self._unwritten: list[Event] = []
        self._counts: Tally[tuple[str, str]] = Tally()
        self.conflicts: list[tuple[str, str]] = []
        """(proposal id, policy version) of every protocol conflict that was met."""
        self.erased = False

    # --- turns ---------------------------------------------------------------------------------

    def turn(self, message_id: str) -> TurnRecord | None:
        return turns.get(self._runner, self._owner, message_id)

    def save_turn(self, turn: Turn, masked_text: str, receipt: Receipt) -> None:
        turns.save(self._runner, self._owner, turn, masked_text, receipt, self._at)

    def save_answer(self, message_id: str, answer: JsonObject) -> None:
        turns.save_answer(self._runner, self._owner, message_id, answer)

    # --- proposals and approvals ---------------------------------------------------------------

    def save_proposal(self, proposal: ProposalRecord) -> ProposalRecord:
        try:
            return proposals.save(self._runner, self._owner, proposal)
        except ProtocolConflictError:
            self.conflicts.append((proposal.proposal_id, proposal.policy_version))
            raise

    def settle_proposal(
        self,
        proposal_id: str,
        *,
        status: str | None = None,
        staged_id: str | None = None,
        fact_id: str | None = None,
    ) -> None:
        proposals.settle(
            self._runner,
            self._owner,
            proposal_id,
            status=status,
            staged_id=staged_id,
            fact_id=fact_id,
        )

    def request_approval(
        self,
        proposal_id: str,
        payload_hash: str,
        *,
        requested_at: datetime,
        expires_at: datetime | None = None,
        policy_version: str = "",
    ) -> Approval:
        return approvals.request(
            self._runner,
            self._owner,
            proposal_id,
            payload_hash,
            requested_at=requested_at,
            expires_at=expires_at,
            policy_version=policy_version,
        )

    def decide_approval(
        self, approval_id: str, payload_hash: str, *, approver: str, approve: bool, at: datetime
    ) -> Approval:
        return approvals.decide(
            self._runner,
            self._owner,
            approval_id,
            payload_hash,
            approver=approver,
            approve=approve,
            at=at,
        )

    def lapse_approvals(self, at: datetime) -> list[Approval]:
        return approvals.lapse(self._runner, self._owner, at)

    def void_approvals(self, proposal_id: str, at: datetime) -> list[Approval]:
        return approvals.void(self._runner, self._owner, proposal_id, at)

    # --- facts ---------------------------------------------------------------------------------

    def lock(self, keys: Iterable[FieldKey]) -> dict[FieldKey, KeyState]:
        return facts.lock(self._runner, self._owner, keys)

    def commit_fact(self, fact: Fact, *, expected_version: int) -> Fact:
        written, made_way = facts.commit(self._runner, self._owner, fact, expected_version)
        self._made_way = self._made_way or made_way
        return written

    def close_fact(self, fact: Fact) -> None:
        facts.close(self._runner, self._owner, fact)

    def fact(self, fact_id: str) -> Fact | None:
        return facts.get(self._runner, fact_id)

    # --- held items ----------------------------------------------------------------------------

    def stage(self, item: StagedItem) -> None:
        self._grown += staging.stage(self._runner, self._owner, item)

    def update_staged(self, item: StagedItem, *, expected: StagedStatus) -> None:
        self._grown += staging.replace(self._runner, self._owner, item, expected)

    def staged(self, staged_id: str) -> StagedItem | None:
        return staging.get(self._runner, staged_id)

    def pending_on(self, key: FieldKey) -> Sequence[StagedItem]:
        return staging.on_key(self._runner, self._owner, key)

    def descent(self, *parents: str, message_id: str | None = None) -> Descent:
        return descent_of(self._runner, self._owner, parents, message_id)

    # --- events and native objects -------------------------------------------------------------

    def append(
        self,
        event_type: EventType,
        *,
        occurred_at: datetime,
        staged: StagedItem | None = None,
        fact: Fact | None = None,
        session: str | None = None,
        policy_version: str = "",
    ) -> Event:
        told = Event(
            seq=0,
            event_type=event_type,
            subject=self._owner.subject,
            occurred_at=occurred_at,
            recorded_at=self._now,
            staged=staged,
            fact=fact,
            session=session,
            policy_version=policy_version,
        )
        told, is_due = events.append(self._runner, self._owner, told, self._at)
        if not is_due and deliveries.waits_for_native_write(told):
            self._unwritten.append(told)
        return told

    def link(self, link: NativeLink) -> None:
        native_links.save(self._runner, self._owner, link)

    def unlink(self, projection: str, native_id: str) -> None:
        native_links.forget(self._runner, self._owner, projection, native_id)

    # --- records for people --------------------------------------------------------------------

    def audit(self, action: str, target: str, *, by: str, detail: JsonObject | None = None) -> None:
        measures.note(self._runner, self._owner, self._at, action, target, by, detail)

    def count(self, name: str, policy_version: str = "", by: int = 1) -> None:
        self._counts[name, policy_version] += by

    def erase(self) -> JsonObject:
        counts = erasure.erase(self._runner, self._owner, self._now)
        subjects.mark_erased(self._runner, self._owner, self._at)
        self._grown = 0
        self.erased = True
        return counts

    # --- before the commit ---------------------------------------------------------------------

    def finish(self) -> None:
        """Writes what was gathered, and refuses to leave a key with two current facts.

        Raises:
            InvalidInputError: a fact was replaced and not closed.
        """
        if self._made_way:
            facts.require_closed(self._runner, self._owner)
        for told in self._unwritten:
            deliveries.settle_if_delivered(self._runner, self._owner, told)
        if self._grown:
            subjects.grow_pending(self._runner, self._owner, self._grown)
        for proposal_id, version in self.conflicts:
            note_conflict(self._runner, self._owner, proposal_id, version, self._at)
        if self._counts:
            measures.count(self._runner, self._owner.lock, self._counts)


def note_conflict(
    runner: Runner, owner: Owner, proposal_id: str, policy_version: str, at: int
) -> None:
    """Makes a protocol conflict visible: a counter and a line of the audit trail."""
    measures.count(runner, owner.lock, {(CONFLICTS, policy_version): 1})
    measures.note(runner, owner, at, "protocol_conflict", proposal_id, "ledger", None)
