"""What the ledger keeps and answers, beside the domain's own models."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from memgate_core.model import (
    Candidate,
    Decision,
    Event,
    Fact,
    FieldKey,
    HistoryTurn,
    Instant,
    JsonObject,
    Model,
    Receipt,
    Role,
    Source,
    StagedItem,
    Subject,
    Turn,
)


class TurnRecord(Model):
    """A recorded turn. `text` has refused spans masked, so offsets stay true."""

    subject: Subject
    message_id: str
    text: str
    text_sha256: str
    """Hash of the text as it came, before masking: tells a retry from another message."""
    occurred_at: datetime
    role: Role = Role.USER
    source: Source = Source.USER
    session: str | None = None
    speaker: str | None = None
    taint: frozenset[str] = frozenset()
    receipt: Receipt
    answer: JsonObject | None = None
    """What the framework's own call answered (step 9 of a turn); replayed on retry."""
    position: int = 0
    """Where it stands in the order of recording; `Ledger.turns(after=…)` goes on from there."""

    def as_turn(self, history: tuple[HistoryTurn, ...] = ()) -> Turn:
        """The turn as it came in (with refused spans masked), to be judged again."""
        return Turn(
            subject=self.subject,
            message_id=self.message_id,
            role=self.role,
            speaker=self.speaker,
            text=self.text,
            occurred_at=self.occurred_at,
            source=self.source,
            taint=self.taint,
            session=self.session,
            history=history,
            minted=self.receipt.minted,
        )


class ProposalRecord(Model):
    """An immutable proposal: identity, payload hash, and what was decided."""

    proposal_id: str
    payload_hash: str
    subject: Subject
    key: FieldKey
    candidate: Candidate
    decision: Decision
    policy_version: str
    status: str = "DECIDED"
    """DECIDED, REVOKED, or the approval states AWAITING, APPROVED, DECLINED, LAPSED."""
    recorded_at: datetime
    staged_id: str | None = None
    fact_id: str | None = None


class KeyState(Model):
    """What hangs on a key, read under its lock."""

    key: FieldKey
    current: Fact | None
    version: int
    """0 for a key that was never written; grows by one with each fact version (CAS)."""
    ended: Instant | None = None
    """Where nothing is current: when the last of what held on the key ended, if anything did."""


class Delivery(Model):
    """An event that a projection still has to take."""

    projection: str
    event: Event
    attempts: int = 0
    parked: bool = False
    error: str | None = None
    leased_until: Instant | None = None
    """Until when nobody else gets it, unless the lease is renewed (`Ledger.keeping`)."""


class ApprovalStatus(StrEnum):
    """Life of a request for approval. Only AWAITING may move."""

    AWAITING = "AWAITING"
    APPROVED = "APPROVED"
    DECLINED = "DECLINED"
    LAPSED = "LAPSED"
    """Nobody answered before `expires_at`."""
    VOID = "VOID"
    """What it was asked for changed, was revoked or erased."""


class Approval(Model):
    """A request for approval, bound to one proposal and one payload (article)."""

    approval_id: str
    proposal_id: str
    payload_hash: str
    subject: Subject
    status: ApprovalStatus = ApprovalStatus.AWAITING
    policy_version: str = ""
    requested_at: Instant
    expires_at: Instant | None = None
    decided_at: Instant | None = None
    approver: str | None = None


class Counter(Model):
    """One measure, by the policy version under which it was counted."""

    name: str
    policy_version: str
    value: int


class Rollout(Model):
    """How far the gate's decisions reach into the frameworks, and why it was stopped.

    `revision` grows by one with each change; a change names the revision it was decided on.
    """

    mode: str
    """`shadow`, `canary` or `on`, as the policy room defines them."""
    policy_version: str
    policy_since: Instant | None = None
    """When this policy version was rolled out (record time)."""
    previous_policy_version: str | None = None
    """The version that was in force before it."""
    reads_policy_version: str | None = None
    """The policy version that reads go on with after a rollback."""
    reads_as_recorded: Instant | None = None
    """After a rollback: reads show what had been recorded by then, less what was revoked since."""
    canary_percent: float = Field(default=0.0, ge=0.0, le=100.0)
    tripped: str | None = None
    """Why a hard rollback stopped the commits, or None."""
    tripped_at: Instant | None = None
    changed_at: Instant
    changed_by: str
    revision: int = 0


class AuditEntry(Model):
    """One line of the audit trail: ids, hashes and times, never a user's words."""

    number: int
    at: Instant
    tenant: str | None = None
    subject_id: str | None = None
    action: str
    target: str
    by: str
    detail: JsonObject | None = None


class Descent(Model):
    """Everything that comes from something, through any number of steps."""

    facts: tuple[Fact, ...] = ()
    staged: tuple[StagedItem, ...] = ()
