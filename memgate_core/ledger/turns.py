"""Recorded turns: what was said, what the gate answered, and re-reading it as evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, select, update

from memgate_core.errors import NotAllowedError, NotFoundError
from memgate_core.ledger.protocol import TurnRecord
from memgate_core.ledger.runner import Row, Runner, body_of, insert_once, json_of
from memgate_core.ledger.schema import turn as t
from memgate_core.ledger.scope import Owner, owned
from memgate_core.ledger.times import instant, micros
from memgate_core.model import Evidence, HistoryTurn, JsonObject, Receipt, Role, Turn, sha256_of

_COLUMNS = (
    t.c.turn_no,
    t.c.message_id,
    t.c.session,
    t.c.role,
    t.c.speaker,
    t.c.source,
    t.c.taint,
    t.c.text,
    t.c.text_sha256,
    t.c.occurred_at,
    t.c.receipt,
    t.c.answer,
)
_INSERT = insert_once(t, skip=["turn_no"])
_BY_ID = select(*_COLUMNS).where(owned(t), t.c.message_id == bindparam("message_id"))
_TEXT = select(t.c.text).where(owned(t), t.c.message_id == bindparam("message_id"))
_AFTER = (
    select(*_COLUMNS)
    .where(t.c.turn_no > bindparam("after"))
    .order_by(t.c.turn_no)
    .limit(bindparam("limit"))
)
_AT = select(*_COLUMNS).where(t.c.turn_no == bindparam("position"))
_POSITIONS = (
    select(t.c.turn_no).where(owned(t), t.c.turn_no > bindparam("after")).order_by(t.c.turn_no)
)
_RECENT = (
    select(t.c.role, t.c.text)
    .where(owned(t), t.c.occurred_at <= bindparam("before"))
    .order_by(t.c.occurred_at.desc(), t.c.turn_no.desc())
    .limit(bindparam("limit"))
)
_RECENT_IN_SESSION = _RECENT.where(t.c.session == bindparam("session"))
_RECENT_IN_NONE = _RECENT.where(t.c.session.is_(None))
_PREVIOUS = (
    select(*_COLUMNS)
    .where(owned(t), t.c.occurred_at <= bindparam("before"), t.c.role == bindparam("role"))
    .order_by(t.c.occurred_at.desc(), t.c.turn_no.desc())
    .limit(1)
)
_PREVIOUS_IN_SESSION = _PREVIOUS.where(t.c.session == bindparam("session"))
_PREVIOUS_IN_NONE = _PREVIOUS.where(t.c.session.is_(None))
_ANSWER = (
    update(t)
    .where(owned(t), t.c.message_id == bindparam("of_message"))
    .values(answer=bindparam("answer"))
)


def save(runner: Runner, owner: Owner, turn: Turn, masked: str, receipt: Receipt, now: int) -> None:
    """Records a turn under a free message id.

    Raises:
        NotAllowedError: the id is taken.
    """
    row = {
        **owner.params,
        "message_id": turn.message_id,
        "session": turn.session,
        "role": turn.role.value,
        "speaker": turn.speaker,
        "source": turn.source.value,
        "taint": json_of(sorted(turn.taint)),
        "text": masked,
        "text_sha256": sha256_of(turn.text),
        "occurred_at": micros(turn.occurred_at),
        "recorded_at": now,
        "receipt": body_of(receipt),
        "answer": None,
    }
    if runner.run(_INSERT, row) == 0:
        raise NotAllowedError("this message id is recorded already", hint="read it, then replay")


def get(runner: Runner, owner: Owner, message_id: str) -> TurnRecord | None:
    """One recorded turn."""
    row = runner.one(_BY_ID, {**owner.params, "message_id": message_id})
    return None if row is None else _record(row)


def page(runner: Runner, after: int, limit: int) -> list[TurnRecord]:
    """Everybody's turns behind a position, in the order they were recorded."""
    return [_record(row) for row in runner.all(_AFTER, {"after": after, "limit": limit})]


def positions(runner: Runner, owner: Owner, after: int) -> list[int]:
    """Where a subject's turns stand in the order of recording."""
    return [number for (number,) in runner.all(_POSITIONS, {**owner.params, "after": after})]


def at(runner: Runner, numbers: Iterable[int]) -> list[TurnRecord]:
    """The turns at some positions."""
    rows = [runner.one(_AT, {"position": number}) for number in numbers]
    return [_record(row) for row in rows if row is not None]


def recent(
    runner: Runner, owner: Owner, before: datetime, session: str | None, limit: int
) -> tuple[HistoryTurn, ...]:
    """The last turns of a session (or of those without one) up to a time, oldest first."""
    params = {**owner.params, "before": micros(before), "limit": limit, "session": session}
    statement = _RECENT_IN_NONE if session is None else _RECENT_IN_SESSION
    rows = reversed(runner.all(statement, params))
    return tuple(HistoryTurn(role=Role(role), content=text) for role, text in rows)


def previous(
    runner: Runner, owner: Owner, before: datetime, session: str | None, role: Role
) -> TurnRecord | None:
    """The last turn of one role in a session (or of those without one) up to a time."""
    params = {"before": micros(before), "session": session, "role": role.value}
    statement = _PREVIOUS_IN_NONE if session is None else _PREVIOUS_IN_SESSION
    row = runner.one(statement, {**owner.params, **params})
    return None if row is None else _record(row)


def save_answer(runner: Runner, owner: Owner, message_id: str, answer: JsonObject) -> None:
    """Records what the framework answered.

    Raises:
        NotFoundError: no such turn.
    """
    params = {**owner.params, "of_message": message_id, "answer": json_of(answer)}
    if runner.run(_ANSWER, params) == 0:
        raise NotFoundError("no turn under this message id")


def words(runner: Runner, owner: Owner, evidence: Evidence) -> str | None:
    """The words of an evidence as the recorded message has them, or None where they disagree."""
    row = runner.one(_TEXT, {**owner.params, "message_id": evidence.message_id})
    if row is None or evidence.start > evidence.end or evidence.end > len(row[0]):
        return None
    found: str = row[0][evidence.start : evidence.end]
    return found if sha256_of(found) == evidence.sha256 else None


def _record(row: Row) -> TurnRecord:
    receipt = Receipt.model_validate_json(row[10])
    return TurnRecord(
        position=row[0],
        subject=receipt.subject,
        message_id=row[1],
        session=row[2],
        role=row[3],
        speaker=row[4],
        source=row[5],
        taint=frozenset(json.loads(row[6])),
        text=row[7],
        text_sha256=row[8],
        occurred_at=instant(row[9]),
        receipt=receipt,
        answer=None if row[11] is None else json.loads(row[11]),
    )
