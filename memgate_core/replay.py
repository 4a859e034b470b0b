"""Recorded messages once more, under another configuration: what would be decided otherwise.

Each subject's turns go, in the order they were recorded, through a gate of their own on a ledger in
memory; the recorded ledger is only read. What people did in between (approvals, confirmations,
revocations) is not repeated, so turns after it may differ for that reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from memgate_core.assembly import Parts, assemble
from memgate_core.gate import MemoryGate
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.protocol import Ledger, TurnRecord
from memgate_core.model import Candidate, Judged, Model, Receipt, Subject

PROPOSED_BY_CALLER = "proposals/"
"""How the extractor's name begins on candidates that came with the turn."""


class ReplayExtraction(StrEnum):
    """Where a replay's proposals come from."""

    RECORDED = "recorded"
    """As they came with each turn the first time."""
    LOCAL = "local"
    """Read anew, by what the other configuration reads with: the gate's own extractor and readers,
    and the model where it has one."""


class Change(Model):
    """One thing that would be decided otherwise; None where it would not come up at all."""

    what: str
    """The field, or the open statement's words."""
    value: str | None
    before: str | None
    after: str | None
    before_rule: str | None = None
    after_rule: str | None = None


class TurnDifference(Model):
    """How one recorded turn would come out."""

    subject: Subject
    message_id: str
    occurred_at: datetime
    changes: tuple[Change, ...]


class ReplaySummary(Model):
    """A whole replay in figures."""

    turns: int
    differing: int
    changes: dict[str, int]
    """"COMMIT -> STAGE" and the like, with how often."""


def replay(
    ledger: Ledger,
    *,
    subject: Subject | None = None,
    extraction: ReplayExtraction = ReplayExtraction.RECORDED,
    **options: Any,
) -> Iterator[TurnDifference]:
    """Every recorded turn of a subject, or of all, with what would differ; those with nothing
    different too, so that a caller can count them. Writes nothing.

    `options` describe the other configuration, as for `MemoryGate.open`.

    Raises:
        ConfigurationError: an option that cannot be used.
    """
    parts = assemble("sqlite://", **options)
    parts.ledger.close()
    for whose in [subject] if subject is not None else ledger.subjects():
        yield from _replay_of(ledger, whose, parts, extraction)


def summed_up(differences: Iterable[TurnDifference]) -> ReplaySummary:
    """The figures of a replay."""
    turns = differing = 0
    changes: Counter[str] = Counter()
    for one in differences:
        turns += 1
        differing += bool(one.changes)
        changes.update(f"{c.before or 'nothing'} -> {c.after or 'nothing'}" for c in one.changes)
    return ReplaySummary(turns=turns, differing=differing, changes=dict(changes.most_common()))


def _replay_of(
    ledger: Ledger, whose: Subject, parts: Parts, extraction: ReplayExtraction
) -> Iterator[TurnDifference]:
    with MemoryGate(replace(parts, ledger=open_ledger("sqlite://"))) as gate:
        for record in ledger.turns(whose):
            if not record.text:  # erased
                continue
            proposals = _proposals(ledger, record) if extraction is _RECORDED else None
            receipt = gate.observe(record.as_turn(), proposals, carried=True)
            yield TurnDifference(
                subject=whose,
                message_id=record.message_id,
                occurred_at=record.occurred_at,
                changes=tuple(_changes(record.receipt, receipt)),
            )


_RECORDED = ReplayExtraction.RECORDED


def _proposals(ledger: Ledger, record: TurnRecord) -> Sequence[Mapping[str, Any]] | None:
    """What the caller's extractor had proposed for the turn, as it would come again."""
    stored = ledger.proposals(record.subject, message_id=record.message_id)
    found = [p.candidate for p in stored if _came_with_the_turn(p.candidate)]
    return [
        {
            "entity": candidate.entity,
            "attribute": candidate.attribute,
            "value": candidate.value,
            "text": candidate.text,
            "span": candidate.words,
            "confidence": candidate.confidence,
            "expires_at": candidate.expires_at,
        }
        for candidate in found
    ] or None


def _came_with_the_turn(candidate: Candidate) -> bool:
    return candidate.given or candidate.extractor.startswith(PROPOSED_BY_CALLER)


def _changes(before: Receipt, after: Receipt) -> Iterator[Change]:
    old, new = _decided(before), _decided(after)
    for slot in dict.fromkeys((*old, *new)):
        was, now = old.get(slot), new.get(slot)
        if _outcome(was) != _outcome(now):
            yield _change(slot, was, now)
    yield from _settled_otherwise(before, after)


def _decided(receipt: Receipt) -> dict[tuple[str, str | None], Judged]:
    return {_slot(judged): judged for judged in receipt.judged}


def _slot(judged: Judged) -> tuple[str, str | None]:
    candidate = judged.candidate
    if judged.match.field is None:
        return candidate.words, None
    return judged.match.field.attribute, (candidate.value or "").casefold()


def _outcome(judged: Judged | None) -> str | None:
    return None if judged is None else judged.decision.decision.value


def _change(slot: tuple[str, str | None], was: Judged | None, now: Judged | None) -> Change:
    shown = now or was
    return Change(
        what=slot[0],
        value=shown.candidate.value if shown else None,
        before=_outcome(was),
        after=_outcome(now),
        before_rule=was.decision.rule if was else None,
        after_rule=now.decision.rule if now else None,
    )


def _settled_otherwise(before: Receipt, after: Receipt) -> Iterator[Change]:
    old = {(r.attribute, r.value or r.text): r.resolution.value for r in before.resolved}
    new = {(r.attribute, r.value or r.text): r.resolution.value for r in after.resolved}
    for held in dict.fromkeys((*old, *new)):
        if old.get(held) != new.get(held):
            yield Change(
                what=f"held {held[0] or 'item'}",
                value=held[1],
                before=old.get(held),
                after=new.get(held),
            )
