"""Held items, and the index that finds those a turn could touch.

`touched` costs the same however many items are held: it reads at most `PER_TERM` entries of each
of the turn's terms, and a bounded number of the newest items, since lived consequences ("my soles
are filthy") may share no word with the plan.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import log2
from typing import Any

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.sql import ClauseElement

from memgate_core.errors import NotAllowedError, NotFoundError
from memgate_core.ledger import lineage
from memgate_core.ledger.identity import key_id_of
from memgate_core.ledger.runner import Runner, body_of, insert_into, insert_once, json_of
from memgate_core.ledger.schema import literal
from memgate_core.ledger.schema import staged as s
from memgate_core.ledger.schema import staged_term as w
from memgate_core.ledger.scope import NO_LIMIT, Owner, owned
from memgate_core.ledger.terms import item_terms
from memgate_core.ledger.times import instant, micros, micros_or_none
from memgate_core.model import FieldKey, StagedItem, StagedStatus

PER_TERM = 16
"""Newest pending items looked at for one term."""

NEWEST_SHARE = 4
"""One in this many of the places goes to the newest items, whatever words they share."""

_IS_PENDING = s.c.status == literal("PENDING")
_INSERT = insert_once(s, skip=["staged_no"]).returning(s.c.staged_no)
_ADD_TERM = insert_into(w)
_DROP_TERM = delete(w).where(
    owned(w), w.c.term == bindparam("term"), w.c.staged_no == bindparam("staged_no")
)
_BY_ID = select(s.c.body).where(s.c.staged_id == bindparam("staged_id"))
_STORED = select(s.c.staged_no, s.c.status, s.c.terms).where(
    owned(s), s.c.staged_id == bindparam("staged_id")
)
_REWRITE = (
    update(s)
    .where(s.c.staged_no == bindparam("of_no"), s.c.status == bindparam("expected"))
    .values(
        status=bindparam("status"),
        session=bindparam("session"),
        last_stated_at=bindparam("last_stated_at"),
        review_at=bindparam("review_at"),
        terms=bindparam("terms"),
        body=bindparam("body"),
    )
)
_ON_KEY = (
    select(s.c.body)
    .where(s.c.key_id == bindparam("key_id"), _IS_PENDING)
    .order_by(s.c.created_at, s.c.staged_no)
)
_ALL = (
    select(s.c.body)
    .where(owned(s))
    .order_by(s.c.created_at, s.c.staged_no)
    .limit(bindparam("limit"))
)
_WITH_STATUS = _ALL.where(s.c.status == bindparam("status"))
_PENDING = _ALL.where(_IS_PENDING)
_NEWEST = (
    select(s.c.staged_no, s.c.body)
    .where(owned(s), _IS_PENDING)
    .order_by(s.c.last_stated_at.desc(), s.c.staged_no.desc())
    .limit(bindparam("limit"))
)
_NEWEST_IN_SESSION = _NEWEST.where(s.c.session == bindparam("session"))
_BY_NO = select(s.c.body).where(s.c.staged_no == bindparam("staged_no"), _IS_PENDING)
_OLDEST = select(s.c.created_at).where(_IS_PENDING).order_by(s.c.created_at).limit(1)
_REVIEW = (
    select(s.c.body)
    .where(_IS_PENDING, s.c.review_at <= bindparam("before"))
    .order_by(s.c.review_at)
    .limit(bindparam("limit"))
)


def stage(runner: Runner, owner: Owner, item: StagedItem) -> int:
    """Inserts a held item. Returns by how much the number of pending ones grew.

    Raises:
        NotAllowedError: it is held already.
    """
    owner.require(item.key)
    terms = _terms(item)
    row = {
        **_searched(item, terms),
        **owner.params,
        "staged_id": item.staged_id,
        "key_id": key_id_of(item.key),
        "created_at": micros(item.created_at),
    }
    inserted = runner.one(_INSERT, row)
    if inserted is None:
        raise NotAllowedError(f"{item.staged_id} is held already")
    _index(runner, owner, inserted[0], terms)
    lineage.add_item(runner, owner, item)
    return _pending(item.status)


def replace(runner: Runner, owner: Owner, item: StagedItem, expected: StagedStatus) -> int:
    """Replaces a held item whose status is still `expected`. Returns by how much the number of
    pending ones grew.

    Raises:
        NotAllowedError: somebody moved it first. NotFoundError: the subject holds no such item.
    """
    owner.require(item.key)
    stored = runner.one(_STORED, {**owner.params, "staged_id": item.staged_id})
    if stored is None:
        raise NotFoundError(f"no held item {item.staged_id}")
    number, status, before = stored[0], StagedStatus(stored[1]), json.loads(stored[2])
    terms = _terms(item)
    row = {**_searched(item, terms), "of_no": number, "expected": expected.value}
    if runner.run(_REWRITE, row) == 0:
        raise NotAllowedError(f"held item {item.staged_id} is {status} and not {expected} any more")
    _unindex(runner, owner, number, set(before) - set(terms))
    _index(runner, owner, number, set(terms) - set(before))
    if item.status is StagedStatus.PENDING:
        lineage.add_item(runner, owner, item)
    return _pending(item.status) - _pending(status)


def get(runner: Runner, staged_id: str) -> StagedItem | None:
    """A held item by id."""
    row = runner.one(_BY_ID, {"staged_id": staged_id})
    return None if row is None else StagedItem.model_validate_json(row[0])


def on_key(runner: Runner, owner: Owner, key: FieldKey) -> list[StagedItem]:
    """Pending items on a key, oldest first."""
    owner.require(key)
    return _items(runner, _ON_KEY, {"key_id": key_id_of(key)})


def listing(
    runner: Runner, owner: Owner, status: StagedStatus | None, limit: int | None
) -> list[StagedItem]:
    """A subject's items by created_at; of one status or of all."""
    params = {**owner.params, "limit": NO_LIMIT if limit is None else limit}
    if status is None:
        return _items(runner, _ALL, params)
    if status is StagedStatus.PENDING:
        return _items(runner, _PENDING, params)
    return _items(runner, _WITH_STATUS, {**params, "status": status.value})


def touched(
    runner: Runner,
    owner: Owner,
    term_hits: ClauseElement,
    terms: frozenset[str],
    session: str | None,
    limit: int,
) -> list[StagedItem]:
    """Pending items by shared terms, rare ones weighing more; then the newest, of the same
    session first."""
    if limit <= 0:
        return []
    newest = _newest(runner, owner, session, limit)
    if not newest:
        return []  # nothing is held at all: the terms of what was settled are not indexed
    scored = _scored(runner, owner, term_hits, terms)
    chosen = scored[: limit - limit // NEWEST_SHARE]
    chosen += [number for number in newest if number not in set(chosen)][: limit - len(chosen)]
    chosen += [number for number in scored if number not in set(chosen)][: limit - len(chosen)]
    bodies = (newest.get(number) or _body(runner, number) for number in chosen)
    return [StagedItem.model_validate_json(body) for body in bodies if body is not None]


def oldest_pending(runner: Runner) -> datetime | None:
    """When the longest held item was first voiced."""
    row = runner.one(_OLDEST, {})
    return None if row is None else instant(row[0])


def due_for_review(runner: Runner, before: datetime, limit: int) -> list[StagedItem]:
    """Pending items whose review date has come, the earliest first."""
    return _items(runner, _REVIEW, {"before": micros(before), "limit": limit})


def _newest(runner: Runner, owner: Owner, session: str | None, limit: int) -> dict[int, str]:
    params = {**owner.params, "session": session, "limit": limit}
    found = runner.all(_NEWEST_IN_SESSION, params) if session is not None else []
    if len(found) < limit:
        found += runner.all(_NEWEST, params)
    return {row[0]: row[1] for row in found}


def _scored(
    runner: Runner, owner: Owner, term_hits: ClauseElement, terms: frozenset[str]
) -> list[int]:
    if not terms:
        return []
    asked = {**owner.params, "terms": json_of(sorted(terms)), "cap": PER_TERM}
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for term, number in runner.all(term_hits, asked):
        holding[term].append(number)
    score: defaultdict[int, float] = defaultdict(float)
    for numbers in holding.values():
        weight = 1 / (1 + log2(len(numbers)))
        for number in numbers:
            score[number] += weight
    return sorted(score, key=lambda number: (-score[number], -number))


def _body(runner: Runner, number: int) -> str | None:
    row = runner.one(_BY_NO, {"staged_no": number})
    return None if row is None else str(row[0])


def _items(runner: Runner, statement: ClauseElement, params: dict[str, Any]) -> list[StagedItem]:
    return [StagedItem.model_validate_json(body) for (body,) in runner.all(statement, params)]


def _terms(item: StagedItem) -> list[str]:
    return sorted(item_terms(item)) if item.status is StagedStatus.PENDING else []


def _searched(item: StagedItem, terms: Sequence[str]) -> dict[str, Any]:
    return {
        "status": item.status.value,
        "session": item.session,
        "last_stated_at": micros(item.last_stated_at),
        "review_at": micros_or_none(item.review_at),
        "terms": json_of(terms),
        "body": body_of(item),
    }


def _index(runner: Runner, owner: Owner, number: int, terms: Iterable[str]) -> None:
    rows = [{**owner.params, "term": term, "staged_no": number} for term in sorted(terms)]
    runner.many(_ADD_TERM, rows)


def _unindex(runner: Runner, owner: Owner, number: int, terms: Iterable[str]) -> None:
    rows = [{**owner.params, "term": term, "staged_no": number} for term in sorted(terms)]
    runner.many(_DROP_TERM, rows)


def _pending(status: StagedStatus) -> int:
    return int(status is StagedStatus.PENDING)
