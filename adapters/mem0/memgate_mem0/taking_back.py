"""Taking back in the ledger what the application deletes in Mem0."""

from __future__ import annotations

from collections.abc import Iterable

from memgate_core.gate import MemoryGate
from memgate_core.model import StagedStatus, Subject

APPLICATION = "application"
"""Who the audit trail names for a change that came through Mem0's own calls."""

_HELD = (StagedStatus.PENDING, StagedStatus.PROMOTING)


def revoke(gate: MemoryGate, subject: Subject, ids: Iterable[str]) -> None:
    """Revokes facts and held items of one subject, by id, and delivers. Repeatable."""
    found = list(dict.fromkeys(ids))
    if found:
        gate.revocation.revoke_all(subject, found, by=APPLICATION)


def revoke_subject(gate: MemoryGate, subject: Subject) -> None:
    """Revokes everything that is held or known of a subject, and delivers."""
    ledger = gate.ledger
    facts = ledger.facts(subject, include_closed=True, include_pending_native=True)
    held = [item for item in ledger.staged(subject, status=None) if item.status in _HELD]
    revoke(gate, subject, [*(f.fact_id for f in facts), *(item.staged_id for item in held)])
