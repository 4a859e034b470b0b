"""Facts: the keys they hang on, their versions, and which of them a read shows.

Writing follows the article: the key's row is made and locked, the version compared and set. The
database itself allows one CURRENT fact a key.

Reading follows one rule more: while a fact waits for its native write (`native` is false) no read
shows it, and what it replaces is still shown as holding. Ledger and framework then agree at every
moment, whichever of them is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, func, or_, select, update

from memgate_core.errors import InvalidInputError, NotAllowedError, NotFoundError
from memgate_core.ledger import lineage
from memgate_core.ledger.identity import key_id_of
from memgate_core.ledger.protocol import KeyState
from memgate_core.ledger.runner import Runner, body_of, insert_once
from memgate_core.ledger.schema import fact as f
from memgate_core.ledger.schema import fact_key as k
from memgate_core.ledger.schema import literal
from memgate_core.ledger.scope import NO_LIMIT, Owner, owned
from memgate_core.ledger.times import instant, micros, micros_or_none
from memgate_core.model import Fact, FactStatus, FieldKey

_MAKE_KEY = insert_once(k)
_THIS_KEY = (
    owned(k),
    k.c.scope_kind == bindparam("scope_kind"),
    k.c.scope_key == bindparam("scope_key"),
    k.c.kind == bindparam("kind"),
    k.c.normalized_key == bindparam("normalized_key"),
)
_HAS_CURRENT = f.c.status == literal("CURRENT")
_LOCK_KEY = (
    select(k.c.version, f.c.body)
    .select_from(k.outerjoin(f, (f.c.key_id == bindparam("key_id")) & _HAS_CURRENT))
    .where(*_THIS_KEY)
    .with_for_update(of=k)
)
_ADVANCE = (
    update(k)
    .where(*_THIS_KEY, k.c.version == bindparam("expected"))
    .values(version=bindparam("next_version"))
)
_INSERT = insert_once(f, skip=["fact_no"])
_CURRENT = select(f.c.body).where(f.c.key_id == bindparam("key_id"), _HAS_CURRENT)
_MAKE_WAY = (
    update(f)
    .where(f.c.key_id == bindparam("of_key"), _HAS_CURRENT)
    .values(status=literal("CLOSING"))
)
_UNCLOSED = select(f.c.fact_id).where(owned(f), f.c.status == literal("CLOSING"))
_NEWEST = (
    select(f.c.body)
    .where(f.c.fact_id == bindparam("fact_id"))
    .order_by(f.c.version.desc())
    .limit(1)
)
_VERSION = select(f.c.body).where(
    owned(f), f.c.fact_id == bindparam("fact_id"), f.c.version == bindparam("version")
)
_REWRITE = (
    update(f)
    .where(owned(f), f.c.fact_id == bindparam("of_fact"), f.c.version == bindparam("of_version"))
    .values(
        status=bindparam("status"),
        native=bindparam("native"),
        valid_to=bindparam("valid_to"),
        body=bindparam("body"),
    )
)
_AWAITING_NATIVE = select(f.c.body).where(owned(f), f.c.native == literal(0), _HAS_CURRENT)
_HOLDS_AGAIN = (FactStatus.CURRENT, FactStatus.SUPERSEDED)
_LAST_END = select(func.max(f.c.valid_to)).where(
    owned(f), f.c.key_id == bindparam("key_id"), f.c.status == literal("SUPERSEDED")
)
_EXPIRED = (
    select(f.c.body)
    .where(f.c.expires_at <= bindparam("before"), _HAS_CURRENT)
    .order_by(f.c.expires_at)
    .limit(bindparam("limit"))
)


def lock(runner: Runner, owner: Owner, keys: Iterable[FieldKey]) -> dict[FieldKey, KeyState]:
    """Makes missing key rows, locks them in one order for everybody, and reads what they hold."""
    return {key: _lock_one(runner, owner, key) for key in sorted(set(keys), key=str)}


def commit(runner: Runner, owner: Owner, fact: Fact, expected_version: int) -> tuple[Fact, bool]:
    """Writes the key's next version, provided that nobody else did. Returns it, and whether it
    took the place of a current fact that has to be closed now.

    Raises:
        NotAllowedError: the key moved on, or the fact is there already.
    """
    owner.require(fact.key)
    step = {"expected": expected_version, "next_version": expected_version + 1}
    if runner.run(_ADVANCE, {**_key(owner, fact.key), **step}) == 0:
        raise NotAllowedError(
            f"the key moved on since version {expected_version}", hint="read it again and decide"
        )
    written = fact.model_copy(update={"version": expected_version + 1})
    made_way = _insert(runner, owner, written)
    lineage.add_fact(runner, owner, written)
    return written, made_way


def close(runner: Runner, owner: Owner, fact: Fact) -> Fact:
    """Gives a stored fact the status, valid_to and closed_at of `fact`.

    Raises:
        NotFoundError: the subject has no such fact. InvalidInputError: the interval would end
            before it begins.
    """
    stored = _version(runner, owner, fact)
    ends = {"status": fact.status, "valid_to": fact.valid_to, "closed_at": fact.closed_at}
    if fact.valid_to is not None and fact.valid_to < stored.valid_from:
        raise InvalidInputError("a fact's interval cannot end before it begins")
    closed = stored.model_copy(update=ends)
    _rewrite(runner, owner, closed)
    return closed


def make_native(runner: Runner, owner: Owner, fact_id: str) -> None:
    """The native write is acknowledged: reads may show the fact."""
    stored = get(runner, fact_id)
    if stored is not None and not stored.native:
        _rewrite(runner, owner, stored.model_copy(update={"native": True}))


def require_closed(runner: Runner, owner: Owner) -> None:
    """Refuses a transaction that would leave two current facts on a key.

    Raises:
        InvalidInputError: names the fact that was replaced and not closed.
    """
    if row := runner.one(_UNCLOSED, owner.params):
        raise InvalidInputError(f"fact {row[0]} was replaced and not closed in its transaction")


def get(runner: Runner, fact_id: str) -> Fact | None:
    """A fact's newest version."""
    row = runner.one(_NEWEST, {"fact_id": fact_id})
    return None if row is None else Fact.model_validate_json(row[0])


def current(runner: Runner, owner: Owner, key: FieldKey) -> Fact | None:
    """What a read of the key shows."""
    owner.require(key)
    row = runner.one(_CURRENT, {"key_id": key_id_of(key)})
    return None if row is None else _shown(runner, Fact.model_validate_json(row[0]))


def listing(
    runner: Runner,
    owner: Owner,
    *,
    attribute: str | None,
    as_of: datetime | None,
    include_closed: bool,
    include_pending_native: bool,
    limit: int | None,
) -> list[Fact]:
    """Facts by valid_from; of more than `limit` the newest."""
    which = "as_of" if as_of is not None else "all" if include_closed else "current"
    statement = _listing(which, attribute is not None, include_pending_native)
    params = {
        **owner.params,
        "attribute": attribute,
        "at": micros_or_none(as_of),
        "limit": NO_LIMIT if limit is None else limit,
    }
    found = [Fact.model_validate_json(body) for (body,) in runner.all(statement, params)]
    if not include_pending_native:
        found = _with_still_shown(runner, owner, found, attribute, as_of)
    found.sort(key=lambda one: (one.valid_from, one.version))
    return found if limit is None else found[-limit:] if limit > 0 else []


def expired(runner: Runner, before: datetime, limit: int) -> list[Fact]:
    """Current facts whose `expires_at` has come, the longest expired first."""
    rows = runner.all(_EXPIRED, {"before": micros(before), "limit": limit})
    return [Fact.model_validate_json(body) for (body,) in rows]


@lru_cache
def _listing(which: str, with_attribute: bool, with_pending: bool) -> Any:
    statement = select(f.c.body).where(owned(f))
    if which == "current":
        statement = statement.where(_HAS_CURRENT)
    if which == "as_of":
        held = f.c.status.in_([literal("CURRENT"), literal("SUPERSEDED")])
        begun = f.c.valid_from <= bindparam("at")
        not_over = or_(f.c.valid_to.is_(None), f.c.valid_to > bindparam("at"))
        statement = statement.where(held, begun, not_over)
    if with_attribute:
        statement = statement.where(f.c.attribute == bindparam("attribute"))
    if not with_pending:
        statement = statement.where(f.c.native != literal(0))
    newest_first = statement.order_by(f.c.valid_from.desc(), f.c.version.desc())
    return newest_first.limit(bindparam("limit"))


def _with_still_shown(
    runner: Runner,
    owner: Owner,
    found: list[Fact],
    attribute: str | None,
    as_of: datetime | None,
) -> list[Fact]:
    """Adds what waiting facts replace, as holding still."""
    shown = {}
    for (body,) in runner.all(_AWAITING_NATIVE, owner.params):
        before = _shown(runner, Fact.model_validate_json(body))
        if before is not None and attribute in (None, before.attribute):
            shown[before.fact_id] = before
    kept = [one for one in found if one.fact_id not in shown]
    held = [one for one in shown.values() if as_of is None or one.valid_from <= as_of]
    return kept + held


def _shown(runner: Runner, fact: Fact) -> Fact | None:
    """The fact, or while it waits for its native write, the one that it replaces."""
    while not fact.native:
        before = get(runner, fact.supersedes) if fact.supersedes else None
        if before is None or before.status not in _HOLDS_AGAIN:
            return None
        reopened = {"status": FactStatus.CURRENT, "valid_to": None, "closed_at": None}
        fact = before.model_copy(update=reopened)
    return fact


def _lock_one(runner: Runner, owner: Owner, key: FieldKey) -> KeyState:
    owner.require(key)
    names = _key(owner, key)
    runner.run(_MAKE_KEY, {**names, "version": 0})
    row = runner.one(_LOCK_KEY, {**names, "key_id": key_id_of(key)})
    if row is None:
        raise NotFoundError("the key's row is gone")
    if row[1] is not None:
        return KeyState(key=key, current=Fact.model_validate_json(row[1]), version=row[0])
    return KeyState(key=key, current=None, version=row[0], ended=_ended(runner, owner, key, row[0]))


def _ended(runner: Runner, owner: Owner, key: FieldKey, version: int) -> datetime | None:
    if version == 0:
        return None
    row = runner.one(_LAST_END, {**owner.params, "key_id": key_id_of(key)})
    return None if row is None or row[0] is None else instant(row[0])


def _key(owner: Owner, key: FieldKey) -> dict[str, Any]:
    return {
        **owner.params,
        "scope_kind": key.scope.kind,
        "scope_key": key.scope.key,
        "kind": key.kind.value,
        "normalized_key": key.normalized_key,
    }


def _insert(runner: Runner, owner: Owner, fact: Fact) -> bool:
    """Inserts a fact; True when a current one had to make way for it."""
    row = _row(owner, fact)
    if runner.run(_INSERT, row) == 1:
        return False
    if runner.run(_MAKE_WAY, {"of_key": row["key_id"]}) == 0 or runner.run(_INSERT, row) == 0:
        raise NotAllowedError(f"fact {fact.fact_id} is recorded already")
    return True


def _version(runner: Runner, owner: Owner, fact: Fact) -> Fact:
    owner.require(fact.key)
    which = {**owner.params, "fact_id": fact.fact_id, "version": fact.version}
    row = runner.one(_VERSION, which)
    if row is None:
        raise NotFoundError(f"no fact {fact.memory_id}")
    return Fact.model_validate_json(row[0])


def _rewrite(runner: Runner, owner: Owner, fact: Fact) -> None:
    row = {
        "of_fact": fact.fact_id,
        "of_version": fact.version,
        "status": fact.status.value,
        "native": int(fact.native),
        "valid_to": micros_or_none(fact.valid_to),
        "body": body_of(fact),
    }
    runner.run(_REWRITE, {**owner.params, **row})


def _row(owner: Owner, fact: Fact) -> dict[str, Any]:
    return {
        **owner.params,
        "fact_id": fact.fact_id,
        "version": fact.version,
        "key_id": key_id_of(fact.key),
        "attribute": fact.attribute,
        "status": fact.status.value,
        "native": int(fact.native),
        "valid_from": micros(fact.valid_from),
        "valid_to": micros_or_none(fact.valid_to),
        "expires_at": micros_or_none(fact.expires_at),
        "body": body_of(fact),
    }
