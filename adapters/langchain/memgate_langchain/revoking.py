"""What the application deletes or overwrites in its store is taken back in the ledger."""

from __future__ import annotations

from collections.abc import Iterable

from memgate_core.gate import MemoryGate
from memgate_core.model import StagedStatus, Subject

APPLICATION = "application"
"""Who the audit trail names for a change that came through the framework's own calls."""

_HELD = (StagedStatus.PENDING, StagedStatus.PROMOTING)


def revoke(gate: MemoryGate, subject: Subject, ids: Iterable[str]) -> None:
    """Revokes facts and held items of one subject, by id, and delivers. Repeatable."""
    found = list(dict.fromkeys(ids))
    if found:
        gate.revocation.revoke_all(subject, found, by=APPLICATION)


def revoke_everything(gate: MemoryGate, subject: Subject) -> None:
    """Revokes everything that is held or known of a subject, and delivers."""
    facts = gate.ledger.facts(subject, include_closed=True, include_pending_native=True)
    held = [i for i in gate.ledger.staged(subject, status=None) if i.status in _HELD]
    revoke(gate, subject, [*(f.fact_id for f in facts), *(i.staged_id for i in held)])
