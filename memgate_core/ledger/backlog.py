"""Which projections the ledger feeds, and how much each still has to take."""

from __future__ import annotations

from sqlalchemy import func, select

from memgate_core.ledger.runner import Runner
from memgate_core.ledger.schema import literal, outbox
from memgate_core.ledger.schema import projection as registered

_WAITING = (
    select(func.count())
    .select_from(outbox)
    .where(
        outbox.c.projection == registered.c.name,
        outbox.c.status.in_([literal("DUE"), literal("BLOCKED"), literal("PARKED")]),
    )
    .scalar_subquery()
)
_BACKLOG = (
    select(registered.c.name, _WAITING)
    .where(registered.c.active == literal(1))
    .order_by(registered.c.name)
)


def backlog(runner: Runner) -> dict[str, int]:
    """Undelivered events by registered projection, by name."""
    return {name: int(count) for name, count in runner.all(_BACKLOG, {})}
