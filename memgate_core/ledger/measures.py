"""Counters by policy version, the rollout state, and the audit trail."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, func, select, update

from memgate_core.errors import NotAllowedError
from memgate_core.ledger.records import AuditEntry, Counter, Rollout
from memgate_core.ledger.runner import (
    Row,
    Runner,
    body_of,
    insert_into,
    insert_once,
    json_of,
    upsert,
)
from memgate_core.ledger.schema import audit as a
from memgate_core.ledger.schema import counter as c
from memgate_core.ledger.schema import state as s
from memgate_core.ledger.scope import NO_LIMIT, Owner, owned
from memgate_core.ledger.times import instant
from memgate_core.model import JsonObject

SHARDS = 16
"""Rows a counter is spread over, so that writers of different subjects do not wait on it."""

_ROLLOUT = "rollout"

_COUNT = upsert(c, ["name", "policy_version", "shard"], {"value": c.c.value + bindparam("value")})
_TOTALS = (
    select(c.c.name, c.c.policy_version, func.sum(c.c.value))
    .group_by(c.c.name, c.c.policy_version)
    .order_by(c.c.name, c.c.policy_version)
)
_STATE = select(s.c.body).where(s.c.name == bindparam("name"))
_FIRST_STATE = insert_once(s)
_NEXT_STATE = (
    update(s)
    .where(s.c.name == bindparam("of_name"), s.c.revision == bindparam("expected"))
    .values(revision=bindparam("revision"), body=bindparam("body"))
)
_NOTE = insert_into(a, skip=["audit_no"])
_AUDIT_COLUMNS = (
    a.c.audit_no,
    a.c.at,
    a.c.tenant,
    a.c.subject_id,
    a.c.action,
    a.c.target,
    a.c.done_by,
    a.c.detail,
)


def count(runner: Runner, lock: str, amounts: Mapping[tuple[str, str], int]) -> None:
    """Adds to counters, keyed by (name, policy version), always in the same order."""
    shard = zlib.crc32(lock.encode("utf-8", "surrogatepass")) % SHARDS
    rows = [
        {"name": name, "policy_version": version, "shard": shard, "value": by}
        for (name, version), by in sorted(amounts.items())
    ]
    runner.many(_COUNT, rows)


def totals(runner: Runner) -> list[Counter]:
    """Every counter."""
    return [
        Counter(name=name, policy_version=version, value=int(value))
        for name, version, value in runner.all(_TOTALS, {})
    ]


def rollout(runner: Runner) -> Rollout | None:
    """The rollout state, or None where none was ever set."""
    row = runner.one(_STATE, {"name": _ROLLOUT})
    return None if row is None else Rollout.model_validate_json(row[0])


def set_rollout(runner: Runner, state: Rollout) -> Rollout:
    """Replaces the state that has the revision of `state`, and returns it with the next one.

    Raises:
        NotAllowedError: somebody changed it first.
    """
    moved = state.model_copy(update={"revision": state.revision + 1})
    body = body_of(moved)
    if state.revision == 0:
        row = {"name": _ROLLOUT, "revision": 1, "body": body}
        changed = runner.run(_FIRST_STATE, row)
    else:
        step = {"expected": state.revision, "revision": moved.revision, "body": body}
        changed = runner.run(_NEXT_STATE, {"of_name": _ROLLOUT, **step})
    if changed == 0:
        raise NotAllowedError("the rollout state changed meanwhile", hint="read it, then decide")
    return moved


def note(
    runner: Runner,
    owner: Owner | None,
    at: int,
    action: str,
    target: str,
    by: str,
    detail: JsonObject | None,
) -> None:
    """Appends to the audit trail."""
    row = {
        "tenant": owner.params["tenant"] if owner else None,
        "subject_id": owner.params["subject_id"] if owner else None,
        "at": at,
        "action": action,
        "target": target,
        "done_by": by,
        "detail": None if detail is None else json_of(detail),
    }
    runner.run(_NOTE, row)


def audit_log(
    runner: Runner, owner: Owner | None, target: str | None, after: int, limit: int | None
) -> list[AuditEntry]:
    """The audit trail behind a number, in order."""
    params = {
        **(owner.params if owner else {}),
        "target": target,
        "after": after,
        "limit": NO_LIMIT if limit is None else limit,
    }
    rows = runner.all(_trail(owner is not None, target is not None), params)
    return [_entry(row) for row in rows]


@lru_cache
def _trail(by_owner: bool, by_target: bool) -> Any:
    statement = select(*_AUDIT_COLUMNS).where(a.c.audit_no > bindparam("after"))
    if by_owner:
        statement = statement.where(owned(a))
    if by_target:
        statement = statement.where(a.c.target == bindparam("target"))
    return statement.order_by(a.c.audit_no).limit(bindparam("limit"))


def _entry(row: Row) -> AuditEntry:
    number, at, tenant, subject_id, action, target, by, detail = row
    when: datetime = instant(at)
    return AuditEntry(
        number=number,
        at=when,
        tenant=tenant,
        subject_id=subject_id,
        action=action,
        target=target,
        by=by,
        detail=None if detail is None else json.loads(detail),
    )
