"""Which native object of which framework carries which facts and held items."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, delete, select

from memgate_core.errors import InvalidInputError
from memgate_core.ledger.runner import Runner, body_of, insert_once, upsert
from memgate_core.ledger.schema import native_item as i
from memgate_core.ledger.schema import native_link as n
from memgate_core.ledger.scope import Owner, owned
from memgate_core.model import NativeLink

_SAVE = upsert(
    n,
    ["projection", "native_id"],
    {
        "tenant": bindparam("tenant"),
        "subject_id": bindparam("subject_id"),
        "message_id": bindparam("message_id"),
        "body": bindparam("body"),
    },
)
_ADD_ITEM = insert_once(i)
_ITEMS = select(i.c.item_id).where(
    i.c.projection == bindparam("projection"), i.c.native_id == bindparam("native_id")
)
_STORED = select(n.c.body).where(
    n.c.projection == bindparam("projection"), n.c.native_id == bindparam("native_id")
)
_FORGET = delete(n).where(
    owned(n), n.c.projection == bindparam("projection"), n.c.native_id == bindparam("native_id")
)
_FORGET_ITEM = delete(i).where(
    i.c.projection == bindparam("projection"),
    i.c.item_id == bindparam("item_id"),
    i.c.native_id == bindparam("native_id"),
)


def save(runner: Runner, owner: Owner, link: NativeLink) -> None:
    """Records a link, in place of what its native id carried before."""
    _forget_items(runner, link.projection, link.native_id)
    native = {"projection": link.projection, "native_id": link.native_id}
    row = {**native, "message_id": link.message_id, "body": body_of(link)}
    runner.run(_SAVE, {**owner.params, **row})
    items = dict.fromkeys((*link.fact_ids, *link.staged_ids))
    runner.many(_ADD_ITEM, [{**native, "item_id": item} for item in items])


def forget(runner: Runner, owner: Owner, projection: str, native_id: str) -> None:
    """Forgets a native object, if it is the subject's."""
    native = {"projection": projection, "native_id": native_id}
    if runner.run(_FORGET, {**owner.params, **native}):
        _forget_items(runner, projection, native_id)


def find(
    runner: Runner,
    projection: str,
    *,
    item_ids: tuple[str, ...],
    native_id: str | None,
    message_id: str | None,
    owner: Owner | None,
) -> list[NativeLink]:
    """Links that meet every condition given.

    Raises:
        InvalidInputError: none was given, or a message id without its subject.
    """
    if not item_ids and native_id is None and owner is None:
        raise InvalidInputError(
            "links of nobody in particular",
            hint="name a fact, a held item, a native object or a subject",
        )
    statement = _finding(len(item_ids), native_id is not None, message_id is not None, bool(owner))
    params: dict[str, Any] = {f"item_{at}": item for at, item in enumerate(item_ids)}
    params |= {"projection": projection, "native_id": native_id, "message_id": message_id}
    params |= owner.params if owner else {}
    return [NativeLink.model_validate_json(body) for (body,) in runner.all(statement, params)]


@lru_cache
def _finding(items: int, by_native: bool, by_message: bool, by_owner: bool) -> Any:
    statement = select(n.c.body).where(n.c.projection == bindparam("projection"))
    for at in range(items):
        carrying = select(i.c.native_id).where(
            i.c.projection == bindparam("projection"), i.c.item_id == bindparam(f"item_{at}")
        )
        statement = statement.where(n.c.native_id.in_(carrying))
    if by_native:
        statement = statement.where(n.c.native_id == bindparam("native_id"))
    if by_message:
        statement = statement.where(n.c.message_id == bindparam("message_id"))
    if by_owner:
        statement = statement.where(owned(n))
    return statement.order_by(n.c.native_id)


def _forget_items(runner: Runner, projection: str, native_id: str) -> None:
    native = {"projection": projection, "native_id": native_id}
    row = runner.one(_STORED, native)
    if row is None:
        return
    before = NativeLink.model_validate_json(row[0])
    items = dict.fromkeys((*before.fact_ids, *before.staged_ids))
    runner.many(_FORGET_ITEM, [{**native, "item_id": item} for item in items])
