"""What is decided, and what is kept: held items and facts."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memgate_core.model.base import USER_ENTITY, Instant, Model
from memgate_core.model.turn import Evidence, FieldKey


class DecisionType(StrEnum):
    """What the rule matrix says about a candidate."""

    COMMIT = "COMMIT"
    REAFFIRM = "REAFFIRM"
    STAGE = "STAGE"
    NEEDS_CONFIRMATION = "NEEDS_CONFIRMATION"
    CONFIRM_REPLACE = "CONFIRM_REPLACE"
    CONFLICT = "CONFLICT"
    IGNORE = "IGNORE"
    REJECT = "REJECT"

    @property
    def holds(self) -> bool:
        """True when the candidate waits outside the profile."""
        return self in _HOLDING

    @property
    def asks(self) -> bool:
        """True when only a person, or the user's own later words, can settle it."""
        return self.holds and self is not DecisionType.STAGE

    @property
    def writes(self) -> bool:
        """True when the candidate's words may stand in a framework as fact or chatter."""
        return self in (DecisionType.COMMIT, DecisionType.REAFFIRM, DecisionType.IGNORE)


_HOLDING = frozenset(
    {
        DecisionType.STAGE,
        DecisionType.NEEDS_CONFIRMATION,
        DecisionType.CONFIRM_REPLACE,
        DecisionType.CONFLICT,
    }
)


class Decision(Model):
    """One candidate's outcome, with a reason that a person can read."""

    decision: DecisionType
    rule: str
    """Name of the row of the rule matrix (`memgate policy show`)."""
    reason: str
    corrects: bool = False
    """COMMIT only: the old interval becomes never valid."""
    closes: bool = False
    """COMMIT only: the current value is superseded at `valid_from`."""


class StagedStatus(StrEnum):
    """Life of a held item. Only PENDING may move; PROMOTING awaits the native write."""

    PENDING = "PENDING"
    PROMOTING = "PROMOTING"
    PROMOTED = "PROMOTED"
    DISCARDED = "DISCARDED"
    EXPIRED = "EXPIRED"
    REVOKED = "REVOKED"


class StagedItem(Model):
    """A held candidate, invisible to every read (paper section 3)."""

    staged_id: str
    proposal_id: str
    key: FieldKey
    entity: str = USER_ENTITY
    attribute: str | None = None
    value: str | None = None
    text: str
    """What would be true: "lives in Seattle"."""
    words: str
    """The user's own words at `evidence`."""
    promote_when: str
    discard_when: str
    evidence: Evidence
    held_as: DecisionType = DecisionType.STAGE
    created_at: Instant
    """Time of the turn that voiced it first."""
    last_stated_at: Instant
    times_stated: int = 1
    review_at: Instant | None = None
    """When the words themselves name a time ("on 3 May"): a person may ask then."""
    expires_at: Instant | None = None
    """When the fact that it may become ends by itself."""
    session: str | None = None
    status: StagedStatus = StagedStatus.PENDING
    resolved_by: Evidence | None = None
    resolved_at: Instant | None = None
    reason: str | None = None
    fact_id: str | None = None
    """The fact it became, once PROMOTED."""
    known: str | None = Field(default=None, exclude=True)
    """What is true of its field now, for a checker to see; never stored."""


class FactStatus(StrEnum):
    """CURRENT is what reads return."""

    CURRENT = "CURRENT"
    SUPERSEDED = "SUPERSEDED"
    NEVER_VALID = "NEVER_VALID"
    REVOKED = "REVOKED"


class Fact(Model):
    """A committed value, versioned, valid over [valid_from, valid_to)."""

    fact_id: str
    version: int = Field(ge=1)
    key: FieldKey
    entity: str = USER_ENTITY
    attribute: str | None = None
    value: str | None = None
    text: str
    words: str
    evidence: Evidence
    valid_from: Instant
    valid_to: Instant | None = None
    recorded_at: Instant
    closed_at: Instant | None = None
    status: FactStatus = FactStatus.CURRENT
    proposal_id: str
    derived_from: tuple[str, ...] = ()
    """Ids of staged items, proposals or facts it came from; revocation cascades along it."""
    supersedes: str | None = None
    approved_by: str
    """`rule:<name>`, `user:<message_id>` (a confirming turn) or `approver:<name>`."""
    expires_at: Instant | None = None
    native: bool = True
    """False while a promotion waits for its native write: no read shows it before."""

    @property
    def open(self) -> bool:
        """True for a fact that no registered field holds."""
        return self.attribute is None

    @property
    def memory_id(self) -> str:
        """The id that projections deduplicate on (article: memoryId:version)."""
        return f"{self.fact_id}:{self.version}"
