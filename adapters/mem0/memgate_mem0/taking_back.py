"""Revoking from Mem0's side: what the application deletes there is taken back in the ledger.

Status first, then the event that projections act on (article: revocation).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import EventType, Fact, FactStatus, StagedItem, StagedStatus, Subject

_LIVE = (FactStatus.CURRENT, FactStatus.SUPERSEDED)
_HELD = (StagedStatus.PENDING, StagedStatus.PROMOTING)


def revoke(
    ledger: Ledger,
    subject: Subject,
    *,
    facts: Iterable[str] = (),
    staged: Iterable[str] = (),
    by: str,
) -> None:
    """Revokes facts and held items of one subject, by id, in one transaction. Repeatable.

    Raises:
        LedgerError: nothing was written.
    """
    now = datetime.now(UTC)
    with ledger.write(subject) as tx:
        for fact_id in facts:
            fact = tx.fact(fact_id)
            if fact is None or fact.status not in _LIVE:
                continue
            ended = _ended(fact, now)
            tx.lock([fact.key])
            tx.close_fact(ended)
            tx.append(EventType.REVOKED, occurred_at=now, fact=ended)
            tx.audit("revoke", fact_id, by=by)
        for staged_id in staged:
            item = tx.staged(staged_id)
            if item is None or item.status not in _HELD:
                continue
            gone = _gone(item, now, by)
            tx.update_staged(gone, expected=item.status)
            tx.append(EventType.REVOKED, occurred_at=now, staged=gone)
            tx.audit("revoke", staged_id, by=by)


def revoke_subject(ledger: Ledger, subject: Subject, *, by: str) -> None:
    """Revokes everything that is held or known of a subject."""
    facts = ledger.facts(subject, include_closed=True, include_pending_native=True)
    held = [item for item in ledger.staged(subject, status=None) if item.status in _HELD]
    revoke(
        ledger,
        subject,
        facts=[fact.fact_id for fact in facts],
        staged=[item.staged_id for item in held],
        by=by,
    )


def _ended(fact: Fact, now: datetime) -> Fact:
    until = fact.valid_to or max(now, fact.valid_from)
    return fact.model_copy(
        update={"status": FactStatus.REVOKED, "valid_to": until, "closed_at": now}
    )


def _gone(item: StagedItem, now: datetime, by: str) -> StagedItem:
    return item.model_copy(
        update={"status": StagedStatus.REVOKED, "resolved_at": now, "reason": f"revoked by {by}"}
    )
