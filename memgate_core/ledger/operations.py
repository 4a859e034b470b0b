"""What a ledger does besides: approvals, descent, replay, counters, rollout, audit.

Parts of `LedgerTransaction` and `Ledger` (protocol.py), set apart because a turn needs none of
them: they serve the admission policy, reviewers and operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from memgate_core.ledger.records import (
    Approval,
    ApprovalStatus,
    AuditEntry,
    Counter,
    Descent,
    ProposalRecord,
    Rollout,
    TurnRecord,
)
from memgate_core.model import Fact, JsonObject, StagedItem, Subject


class AdmissionWrites(Protocol):
    """The part of a write transaction that admission uses."""

    def settle_proposal(
        self,
        proposal_id: str,
        *,
        status: str | None = None,
        staged_id: str | None = None,
        fact_id: str | None = None,
    ) -> None:
        """Notes what became of a proposal; its identity, payload and decision never change."""
        ...

    def request_approval(
        self,
        proposal_id: str,
        payload_hash: str,
        *,
        requested_at: datetime,
        expires_at: datetime | None = None,
        policy_version: str = "",
    ) -> Approval:
        """Asks for approval of a proposal as it is; asked again, returns the open request.

        Raises:
            NotFoundError: no such proposal. ApprovalError: its payload is another one.
        """
        ...

    def decide_approval(
        self, approval_id: str, payload_hash: str, *, approver: str, approve: bool, at: datetime
    ) -> Approval:
        """Answers a request; the same answer again returns the first. `at` is the act's own time.

        Raises:
            NotFoundError: no such request. ApprovalError: it is answered, void or expired, the
                payload is another one, or nobody is named as approver.
        """
        ...

    def lapse_approvals(self, at: datetime) -> Sequence[Approval]:
        """Ends this subject's requests that expired unanswered, and returns them."""
        ...

    def void_approvals(self, proposal_id: str, at: datetime) -> Sequence[Approval]:
        """Ends the open requests for a proposal that changed or was taken back."""
        ...

    def descent(self, *parents: str, message_id: str | None = None) -> Descent:
        """As `Ledger.descent`, read inside the transaction."""
        ...

    def count(self, name: str, policy_version: str = "", by: int = 1) -> None:
        """Adds to a counter when the transaction commits."""
        ...


class Operations(Protocol):
    """The part of a ledger that admission, review and operators use."""

    def unregister(self, projection: str) -> int:
        """Events are not due for this projection any more; promotions that waited for it alone
        become readable. Returns how many undelivered events that made void."""
        ...

    def retry_now(self, projection: str) -> int:
        """Ends the waiting after failed tries. Returns for how many subjects."""
        ...

    def turns(
        self, subject: Subject | None = None, *, after: int = 0, limit: int | None = None
    ) -> Iterator[TurnRecord]:
        """Recorded turns in the order of recording, read page by page, for replay.

        `after` is the `position` to go on from; no lock is held between pages.
        """
        ...

    def proposals(
        self, subject: Subject, *, message_id: str | None = None, limit: int | None = None
    ) -> Sequence[ProposalRecord]:
        """A subject's proposals in the order of recording, of one message or all."""
        ...

    def descent(self, subject: Subject, *parents: str, message_id: str | None = None) -> Descent:
        """Facts and held items that come from proposals, items, facts (by id) or a message,
        through any number of steps: what a revocation has to reach."""
        ...

    def approval(self, approval_id: str) -> Approval | None:
        """A request for approval by id."""
        ...

    def approvals(
        self,
        *,
        subject: Subject | None = None,
        status: ApprovalStatus | None = None,
        proposal_id: str | None = None,
        expired_before: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[Approval]:
        """Requests for approval in the order they were made, meeting every condition given."""
        ...

    def expired_facts(self, before: datetime, *, limit: int = 1000) -> Sequence[Fact]:
        """Current facts of anybody whose `expires_at` has come."""
        ...

    def due_for_review(self, before: datetime, *, limit: int = 1000) -> Sequence[StagedItem]:
        """Pending items of anybody whose own words named a time that has come."""
        ...

    def oldest_pending(self) -> datetime | None:
        """When the longest pending item of anybody was first voiced (world time)."""
        ...

    def count(self, name: str, policy_version: str = "", by: int = 1) -> None:
        """Adds to a counter, outside any turn."""
        ...

    def counters(self) -> Sequence[Counter]:
        """Every counter, by name and policy version."""
        ...

    def rollout(self) -> Rollout | None:
        """The rollout state, or None where none was ever set."""
        ...

    def set_rollout(self, state: Rollout) -> Rollout:
        """Replaces the state whose revision `state` names (0: none yet), with a line in the audit
        trail; returns it with its new revision.

        Raises:
            NotAllowedError: somebody changed it first.
        """
        ...

    def audit(
        self,
        action: str,
        target: str,
        *,
        by: str,
        subject: Subject | None = None,
        detail: JsonObject | None = None,
    ) -> None:
        """Appends to the audit trail outside any turn: ids, hashes, times, never words."""
        ...

    def audit_log(
        self,
        *,
        subject: Subject | None = None,
        target: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[AuditEntry]:
        """The audit trail behind a number, in order."""
        ...
