"""What a pipeline writes down of a conversation: one line a user turn, one at its end."""

from __future__ import annotations

from datetime import datetime

from evaluation.jsonl import Record


class DecisionLine(Record):
    """What was decided about one candidate. `attribute` is None for an open statement."""

    decision: str
    evidence_type: str | None
    attribute: str | None
    value: str | None
    text: str
    span: tuple[int, int] | None
    reason: str
    rule: str | None = None
    staged_id: str | None = None


class ResolutionLine(Record):
    """A held item that this turn settled: promoted or discarded."""

    staged_id: str
    value: str | None
    resolution: str
    reason: str
    attribute: str | None = None
    text: str | None = None


class CurrentLine(Record):
    """The registered field's value as a read returns it now."""

    value: str | None
    valid_from: datetime | None = None


class StagedLine(Record):
    """An item that is held now."""

    staged_id: str
    attribute: str | None
    value: str | None
    status: str
    text: str | None = None


class TurnTrace(Record):
    """One user turn. `turn` counts all turns of the conversation from 0."""

    id: str
    turn: int
    current: dict[str, CurrentLine]
    decisions: tuple[DecisionLine, ...] = ()
    resolutions: tuple[ResolutionLine, ...] = ()
    staged: tuple[StagedLine, ...] = ()
    memory: list[str] | None = None
    masked: list[str] | None = None
    """Plan-typed baseline only: values written as plans and hidden from reads."""
    model_calls: int = 0
    model_tokens: int | None = None
    """With a model backend only, as `model_ms`."""
    model_ms: float | None = None
    gate_ms: float = 0.0
    faults: list[str] | None = None

    def value_of(self, attribute: str) -> str | None:
        """The field's value as it was read after this turn."""
        line = self.current.get(attribute)
        return line.value if line else None


class Final(Record):
    """What holds when the conversation is over."""

    answer: str | None
    staged_pending: int = 0


class FinalTrace(Record):
    """The last line of a conversation."""

    id: str
    final: Final


class Trace(Record):
    """A whole conversation's lines."""

    turns: list[TurnTrace]
    final: FinalTrace

    def at(self, index: int) -> TurnTrace | None:
        """The line of a turn."""
        return next((line for line in self.turns if line.turn == index), None)
