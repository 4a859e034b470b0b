"""A turn: whose it is, who speaks, and the words of it that something rests on."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from memgate_core.model.base import USER_ENTITY, Instant, Model, sha256_of


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
