"""Which projections the ledger feeds, and how much each still has to take."""

from __future__ import annotations

from sqlalchemy import func, select

from memgate_core.ledger.events import IS_STUCK
from memgate_core.ledger.runner import Runner
from memgate_core.ledger.schema import literal, outbox
from memgate_core.ledger.schema import projection as registered

_DUE, _STUCK = (  # apart, since each has an index of its own
    select(func.count())
    .select_from(outbox)
    .where(outbox.c.projection == registered.c.name, state)
    .scalar_subquery()
    for state in (outbox.c.status == literal("DUE"), IS_STUCK)
)
_BACKLOG = (
    select(registered.c.name, _DUE + _STUCK)
    .where(registered.c.active == literal(1))
    .order_by(registered.c.name)
)


def backlog(runner: Runner) -> dict[str, int]:
    """Undelivered events by registered projection, by name."""
    return {name: int(count) for name, count in runner.all(_BACKLOG, {})}
