"""What becomes of an event that a projection took, or did not take.

A failure lets the subject's lane wait, longer each time; after too many the event is parked, and
then holds back only later events on its own key.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from memgate_core.ledger import events, facts, staging
from memgate_core.ledger.leases import DELIVERIES, SECOND, delivery_from
from memgate_core.ledger.protocol import Delivery
from memgate_core.ledger.runner import Row, Runner
from memgate_core.ledger.schema import event as e
from memgate_core.ledger.schema import lane, literal
from memgate_core.ledger.schema import outbox as o
from memgate_core.ledger.schema import subject as s
from memgate_core.ledger.scope import Owner, owned
from memgate_core.model import Event, EventType, StagedStatus, Subject

MAX_ERROR = 500
"""Characters kept of an error text."""

_FIRST_WAIT_S, _LONGEST_WAIT_S = 1, 3600
_WHOLE_LANE = 2**62

_ROW = select(o.c.status, o.c.attempts, o.c.topic).where(
    owned(o), o.c.seq == bindparam("seq"), o.c.projection == bindparam("projection")
)
_THIS = (o.c.seq == bindparam("of_seq"), o.c.projection == bindparam("of_projection"))
_MINE = (owned(o), o.c.projection == bindparam("of_projection"))
_UNDELIVERED_STATES = [literal("DUE"), literal("PARKED"), literal("BLOCKED")]
_DONE = (
    update(o)
    .where(*_THIS)
    .values(status=literal("DONE"), settled_at=bindparam("settled_at"), error=None)
)
_FAILED = (
    update(o)
    .where(*_THIS)
    .values(status=bindparam("status"), attempts=bindparam("attempts"), error=bindparam("error"))
)
_REMOVALS = [literal(kind.value) for kind in sorted(events.REMOVALS)]
_LATER_REMOVALS = select(e.c.seq).where(
    owned(e), e.c.seq > bindparam("seq"), e.c.event_type.in_(_REMOVALS)
)
_BLOCK = (
    update(o)
    .where(
        *_MINE,
        o.c.topic == bindparam("of_topic"),
        o.c.status == literal("DUE"),
        o.c.seq > bindparam("seq"),
        o.c.seq.not_in(_LATER_REMOVALS),
    )
    .values(status=literal("BLOCKED"))
)
_UNPARK = (
    update(o)
    .where(*_MINE, events.IS_STUCK, o.c.status == literal("PARKED"))
    .values(status=literal("DUE"), attempts=literal(0))
)
_WITHDRAW_DUE, _WITHDRAW_STUCK = (
    update(o)
    .where(*_MINE, state)
    .values(status=literal("VOID"), settled_at=bindparam("settled_at"))
    for state in (o.c.status == literal("DUE"), events.IS_STUCK)
)
_WAIT = (
    update(lane)
    .where(owned(lane), lane.c.projection == bindparam("of_projection"))
    .values(next_try_at=bindparam("next_try_at"))
)
_END_WAITS = (
    update(lane)
    .where(lane.c.projection == bindparam("of_projection"), lane.c.next_try_at > bindparam("now"))
    .values(next_try_at=literal(0))
)
_DROP_LANE = delete(lane).where(owned(lane), lane.c.projection == bindparam("of_projection"))
_IS_PARKED = o.c.status == literal("PARKED")
_PARKED = DELIVERIES.where(_IS_PARKED)
_PARKED_OF = _PARKED.where(o.c.projection == bindparam("projection"))
_OF_LANE = DELIVERIES.where(owned(o), o.c.projection == bindparam("projection"))
_DUE_OF = _OF_LANE.where(o.c.status == literal("DUE"))
_STUCK_OF = _OF_LANE.where(events.IS_STUCK)
_SUBJECTS = select(s.c.tenant, s.c.user_id, s.c.actor).distinct()
_SUBJECTS_PARKED = _SUBJECTS.where(
    s.c.tenant == o.c.tenant,
    s.c.subject_id == o.c.subject_id,
    o.c.projection == bindparam("projection"),
    _IS_PARKED,
)
_SUBJECTS_DUE = _SUBJECTS.where(
    s.c.tenant == lane.c.tenant,
    s.c.subject_id == lane.c.subject_id,
    lane.c.projection == bindparam("projection"),
    lane.c.head_seq.is_not(None),
)
_UNDELIVERED = (
    select(o.c.projection)
    .where(o.c.seq == bindparam("seq"), o.c.status.in_(_UNDELIVERED_STATES))
    .limit(1)
)


class Outcome(NamedTuple):
    """What the outbox knows about an event and a projection: DUE, DONE, PARKED (given up on),
    BLOCKED (behind a parked one) or VOID (overtaken before it was delivered)."""

    status: str
    attempts: int
    topic: str


def outcome(runner: Runner, owner: Owner, projection: str, seq: int) -> Outcome | None:
    """How an event stands with a projection."""
    row = runner.one(_ROW, {**owner.params, "projection": projection, "seq": seq})
    return None if row is None else Outcome(*row)


def done(runner: Runner, owner: Owner, delivery: Delivery, before: Outcome, now: int) -> None:
    """Marks an event delivered and moves the lane on."""
    seq, name = delivery.event.seq, delivery.projection
    runner.run(_DONE, {"of_seq": seq, "of_projection": name, "settled_at": now})
    if before.status == "PARKED":
        events.unblock(runner, owner)
    events.new_head(runner, owner, name, seq)


def failed(
    runner: Runner,
    owner: Owner,
    delivery: Delivery,
    before: Outcome,
    *,
    error: str,
    park_after: int,
    now: int,
) -> None:
    """Counts a failed try; lets the lane wait, or parks the event."""
    seq, name = delivery.event.seq, delivery.projection
    attempts = before.attempts + 1
    parks = attempts >= park_after
    counted = {"attempts": attempts, "error": error[:MAX_ERROR]}
    status = "PARKED" if parks else "DUE"
    runner.run(_FAILED, {"of_seq": seq, "of_projection": name, "status": status, **counted})
    lane_of = {**owner.params, "of_projection": name}
    if parks:
        runner.run(_BLOCK, {**lane_of, "of_topic": before.topic, "seq": seq})
    runner.run(_WAIT, {**lane_of, "next_try_at": now if parks else now + _wait(attempts)})
    events.new_head(runner, owner, name, _WHOLE_LANE)


def parked(runner: Runner, projection: str | None) -> list[Delivery]:
    """Events that were given up on, in order."""
    if projection is None:
        return [delivery_from(row) for row in runner.all(_PARKED, {})]
    return [delivery_from(row) for row in runner.all(_PARKED_OF, {"projection": projection})]


def unpark(runner: Runner, owner: Owner, projection: str) -> int:
    """Makes a subject's parked events due again, and what waited behind them."""
    lane_of = {**owner.params, "of_projection": projection}
    count = runner.run(_UNPARK, lane_of)
    events.unblock(runner, owner)
    events.new_head(runner, owner, projection, -1)
    runner.run(_WAIT, {**lane_of, "next_try_at": 0})
    return count


def end_waits(runner: Runner, projection: str, now: int) -> int:
    """Lets no lane wait any longer; returns how many did."""
    return runner.run(_END_WAITS, {"of_projection": projection, "now": now})


def withdraw(runner: Runner, owner: Owner, projection: str, now: int) -> int:
    """Makes void what a subject's projection was still to take; returns how many events."""
    asked = {**owner.params, "projection": projection}
    waiting = runner.all(_DUE_OF, asked) + runner.all(_STUCK_OF, asked)
    lane_of = {**owner.params, "of_projection": projection}
    runner.run(_WITHDRAW_DUE, {**lane_of, "settled_at": now})
    runner.run(_WITHDRAW_STUCK, {**lane_of, "settled_at": now})
    runner.run(_DROP_LANE, lane_of)
    for row in waiting:
        settle_if_delivered(runner, owner, delivery_from(row).event)
    return len(waiting)


def subjects_with_parked(runner: Runner, projection: str) -> list[Subject]:
    """Whose events are parked."""
    return _subjects(runner.all(_SUBJECTS_PARKED, {"projection": projection}))


def subjects_with_undelivered(runner: Runner, projection: str) -> list[Subject]:
    """Who has events that the projection did not take yet."""
    asked = {"projection": projection}
    return _subjects(runner.all(_SUBJECTS_DUE, asked) + runner.all(_SUBJECTS_PARKED, asked))


def waits_for_native_write(event: Event) -> bool:
    """True for an event whose acknowledgement makes a fact readable."""
    if event.event_type not in (EventType.PROMOTED, EventType.COMMITTED) or event.fact is None:
        return False
    promoting = event.staged is not None and event.staged.status is StagedStatus.PROMOTING
    return promoting or not event.fact.native


def settle_if_delivered(runner: Runner, owner: Owner, event: Event) -> None:
    """Makes a promoted or committed fact readable once nobody still has to write it natively."""
    if event.fact is None or not waits_for_native_write(event):
        return
    if runner.one(_UNDELIVERED, {"seq": event.seq}) is not None:
        return
    facts.make_native(runner, owner, event.fact.fact_id)
    item = staging.get(runner, event.staged.staged_id) if event.staged else None
    if item is not None and item.status is StagedStatus.PROMOTING:
        became = {"status": StagedStatus.PROMOTED, "fact_id": event.fact.fact_id}
        staging.replace(runner, owner, item.model_copy(update=became), StagedStatus.PROMOTING)


def _subjects(rows: list[Row]) -> list[Subject]:
    named = dict.fromkeys(rows)
    return [Subject(tenant=tenant, user_id=user, actor=actor) for tenant, user, actor in named]


def _wait(attempts: int) -> int:
    seconds: int = min(_FIRST_WAIT_S * 3 ** (attempts - 1), _LONGEST_WAIT_S)
    return seconds * SECOND
