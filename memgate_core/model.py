"""The domain words of the gate, as frozen pydantic models.

Everything that a person may want to see has `.model_dump_json()`. Times are aware UTC datetimes.
`occurred_at`, `valid_from` and `valid_to` are time of the world (the turn's own clock);
`recorded_at` and `closed_at` are record time (when the ledger learned of it).
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

USER_ENTITY = "user"
"""The entity name of the subject himself or herself; any other entity is somebody else."""


def _to_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


Instant = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""An aware datetime, normalised to UTC."""


def sha256_of(text: str) -> str:
    """Hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class Model(BaseModel):
    """Frozen, closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- who and where -------------------------------------------------------------------------


class Subject(Model):
    """Whose profile: `user_id`, and the `actor` where several people speak under one user id."""

    tenant: str = "default"
    user_id: str = Field(min_length=1)
    actor: str | None = None

    @property
    def subject_id(self) -> str:
        """The profile's id inside its tenant."""
        return self.user_id if self.actor is None else f"{self.user_id}\x1f{self.actor}"

    def __str__(self) -> str:
        name = self.user_id if self.actor is None else f"{self.user_id}/{self.actor}"
        return f"{self.tenant}:{name}"


class Scope(Model):
    """Where a value holds (article: scope). The default holds everywhere."""

    kind: str = "global"
    key: str = ""

    @property
    def everywhere(self) -> bool:
        """True for the default."""
        return self == Scope()

    def label(self, text: str) -> str:
        """The text, with where it holds unless that is everywhere."""
        return text if self.everywhere else f"{text} ({self})"

    def __str__(self) -> str:
        return self.kind if not self.key else f"{self.kind}:{self.key}"


class Kind(StrEnum):
    """The bounded set of kinds a fact may have (article)."""

    PREFERENCE = "preference"
    PROFILE = "profile"
    DECISION = "decision"
    TASK_FACT = "task_fact"


class FieldKey(Model):
    """The key that one current value hangs on."""

    subject: Subject
    scope: Scope = Scope()
    kind: Kind = Kind.PROFILE
    normalized_key: str = Field(min_length=1)

    def __str__(self) -> str:
        return f"{self.subject}/{self.scope}/{self.kind}/{self.normalized_key}"


# --- a turn and its words ------------------------------------------------------------------


class Role(StrEnum):
    """Who spoke, in the frameworks' words."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Source(StrEnum):
    """Where the words come from. Only `user` may change a profile by itself."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    WEB = "web"


class HistoryTurn(Model):
    """One of up to two preceding turns, given to the judges as context."""

    role: Role
    content: str


class Turn(Model):
    """One message. `session` is context and never part of a key."""

    subject: Subject
    message_id: str = Field(min_length=1)
    role: Role = Role.USER
    speaker: str | None = None
    text: str
    occurred_at: Instant
    source: Source = Source.USER
    taint: frozenset[str] = frozenset()
    session: str | None = None
    history: tuple[HistoryTurn, ...] = ()
    minted: bool = False
    """True when the gate made up the message id: retries of this turn are not recognised."""


class Span(Model):
    """Half-open character range [start, end) of a message."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"span ends ({self.end}) before it starts ({self.start})")
        return self

    def of(self, text: str) -> str:
        """The words of `text` that the span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """True when the two share at least one character."""
        return self.start < other.end and other.start < self.end


class Evidence(Model):
    """The words a claim rests on; the service re-reads the message and checks them (article)."""

    message_id: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    sha256: str

    @property
    def span(self) -> Span:
        """The range inside the message."""
        return Span(start=self.start, end=self.end)

    @classmethod
    def of(cls, turn: Turn, span: Span) -> Evidence:
        """Evidence for the words of `turn` at `span`."""
        return cls(
            message_id=turn.message_id,
            start=span.start,
            end=span.end,
            sha256=sha256_of(span.of(turn.text)),
        )


class Candidate(Model):
    """What an extractor proposes. Extractors never decide.

    `words` are the exact source words at `evidence`; `text` is the memory text an extractor
    wrote, or the words themselves. `attribute` and `value` are None for an open statement.
    """

    entity: str = USER_ENTITY
    attribute: str | None = None
    value: str | None = None
    text: str
    words: str
    evidence: Evidence
    ordinal: int = Field(ge=0)
    """Stable position: clause order, then field order; never the value or a model's order."""
    extractor: str
    """Name and version of the extractor, part of the proposal's identity."""
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    """Ranks only; never overrides source, consent or sensitivity (article)."""
    aligned: bool = True
    """False when the span had to be guessed (the extractor gave none that is in the message)."""
    expires_at: Instant | None = None
    """When the fact ends by itself, if the extractor or the field says so (article: expiresAt)."""
    foreign: bool = False
    """True when the proposal names another tenant or subject than its turn's (article)."""
    given: bool = False
    """True for a `MemoryProposal` that came with the turn."""
    scope: Scope = Scope()
    """Where the value holds, if the proposal says so: a key of its own, beside the one that holds
    everywhere."""


class Statement(Model):
    """What judges see of a candidate: its source span in its place, never a paraphrase alone."""

    text: str
    message: str
    role: Role = Role.USER
    history: tuple[HistoryTurn, ...] = ()
    start: int = 0
    """Where `text` begins in `message`, so that a repeated phrase is judged in its own place."""


# --- judgements ----------------------------------------------------------------------------


class EvidenceType(StrEnum):
    """The paper's four classes (section 3, appendix A.6)."""

    SPECULATION = "speculation"
    COMPLETED_EVENT = "completed_event"
    CORRECTION = "correction"
    OTHER = "other"


class EvidenceJudgement(Model):
    """What kind of evidence a statement is, how sure, and by which words."""

    evidence_type: EvidenceType
    probabilities: dict[EvidenceType, float]
    cues: tuple[str, ...] = ()
    backend: str = "local"
    model_calls: int = 0
    fault: str | None = None
    """Set when the backend failed and the statement is held for that reason (fail closed)."""

    @property
    def runner_up(self) -> EvidenceType:
        """The second most probable class."""
        rest = (item for item in self.probabilities.items() if item[0] != self.evidence_type)
        return max(rest, key=lambda item: item[1])[0]

    @property
    def hold_probability(self) -> float:
        """Probability of speculation: the mass that argues against writing now."""
        return self.probabilities[EvidenceType.SPECULATION]


class Sensitivity(StrEnum):
    """How much care a field needs. HIGH: only on the user's explicit words."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class FieldSpec(Model):
    """A registered single-valued slot of a profile. The description never names a value."""

    attribute: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str
    entity: str = USER_ENTITY
    kind: Kind = Kind.PROFILE
    sensitivity: Sensitivity = Sensitivity.NORMAL
    synonyms: tuple[str, ...] = ()
    validator: str | None = None
    """Name of a registered validator (see memgate_core.fields.validators), or None."""
    said: tuple[str, ...] = ()
    """How people say it of themselves, verb first: "move to {value}". Read without a model."""
    phrase: str | None = None
    """How a value reads in a sentence: "lives in {value}"; None lets the gate choose."""


class FieldMatch(Model):
    """Which slot a candidate belongs to, if any."""

    field: FieldSpec | None
    confidence: float = 1.0
    via: str = "none"
    """How it matched: exact, synonym, plan_frame (paper section 4), model, recognised, none."""


class Standing(StrEnum):
    """How a statement stands to the subject's own lasting profile (design.md section 4)."""

    OWN = "own"
    """The speaker's own lasting state or event."""
    OTHER_PERSON = "other_person"
    TEMPORARY = "temporary"
    QUOTED = "quoted"
    NON_LITERAL = "non_literal"
    """Sarcasm, jokes, fiction."""
    PAST = "past"
    """A state that is over."""
    NEGATED = "negated"
    """Denies the value."""
    RETRACTION = "retraction"
    """Takes back what was said just before."""
    UNSUPPORTED = "unsupported"
    """The words do not say that the value holds."""


class StandingJudgement(Model):
    """Whether (attribute, value) is asserted, by these words, of the user's own lasting state."""

    standing: Standing
    confidence: float = 1.0
    cues: tuple[str, ...] = ()
    evidence_type: EvidenceType | None = None
    """What the words are for this very value, where that differs from the class of the statement
    they stand in ("I'm B negative, not B positive; might donate again" corrects the blood type)."""
    fault: str | None = None
    """Set when the backend failed and the claim is held for that reason (fail closed)."""


# --- decisions -----------------------------------------------------------------------------


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


class ResolutionType(StrEnum):
    """What a later turn does to a staged item."""

    CONFIRM = "confirm"
    ABANDON = "abandon"
    NOTHING = "nothing"


class ResolutionJudgement(Model):
    """The checker's word on one staged item and one turn."""

    staged_id: str
    resolution: ResolutionType
    confidence: float
    reason: str
    span: Span | None = None
    """The words of the turn that settle it."""
    model_calls: int = 0
    fault: str | None = None


class Judged(Model):
    """A candidate with everything the gate thought and did about it."""

    candidate: Candidate
    judgement: EvidenceJudgement
    standing: StandingJudgement
    match: FieldMatch
    key: FieldKey
    decision: Decision
    proposal_id: str
    staged_id: str | None = None
    fact_id: str | None = None
    recorded_only: bool = False
    """True where the rollout does not reach the key: recorded, and nothing followed."""


class Resolved(Model):
    """A staged item that this turn settled."""

    staged_id: str
    attribute: str | None
    value: str | None
    text: str
    resolution: ResolutionType
    reason: str
    span: Span | None = None
    fact_id: str | None = None


class Receipt(Model):
    """What the gate did with a turn; the same turn again returns the same receipt."""

    subject: Subject
    message_id: str
    minted: bool = False
    replayed: bool = False
    judged: tuple[Judged, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    withdrawn: tuple[str, ...] = ()
    """Ids of facts and held items that this turn took back ("ignore my last message")."""
    forward: str | None
    """The text that may go on to the framework; None when nothing may."""
    withheld: tuple[Span, ...] = ()
    """Spans of the message that were taken out of `forward`."""
    shadow: bool = False
    """True in shadow mode or after a rollback: `forward` is the whole text all the same."""
    faults: tuple[str, ...] = ()
    model_calls: int = 0
    model_tokens: int = 0
    """Tokens read and written by models for this turn, as far as they report them."""
    model_ms: float = 0.0
    """Of `gate_ms`, the time spent waiting for models."""
    gate_ms: float = 0.0

    @property
    def unchanged(self) -> bool:
        """True when the framework's own call goes through exactly as the caller made it."""
        effects = self.withheld or self.resolved or self.closings or self.withdrawn
        return self.shadow or not effects

    @property
    def closings(self) -> tuple[Judged, ...]:
        """Commits that close or correct an earlier value."""
        return tuple(j for j in self.judged if j.decision.closes or j.decision.corrects)

    def say(self) -> str:
        """A truthful sentence an assistant may voice: never "saved" for what is held."""
        if self.shadow:
            return "the gate only watches: it holds and notes nothing"
        held = [j.candidate.text for j in self.judged if j.decision.decision.holds]
        kept = [j for j in self.judged if j.decision.decision is DecisionType.COMMIT]
        parts = [f"held, not yet a fact: {text}" for text in held]
        parts += [f"now a fact: {r.text}" for r in self.resolved if r.fact_id]
        parts += [f"dropped: {r.text}" for r in self.resolved if not r.fact_id]
        parts += [f"noted: {j.candidate.text}" for j in kept if j.fact_id]
        parts += ["taken back: what was said just before"] if self.withdrawn else []
        return "; ".join(parts) if parts else "nothing to remember"


# --- events --------------------------------------------------------------------------------


class EventType(StrEnum):
    """What the ledger tells its projections, in order."""

    STAGED = "STAGED"
    RESTATED = "RESTATED"
    DISCARDED = "DISCARDED"
    EXPIRED = "EXPIRED"
    PROMOTED = "PROMOTED"
    """A staged item became a fact: write it natively, acknowledge, then reads show it. Without
    `staged`: a fact that holds again, since what had replaced it was taken back."""
    COMMITTED = "COMMITTED"
    """A fact whose words the framework's own call carries (written natively only on rebuild)."""
    SUPERSEDED = "SUPERSEDED"
    CORRECTED = "CORRECTED"
    REVOKED = "REVOKED"
    ERASED = "ERASED"
    """A whole subject: everything the projection holds of it must go."""


class Event(Model):
    """One ledger event. `seq` grows by commit order within a ledger."""

    seq: int
    event_type: EventType
    subject: Subject
    occurred_at: Instant
    recorded_at: Instant
    staged: StagedItem | None = None
    fact: Fact | None = None
    session: str | None = None
    policy_version: str = ""

    @property
    def dedup_key(self) -> str:
        """At-least-once delivery is deduplicated by this."""
        subject_of = (
            self.fact.memory_id if self.fact else self.staged.staged_id if self.staged else ""
        )
        return f"{self.event_type}:{subject_of or self.subject}"


class NativeLink(Model):
    """A framework object that carries facts: which facts, and on which words of the message."""

    projection: str
    native_id: str
    fact_ids: tuple[str, ...] = ()
    staged_ids: tuple[str, ...] = ()
    message_id: str | None = None
    text: str | None = None


JsonObject = dict[str, Any]
