"""What a profile held as the ledger had recorded it by a time: reads after a rollback.

A closing that was recorded later is undone for the reader, a fact recorded later is not shown. A
revocation stays in force whenever it was made: rolling back never brings back what somebody took
away.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memgate_core.model import Fact, FactStatus


def facts_as_recorded(
    facts: Iterable[Fact], recorded_by: datetime, as_of: datetime | None
) -> list[Fact]:
    """Facts that held now (or at `as_of`, world time) as recorded by a time, by valid_from."""
    then = [_as_then(fact, recorded_by) for fact in facts if _was_there(fact, recorded_by)]
    shown = [fact for fact in then if _holds(fact, as_of)]
    return sorted(shown, key=lambda fact: (fact.valid_from, fact.version))


def _was_there(fact: Fact, recorded_by: datetime) -> bool:
    return fact.recorded_at < recorded_by and fact.status is not FactStatus.REVOKED and fact.native


def _as_then(fact: Fact, recorded_by: datetime) -> Fact:
    if fact.closed_at is None or fact.closed_at < recorded_by:
        return fact
    open_again = {"status": FactStatus.CURRENT, "valid_to": None, "closed_at": None}
    return fact.model_copy(update=open_again)


def _holds(fact: Fact, as_of: datetime | None) -> bool:
    if as_of is None:
        return fact.status is FactStatus.CURRENT
    over = fact.valid_to is not None and fact.valid_to <= as_of
    return fact.status is not FactStatus.NEVER_VALID and fact.valid_from <= as_of and not over
