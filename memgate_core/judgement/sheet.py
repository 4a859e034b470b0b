"""The form that a language model fills in, and how its rows are checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from memgate_core.judgement.inquiry import Conditions, HeldFinding, HeldRow, Row, RowFinding
from memgate_core.model import EvidenceType, ResolutionType, Span, Standing

_TYPES = Literal["speculation", "completed_event", "correction", "other"]
_STANDINGS = Literal[
    "own",
    "other_person",
    "temporary",
    "quoted",
    "non_literal",
    "past",
    "negated",
    "retraction",
    "unsupported",
]
_SECOND = 0.8
"""Share of the doubt that goes to the runner-up."""


class StatementAnswer(BaseModel):
    """One row under `statements`."""

    n: int
    type: _TYPES
    confidence: float
    runner_up: _TYPES | None = None
    standing: _STANDINGS = "own"
    slot: str | None = None
    cue: str | None = None
    true_when: str | None = None
    off_when: str | None = None


class HeldAnswer(BaseModel):
    """One row under `held`."""

    n: int
    outcome: Literal["confirm", "abandon", "nothing"]
    confidence: float
    words: str | None = None


class Sheet(BaseModel):
    """Everything that one request answers."""

    statements: list[StatementAnswer] = Field(default_factory=list)
    held: list[HeldAnswer] = Field(default_factory=list)


class HeldSheet(BaseModel):
    """What a request about held items alone answers."""

    held: list[HeldAnswer]


class StatementSheet(BaseModel):
    """What a request about statements alone answers."""

    statements: list[StatementAnswer]


def numbered(found: Mapping[str, Any], part: str) -> dict[int, Mapping[str, Any]]:
    """The rows of one part of the answer by their numbers; a number given twice counts for none."""
    rows = found.get(part)
    seen: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and isinstance(row.get("n"), int):
            seen.setdefault(row["n"], []).append(row)
    return {n: rows[0] for n, rows in seen.items() if len(rows) == 1}


def row_finding(answer: StatementAnswer, row: Row) -> RowFinding:
    """A checked row as a finding."""
    confidence = min(1.0, max(0.0, answer.confidence))
    return RowFinding(
        probabilities=_distribution(answer, confidence),
        standing=Standing(answer.standing),
        slot=None if answer.slot in (None, "", "none") else answer.slot,
        cue=_quoted(answer.cue, row.words),
        confidence=confidence,
    )


def conditions_of(answer: StatementAnswer) -> Conditions | None:
    """The two conditions of a plan, where the model wrote both."""
    if answer.type != "speculation" or not answer.true_when or not answer.off_when:
        return None
    return Conditions(true_when=answer.true_when.strip(), off_when=answer.off_when.strip())


def held_finding(answer: HeldAnswer, row: HeldRow) -> HeldFinding:
    """A checked row as a finding; its span is None when the quoted words are not there."""
    return HeldFinding(
        resolution=ResolutionType(answer.outcome),
        confidence=min(1.0, max(0.0, answer.confidence)),
        span=_quoted(answer.words, row.passage.message),
    )


def _distribution(answer: StatementAnswer, confidence: float) -> dict[EvidenceType, float]:
    """The answered class keeps the lead whatever the confidence says of it."""
    top = EvidenceType(answer.type)
    second = EvidenceType(answer.runner_up) if answer.runner_up not in (None, answer.type) else None
    lead = max(confidence, 0.4)
    doubt = 1.0 - lead
    others = [kind for kind in EvidenceType if kind not in (top, second)]
    to_second = min(lead, doubt * _SECOND) if second is not None else 0.0
    rest = (doubt - to_second) / len(others)
    by_class = {top: lead, **dict.fromkeys(others, rest)}
    if second is not None:
        by_class[second] = to_second
    return by_class


def _quoted(words: str | None, text: str) -> Span | None:
    wanted = (words or "").strip().strip("\"'“”‘’")
    if not wanted:
        return None
    at = text.find(wanted)
    if at < 0:
        at = text.casefold().find(wanted.casefold()) if len(text.casefold()) == len(text) else -1
    return Span(start=at, end=at + len(wanted)) if at >= 0 else None
