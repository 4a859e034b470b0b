"""Reads as of a time: the memories of the main and the closed collection that held then."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mem0 import Memory

from memgate_core.errors import InvalidInputError
from memgate_core.model import Fact, FactStatus, JsonObject
from memgate_mem0.scope import MemoryScope
from memgate_mem0.store_desk import StoreDesk

_WIDER = 4
"""How many times more rows are looked at than asked for, since some did not hold then."""


def as_of_search(desk: StoreDesk, as_of: datetime, query: str, options: JsonObject) -> JsonObject:
    """`Memory.search` among what held at `as_of`, best first.

    Raises:
        InvalidInputError: `as_of` has no time zone. ValueError: what Mem0's search refuses.
    """
    _check_clock(as_of)
    wide = {**options, "top_k": _wider(options)}
    rows = [
        *_held_in_main(
            desk, as_of, _over(desk, desk.projection.natives.main).search(query, **wide)
        ),
        *_held_in_closed(as_of, _over(desk, desk.projection.natives.closed).search(query, **wide)),
    ]
    rows.sort(key=lambda row: -float(row.get("score") or 0.0))
    return {"results": rows[: options["top_k"]]}


def as_of_get_all(desk: StoreDesk, as_of: datetime, options: JsonObject) -> JsonObject:
    """`Memory.get_all` of what held at `as_of`.

    Raises:
        InvalidInputError: `as_of` has no time zone. ValueError: what Mem0's get_all refuses.
    """
    _check_clock(as_of)
    wide = {**options, "top_k": _wider(options)}
    rows = [
        *_held_in_main(desk, as_of, _over(desk, desk.projection.natives.main).get_all(**wide)),
        *_held_in_closed(as_of, _over(desk, desk.projection.natives.closed).get_all(**wide)),
    ]
    return {"results": rows[: options["top_k"]]}


def _held_in_main(desk: StoreDesk, as_of: datetime, found: JsonObject) -> list[JsonObject]:
    return [row for row in found["results"] if _held(desk, row, as_of)]


def _held_in_closed(as_of: datetime, found: JsonObject) -> list[JsonObject]:
    return [row for row in found["results"] if _within(row.get("metadata") or {}, as_of)]


def _held(desk: StoreDesk, row: JsonObject, as_of: datetime) -> bool:
    """True when a fact that the memory carries held then; by its own age for any other memory."""
    facts = desk.facts_of(str(row["id"]), row.get("metadata") or {})
    if facts:
        return any(_valid(fact, as_of) for fact in facts)
    said = _said_at(desk, row) or _time(row.get("created_at"))
    return said is None or said <= as_of


def _valid(fact: Fact, as_of: datetime) -> bool:
    holds = fact.native and fact.status in (FactStatus.CURRENT, FactStatus.SUPERSEDED)
    return holds and fact.valid_from <= as_of and (fact.valid_to is None or as_of < fact.valid_to)


def _said_at(desk: StoreDesk, row: JsonObject) -> datetime | None:
    """When the message was spoken that the memory came from."""
    scope = MemoryScope.of_payload(row)
    for link in desk.gate.ledger.links(desk.name, native_id=str(row["id"])):
        if link.message_id is not None and scope is not None:
            record = desk.gate.ledger.turn(scope.subject(desk.tenant), link.message_id)
            return record.occurred_at if record is not None else None
    return None


def _within(metadata: Mapping[str, Any], as_of: datetime) -> bool:
    begins, ends = _time(metadata.get("valid_from")), _time(metadata.get("valid_to"))
    return (begins is None or begins <= as_of) and ends is not None and as_of < ends


def _time(text: Any) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _over(desk: StoreDesk, store: Any) -> Any:
    """Mem0's own reads over one of the collections: a plain `Memory` with the same parts."""
    plain = Memory.__new__(Memory)
    plain.__dict__.update(desk.memory_parts())
    plain.vector_store = store
    return plain


def _wider(options: JsonObject) -> Any:
    top_k = options["top_k"]
    return top_k * _WIDER if isinstance(top_k, int) else top_k


def _check_clock(as_of: datetime) -> None:
    if not isinstance(as_of, datetime) or as_of.tzinfo is None:
        raise InvalidInputError("as_of has no time zone", hint="pass an aware datetime")
