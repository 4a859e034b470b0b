"""Step 9, second half: what a framework's own LLM extracted is judged again before it is stored.

The framework saw only forwarded words, yet a model may echo an assistant's line, invent, or
soften. Each extracted text is laid on its source words; what rests on held words, or on none,
is not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgate_core.extraction.align import align
from memgate_core.fields.values import same_value
from memgate_core.ledger.terms import terms_of
from memgate_core.model import (
    Candidate,
    EvidenceType,
    Model,
    Role,
    Source,
    StagedItem,
    Standing,
    Statement,
    Subject,
    Turn,
)

if TYPE_CHECKING:
    from memgate_core.assembly import Parts
    from memgate_core.ledger.protocol import TurnRecord

_SURE = 0.8
"""A paraphrase alone holds a memory back only when it is this surely a plan."""


class Extracted(Model):
    """The verdict on one extracted memory text."""

    text: str
    allowed: bool
    reason: str
    message_id: str | None = None
    fact_ids: tuple[str, ...] = ()
    """Facts of the turn that rest on the same words: the native memory carries them."""


def judge_extracted(
    parts: Parts, subject: Subject, message_ids: Sequence[str], texts: Sequence[str]
) -> list[Extracted]:
    """One verdict a text, in order. A message id that is not recorded yields refusals only."""
    records = [r for m in message_ids if (r := parts.ledger.turn(subject, m)) is not None]
    return [_judge(parts, subject, records, text) for text in texts]


def _judge(parts: Parts, subject: Subject, records: Sequence[TurnRecord], text: str) -> Extracted:
    if (held := _held_value_in(parts, subject, records, text)) is not None:
        return Extracted(text=text, allowed=False, reason=f"rests on held words ({held.staged_id})")
    if parts.screener.secret_in(text):
        return Extracted(text=text, allowed=False, reason="credentials are never kept")
    source = _source(records, text)
    if source is None:
        return Extracted(text=text, allowed=False, reason="no forwarded words that it rests on")
    record, candidate = source
    if (role := _role_of(record)) is not Role.USER:
        return Extracted(
            text=text,
            allowed=False,
            reason=f"rests on words of the {role}",
            message_id=record.message_id,
        )
    if _reads_as_plan(parts, candidate.text):
        return Extracted(
            text=text, allowed=False, reason="put as a plan", message_id=record.message_id
        )
    return Extracted(
        text=text,
        allowed=True,
        reason="rests on forwarded words",
        message_id=record.message_id,
        fact_ids=_facts_on(record, candidate),
    )


def _held_value_in(
    parts: Parts, subject: Subject, records: Sequence[TurnRecord], text: str
) -> StagedItem | None:
    forwarded = " ".join(record.receipt.forward or "" for record in records)
    for item in parts.ledger.touched(subject, terms_of(text), session=None, limit=24):
        named = item.value if item.value is not None else item.text
        if not _mentions(text, named):
            continue
        if not _mentions(forwarded, named) or not _speaks_of_it_otherwise(records, item):
            return item
    return None


def _speaks_of_it_otherwise(records: Sequence[TurnRecord], item: StagedItem) -> bool:
    """True when forwarded words name the held value as a fact, or of somebody else.

    "Still unsure about the vegan thing" names it too, and a model makes "is vegan" of that.
    """
    if item.value is None:
        return True
    return any(
        _mentions(judged.candidate.words, item.value)
        and (
            judged.standing.standing is Standing.OTHER_PERSON
            or (judged.fact_id is not None and judged.match.field is not None)
        )
        for record in records
        for judged in record.receipt.judged
    )


def _mentions(text: str, named: str) -> bool:
    wanted = terms_of(named)
    return same_value(named, text) or (bool(wanted) and wanted <= terms_of(text))


def _source(records: Sequence[TurnRecord], text: str) -> tuple[TurnRecord, Candidate] | None:
    """The forwarded words a text rests on best: exact or fuzzy, else the only message there is."""
    found = [
        (record, candidate)
        for record in records
        if record.receipt.forward
        for candidate in align(_turn_of(record), [{"text": text}])
    ]
    aligned = [pair for pair in found if pair[1].aligned and not _withheld(*pair)]
    if aligned:
        wanted = terms_of(text)
        return max(aligned, key=lambda pair: len(wanted & terms_of(pair[1].words)))
    users = [pair for pair in found if _role_of(pair[0]) is Role.USER]
    return users[0] if len(users) == 1 and not users[0][0].receipt.withheld else None


def _withheld(record: TurnRecord, candidate: Candidate) -> bool:
    return any(span.overlaps(candidate.evidence.span) for span in record.receipt.withheld)


def _reads_as_plan(parts: Parts, text: str) -> bool:
    judged = parts.second_line.classify([Statement(text=text, message=text)])[0]
    plan = judged.evidence_type is EvidenceType.SPECULATION
    return plan and judged.hold_probability >= _SURE


def _facts_on(record: TurnRecord, candidate: Candidate) -> tuple[str, ...]:
    span = candidate.evidence.span
    return tuple(
        judged.fact_id
        for judged in record.receipt.judged
        if judged.fact_id is not None and judged.candidate.evidence.span.overlaps(span)
    )


def _turn_of(record: TurnRecord) -> Turn:
    role = _role_of(record)
    return Turn(
        subject=record.subject,
        message_id=record.message_id,
        role=role,
        source=Source.USER if role is Role.USER else Source.ASSISTANT,
        text=record.text,
        occurred_at=record.occurred_at,
    )


def _role_of(record: TurnRecord) -> Role:
    return record.role
