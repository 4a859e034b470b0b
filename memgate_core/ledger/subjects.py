"""Whom the ledger knows, and how many items it holds for each."""

from __future__ import annotations

from sqlalchemy import bindparam, select, update

from memgate_core.ledger.runner import Runner, insert_once
from memgate_core.ledger.schema import subject as s
from memgate_core.ledger.scope import Owner, owned
from memgate_core.model import Subject

_INSERT = insert_once(s)
_PENDING = select(s.c.pending).where(owned(s))
_GROW = update(s).where(owned(s)).values(pending=s.c.pending + bindparam("grown"))
_ERASED = update(s).where(owned(s)).values(pending=bindparam("pending"), erased_at=bindparam("at"))
_ALL = select(s.c.tenant, s.c.user_id, s.c.actor).order_by(s.c.tenant, s.c.subject_id)
_OF_TENANT = _ALL.where(s.c.tenant == bindparam("tenant"))


def introduce(runner: Runner, owner: Owner, now: int) -> None:
    """Makes the subject known."""
    who = {"user_id": owner.subject.user_id, "actor": owner.subject.actor}
    rest = {"first_seen_at": now, "pending": 0, "erased_at": None}
    runner.run(_INSERT, {**owner.params, **who, **rest})


def pending(runner: Runner, owner: Owner) -> int:
    """How many items are pending."""
    row = runner.one(_PENDING, owner.params)
    return 0 if row is None else int(row[0])


def grow_pending(runner: Runner, owner: Owner, by: int) -> None:
    """Keeps the count of pending items in step."""
    runner.run(_GROW, {**owner.params, "grown": by})


def mark_erased(runner: Runner, owner: Owner, now: int) -> None:
    """Notes that the subject was erased; nothing is pending any more."""
    runner.run(_ERASED, {**owner.params, "pending": 0, "at": now})


def known(runner: Runner, tenant: str | None) -> list[Subject]:
    """Every subject, of one tenant or all."""
    rows = runner.all(_ALL, {}) if tenant is None else runner.all(_OF_TENANT, {"tenant": tenant})
    return [Subject(tenant=where, user_id=user, actor=actor) for where, user, actor in rows]
