"""Which worker carries whose events.

Each subject has a lane a projection. A worker leases lanes, so the events of one subject reach a
projection one after another, whichever worker brings them; lanes of different subjects move side
by side (SKIP LOCKED on PostgreSQL). A lease ends with the last event it was taken for, when nobody
renewed it for `LEASE_S` (`keeping` does, while its worker lives), or when its process is found dead
on the same machine.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, or_, select, update

from memgate_core.ledger import events
from memgate_core.ledger.protocol import Delivery
from memgate_core.ledger.runner import Row, Runner
from memgate_core.ledger.schema import event as e
from memgate_core.ledger.schema import lane, literal
from memgate_core.ledger.schema import outbox as o
from memgate_core.ledger.scope import Owner, owned
from memgate_core.ledger.times import instant, micros

LEASE_S = 60
"""How long a worker that fell silent keeps its lanes."""

SECOND = 1_000_000

_HAS_WORK = (
    lane.c.projection == bindparam("projection"),
    lane.c.head_seq.is_not(None),
    lane.c.next_try_at <= bindparam("now"),
    or_(lane.c.leased_until <= bindparam("now"), lane.c.leased_by == bindparam("me")),
)
_LOOK = select(lane.c.head_seq).where(*_HAS_WORK).limit(1)
_LOOK_AT = _LOOK.where(owned(lane))
_LANES = (
    select(lane.c.tenant, lane.c.subject_id)
    .where(*_HAS_WORK)
    .order_by(lane.c.head_seq)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_LANE = _LANES.where(owned(lane))
_DELIVERY = (o.c.projection, o.c.attempts, o.c.status, o.c.error, *events.EVENT_COLUMNS)
DELIVERIES = select(*_DELIVERY).where(o.c.seq == e.c.seq, events.OF_SUBJECT).order_by(o.c.seq)
"""Outbox rows with their events; to be narrowed by whoever asks."""

_DUE = DELIVERIES.where(
    owned(o), o.c.projection == bindparam("projection"), o.c.status == literal("DUE")
).limit(bindparam("limit"))
_LEASE = (
    update(lane)
    .where(owned(lane), lane.c.projection == bindparam("of_projection"))
    .values(
        leased_by=bindparam("leased_by"),
        leased_until=bindparam("leased_until"),
        leased_through=bindparam("leased_through"),
    )
)
_MINE = (
    owned(lane),
    lane.c.projection == bindparam("of_projection"),
    lane.c.leased_by == bindparam("holder"),
)
_IS_MINE = select(lane.c.leased_until).where(*_MINE)
_RENEW = update(lane).where(*_MINE).values(leased_until=bindparam("leased_until"))
_RELEASE = update(lane).where(*_MINE).values(leased_by=None, leased_until=literal(0))
_WORKERS = select(lane.c.leased_by).where(lane.c.leased_by.is_not(None)).distinct()
_FREE = (
    update(lane)
    .where(lane.c.leased_by == bindparam("dead"))
    .values(leased_by=None, leased_until=literal(0))
)


def worker() -> str:
    """Who asks: machine, process and thread."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}"


def has_work(runner: Runner, owner: Owner | None, projection: str, now: int) -> bool:
    """A cheap look before a lease is asked for."""
    statement = _LOOK if owner is None else _LOOK_AT
    return runner.one(statement, _asked(owner, projection, now)) is not None


def take(
    runner: Runner, owner: Owner | None, projection: str, now: int, limit: int
) -> list[Delivery]:
    """Leases lanes and returns their first due events, in order."""
    statement = _LANES if owner is None else _LANE
    lanes = runner.all(statement, {**_asked(owner, projection, now), "limit": limit})
    found: list[Delivery] = []
    for tenant, subject_id in lanes:
        whose = {"tenant": tenant, "subject_id": subject_id}
        wanted = {**whose, "projection": projection, "limit": limit - len(found)}
        batch = [delivery_from(row) for row in runner.all(_DUE, wanted)]
        if batch:
            until = lease_end(instant(now))
            runner.run(_LEASE, {**whose, **_lease(projection, until, batch[-1].event.seq)})
            found += [one.model_copy(update={"leased_until": until}) for one in batch]
        if len(found) >= limit:
            break
    return sorted(found, key=lambda delivery: delivery.event.seq)


def lease_end(now: datetime) -> datetime:
    """When a lease that is taken or renewed at `now` ends by itself."""
    return now + timedelta(seconds=LEASE_S)


def renew(runner: Runner, owner: Owner, projection: str, holder: str, until: int) -> bool:
    """Extends a worker's lease on a lane; False when it has none."""
    asked = {**_held(owner, projection, holder), "leased_until": until}
    return runner.run(_RENEW, asked) == 1


def is_held(runner: Runner, owner: Owner, projection: str, holder: str) -> bool:
    """True when the worker has a lease on the lane."""
    return runner.one(_IS_MINE, _held(owner, projection, holder)) is not None


def release(runner: Runner, owner: Owner, projection: str, holder: str) -> None:
    """Ends a worker's lease on a lane, if it has one."""
    runner.run(_RELEASE, _held(owner, projection, holder))


def dead_workers(runner: Runner) -> list[str]:
    """Holders of leases that were processes of this machine and are gone."""
    host = socket.gethostname()
    holders = [who.rsplit(":", 2) for (who,) in runner.all(_WORKERS, {})]
    return [
        f"{machine}:{pid}:{thread}"
        for machine, pid, thread in holders
        if machine == host and not _is_alive(int(pid))
    ]


def free(runner: Runner, workers: Iterable[str]) -> None:
    """Ends the leases of workers."""
    for who in workers:
        runner.run(_FREE, {"dead": who})


def delivery_from(row: Row) -> Delivery:
    """A delivery from a row of `DELIVERIES`."""
    projection, attempts, status, error = row[:4]
    return Delivery(
        projection=projection,
        event=events.event_from(row[4:]),
        attempts=attempts,
        parked=status == "PARKED",
        error=error,
    )


def _asked(owner: Owner | None, projection: str, now: int) -> dict[str, Any]:
    whose = {} if owner is None else owner.params
    return {**whose, "projection": projection, "now": now, "me": worker()}


def _held(owner: Owner, projection: str, holder: str) -> dict[str, Any]:
    return {**owner.params, "of_projection": projection, "holder": holder}


def _lease(projection: str, until: datetime, through: int) -> dict[str, Any]:
    return {
        "of_projection": projection,
        "leased_by": worker(),
        "leased_until": micros(until),
        "leased_through": through,
    }


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
