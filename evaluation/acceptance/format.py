"""The acceptance form: one turn against one field's known value, and what must come of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evaluation.jsonl import Record
from evaluation.words import Words
from memgate_core.model import Role

Outcome = Literal["commit", "hold", "reject", "correct", "none"]


class HistoryLine(Record):
    """A preceding message."""

    role: Role
    content: Words


class CaseTurn(Record):
    """The message that is judged."""

    role: Role
    content: Words
    speaker: str | None = None


class CaseField(Record):
    """The registered field."""

    attribute: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str = Field(min_length=1)


class AcceptanceCase(Record):
    """What the gate must do with a turn, given what the profile holds."""

    id: str = Field(min_length=1)
    category: str
    history: tuple[HistoryLine, ...] = ()
    turn: CaseTurn
    field: CaseField
    known: str | None = None
    expect: Outcome
    value: str | None = None
    never_current: tuple[str, ...] = ()


class CaseTrace(Record):
    """What the gate did."""

    id: str
    decision: Outcome
    value: str | None
    current: str | None
    reason: str
