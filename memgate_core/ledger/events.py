"""Events: what the ledger tells its projections, numbered in commit order.

Appending one makes it due for every registered projection, in the same transaction (outbox).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, case, func, literal_column, or_, select, update

from memgate_core.errors import InvalidInputError, LedgerError
from memgate_core.ledger.identity import key_id_of
from memgate_core.ledger.runner import Row, Runner, body_of, insert_into, upsert
from memgate_core.ledger.schema import event as e
from memgate_core.ledger.schema import lane, literal
from memgate_core.ledger.schema import outbox as o
from memgate_core.ledger.schema import projection as p
from memgate_core.ledger.schema import subject as s
from memgate_core.ledger.scope import Owner, owned
from memgate_core.ledger.times import instant, micros
from memgate_core.model import Event, EventType, Fact, FieldKey, StagedItem, Subject

REMOVALS = frozenset(
    {
        EventType.REVOKED,
        EventType.CORRECTED,
        EventType.ERASED,
        EventType.DISCARDED,
        EventType.EXPIRED,
    }
)
"""Events that only take something away: no parked event holds them back, and they make void what
is still parked of the same fact or item."""

WHOLE_SUBJECT = ""
"""Topic of an event that concerns no single key."""

EVENT_COLUMNS = (
    e.c.seq,
    e.c.event_type,
    s.c.tenant,
    s.c.user_id,
    s.c.actor,
    e.c.occurred_at,
    e.c.recorded_at,
    e.c.staged,
    e.c.fact,
    e.c.session,
    e.c.policy_version,
)
OF_SUBJECT = (s.c.tenant == e.c.tenant) & (s.c.subject_id == e.c.subject_id)

_BETWEEN_NAMES = "\n"
_IS_ACTIVE = p.c.active == literal(1)
_separator: Any = literal_column(f"'{_BETWEEN_NAMES}'")
_names = func.aggregate_strings(p.c.name, _separator)
_ACTIVE_NAMES = select(_names).where(_IS_ACTIVE)
_INSERT = insert_into(e, skip=["seq"]).returning(e.c.seq, _ACTIVE_NAMES.scalar_subquery())
_AFTER = (
    select(*EVENT_COLUMNS)
    .where(OF_SUBJECT, e.c.seq > bindparam("after"))
    .order_by(e.c.seq)
    .limit(bindparam("limit"))
)
_AFTER_OF = _AFTER.where(owned(e))
_ACTIVE = select(p.c.name).where(_IS_ACTIVE)
_MAKE_DUE = insert_into(o)
IS_STUCK = o.c.status.in_([literal("PARKED"), literal("BLOCKED")])
"""Named beside a narrower condition too: SQLite takes a partial index only for its own words."""

_STUCK = (
    select(o.c.projection)
    .where(owned(o), IS_STUCK, o.c.topic == bindparam("topic"))
    .group_by(o.c.projection)
)
_STUCK_ANYWHERE = select(o.c.projection).where(owned(o), IS_STUCK).group_by(o.c.projection)
_OPEN_LANE = upsert(
    lane,
    ["projection", "tenant", "subject_id"],
    {"head_seq": func.coalesce(lane.c.head_seq, bindparam("head_seq"))},
)
_VOID = (
    update(o)
    .where(
        owned(o),
        IS_STUCK,
        o.c.seq.in_(
            select(e.c.seq).where(
                owned(e),
                or_(e.c.fact_id == bindparam("fact_id"), e.c.staged_id == bindparam("staged_id")),
            )
        ),
    )
    .values(status=literal("VOID"), settled_at=bindparam("now"))
)
_VOID_DUE = (
    update(o)
    .where(
        owned(o),
        o.c.projection == bindparam("of_projection"),
        o.c.status == literal("DUE"),
        o.c.seq < bindparam("before"),
    )
    .values(status=literal("VOID"), settled_at=bindparam("now"))
)
_VOID_STUCK = (
    update(o)
    .where(owned(o), IS_STUCK, o.c.seq < bindparam("before"))
    .values(status=literal("VOID"), settled_at=bindparam("now"))
)
_other = o.alias("other")
_STILL_PARKED = (
    select(_other.c.seq)
    .where(
        owned(_other),
        _other.c.status.in_([literal("PARKED"), literal("BLOCKED")]),
        _other.c.status == literal("PARKED"),
        _other.c.topic == o.c.topic,
        _other.c.projection == o.c.projection,
    )
    .exists()
)
_UNBLOCK = (
    update(o)
    .where(owned(o), IS_STUCK, o.c.status == literal("BLOCKED"), ~_STILL_PARKED)
    .values(status=literal("DUE"))
)
_head = (
    select(func.min(o.c.seq))
    .where(owned(o), o.c.projection == bindparam("of_projection"), o.c.status == literal("DUE"))
    .scalar_subquery()
)
_NEW_HEAD = (
    update(lane)
    .where(owned(lane), lane.c.projection == bindparam("of_projection"))
    .values(
        head_seq=_head,
        leased_by=case((lane.c.leased_through <= bindparam("seq"), None), else_=lane.c.leased_by),
        leased_until=case(
            (lane.c.leased_through <= bindparam("seq"), 0), else_=lane.c.leased_until
        ),
    )
)
_REGISTER = upsert(p, ["name"], {"active": literal(1)})
_DEACTIVATE = update(p).where(p.c.name == bindparam("of_name")).values(active=literal(0))


def register(runner: Runner, projection: str, now: int) -> None:
    """From now on events become due for the projection.

    Raises:
        InvalidInputError: a name without characters, or with a line break.
    """
    if not projection or _BETWEEN_NAMES in projection:
        raise InvalidInputError("a projection needs a name of one line")
    runner.run(_REGISTER, {"name": projection, "registered_at": now, "active": 1})


def deactivate(runner: Runner, projection: str) -> None:
    """No later event becomes due for the projection."""
    runner.run(_DEACTIVATE, {"of_name": projection})


def topic_of(staged: StagedItem | None, fact: Fact | None) -> str:
    """What an event is about: the id of its key, or the whole subject."""
    about: FieldKey | None = fact.key if fact else staged.key if staged else None
    return WHOLE_SUBJECT if about is None else key_id_of(about)


def append(runner: Runner, owner: Owner, event: Event, now: int) -> tuple[Event, bool]:
    """Writes an event and makes it due for every active projection. Returns it with its number,
    and whether there was any."""
    for about in (event.fact, event.staged):
        if about is not None:
            owner.require(about.key)
    row = runner.one(_INSERT, _row(owner, event))
    if row is None:
        raise LedgerError("the event was not written")
    numbered = event.model_copy(update={"seq": row[0]})
    names = row[1].split(_BETWEEN_NAMES) if row[1] else []
    if names:
        _make_due(runner, owner, numbered, sorted(names), now)
    return numbered, bool(names)


def after(runner: Runner, owner: Owner | None, seq: int, limit: int) -> list[Event]:
    """Events behind a number, of one subject or of all."""
    params = {"after": seq, "limit": limit, **(owner.params if owner else {})}
    return [event_from(row) for row in runner.all(_AFTER_OF if owner else _AFTER, params)]


def event_from(row: Row) -> Event:
    """An event from its `EVENT_COLUMNS`."""
    return Event(
        seq=row[0],
        event_type=row[1],
        subject=Subject(tenant=row[2], user_id=row[3], actor=row[4]),
        occurred_at=instant(row[5]),
        recorded_at=instant(row[6]),
        staged=None if row[7] is None else StagedItem.model_validate_json(row[7]),
        fact=None if row[8] is None else Fact.model_validate_json(row[8]),
        session=row[9],
        policy_version=row[10],
    )


def new_head(runner: Runner, owner: Owner, projection: str, seq: int) -> None:
    """Moves a subject's cursor to its first due event; ends a lease that reached no further than
    `seq`."""
    runner.run(_NEW_HEAD, {**owner.params, "of_projection": projection, "seq": seq})


def unblock(runner: Runner, owner: Owner) -> None:
    """Makes due what no parked event holds back any more. Cursors have to be moved afterwards."""
    runner.run(_UNBLOCK, owner.params)


def _make_due(
    runner: Runner, owner: Owner, event: Event, projections: Sequence[str], now: int
) -> None:
    topic = topic_of(event.staged, event.fact)
    if event.event_type in REMOVALS:
        _overtake(runner, owner, event, now)
        held_back = frozenset[str]()
    else:
        held_back = frozenset(
            name for (name,) in runner.all(_STUCK, {**owner.params, "topic": topic})
        )
    for name in projections:
        blocked = name in held_back
        runner.run(_MAKE_DUE, _outbox_row(owner, event.seq, name, topic, blocked))
        if not blocked:
            runner.run(_OPEN_LANE, _lane_row(owner, event.seq, name))


def _overtake(runner: Runner, owner: Owner, event: Event, now: int) -> None:
    """Makes void what was never delivered of the thing that is now taken away."""
    if event.event_type is EventType.ERASED:
        before = {**owner.params, "before": event.seq, "now": now}
        stuck = tuple(name for (name,) in runner.all(_ACTIVE, {}))
        for name in stuck:
            runner.run(_VOID_DUE, {**before, "of_projection": name})
        runner.run(_VOID_STUCK, before)
    else:
        stuck = tuple(name for (name,) in runner.all(_STUCK_ANYWHERE, owner.params))
        if not stuck:
            return
        runner.run(_VOID, {**owner.params, **_about(event), "now": now})
        unblock(runner, owner)
    for name in stuck:
        new_head(runner, owner, name, -1)


def _about(event: Event) -> dict[str, str | None]:
    return {
        "fact_id": event.fact.fact_id if event.fact else None,
        "staged_id": event.staged.staged_id if event.staged else None,
    }


def _row(owner: Owner, event: Event) -> dict[str, Any]:
    return {
        **owner.params,
        **_about(event),
        "event_type": event.event_type.value,
        "occurred_at": micros(event.occurred_at),
        "recorded_at": micros(event.recorded_at),
        "session": event.session,
        "policy_version": event.policy_version,
        "staged": body_of(event.staged) if event.staged else None,
        "fact": body_of(event.fact) if event.fact else None,
    }


def _outbox_row(owner: Owner, seq: int, name: str, topic: str, blocked: bool) -> dict[str, Any]:
    return {
        **owner.params,
        "projection": name,
        "seq": seq,
        "topic": topic,
        "status": "BLOCKED" if blocked else "DUE",
        "attempts": 0,
        "error": None,
        "settled_at": None,
    }


def _lane_row(owner: Owner, seq: int, name: str) -> dict[str, Any]:
    return {
        **owner.params,
        "projection": name,
        "head_seq": seq,
        "next_try_at": 0,
        "leased_by": None,
        "leased_until": 0,
        "leased_through": 0,
    }
