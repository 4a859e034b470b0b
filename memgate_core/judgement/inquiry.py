"""What a model is asked about a turn, and what it found: the same for every model backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from pydantic import Field

from memgate_core.model import (
    EvidenceType,
    FieldSpec,
    HistoryTurn,
    Model,
    ResolutionType,
    Role,
    Span,
    Standing,
    Statement,
)


class Passage(Model):
    """A message in its place: what the asked rows quote."""

    message: str
    role: Role = Role.USER
    history: tuple[HistoryTurn, ...] = ()

    @classmethod
    def of(cls, statement: Statement) -> Passage:
        """The message that a statement stands in."""
        return cls(message=statement.message, role=statement.role, history=statement.history)


class Row(Model):
    """Some words of a passage, and the value that somebody read out of them, if any."""

    passage: Passage
    words: str
    start: int = 0
    entity: str = "user"
    attribute: str | None = None
    value: str | None = None

    @property
    def bare(self) -> Row:
        """The same words without any value: what the evidence type alone depends on."""
        return Row(passage=self.passage, words=self.words, start=self.start)


class HeldRow(Model):
    """A held item, asked against a passage."""

    passage: Passage
    staged_id: str
    plan: str
    said: str
    said_on: date
    true_when: str
    off_when: str
    attribute: str | None = None
    parts: tuple[Span, ...] = ()
    """The sentences of the passage's message, one of which may settle the item."""


class Inquiry(Model):
    """Everything that one request asks."""

    rows: tuple[Row, ...] = ()
    held: tuple[HeldRow, ...] = ()
    unplaced: tuple[Row, ...] = ()
    """Those of the rows whose field no name settles; the model is to name it."""
    fields: tuple[FieldSpec, ...] = ()
    """The registered fields, for `unplaced`."""
    said_on: date | None = None
    """The day of the message, where there is only one."""

    @property
    def passages(self) -> list[Passage]:
        """The messages that the rows stand in, each once."""
        found = [row.passage for row in self.rows] + [row.passage for row in self.held]
        return list(dict.fromkeys(found))


class RowFinding(Model):
    """What a model found about a row. It holds none of the user's words but in `conditions`."""

    probabilities: dict[EvidenceType, float]
    standing: Standing = Standing.OWN
    slot: str | None = None
    """Name of the field, for `unplaced` rows."""
    cue: Span | None = None
    """Where, inside the row's words, the model saw the reason."""
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)

    @property
    def evidence_type(self) -> EvidenceType:
        """The most probable class."""
        return max(self.probabilities, key=lambda kind: self.probabilities[kind])


class Conditions(Model):
    """What would settle a plan, in a model's words (paper A.6)."""

    true_when: str
    off_when: str


class HeldFinding(Model):
    """What a model found about a held item."""

    resolution: ResolutionType
    confidence: float = Field(ge=0.0, le=1.0)
    span: Span | None = None
    """The words of the message that settle it."""


class Missing(Model):
    """A row that the model did not answer, or not as agreed. Whoever meets it holds."""

    reason: str


@dataclass
class Findings:
    """The answers to an inquiry, by the asked row."""

    rows: dict[Row, RowFinding | Missing] = field(default_factory=dict)
    held: dict[HeldRow, HeldFinding | Missing] = field(default_factory=dict)
    conditions: dict[Row, Conditions] = field(default_factory=dict)
