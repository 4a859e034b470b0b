"""Memories that were stored before the gate, or beside it: nothing links them to a fact.

When a field gets a new value, an older memory of the same field may still stand in Mem0. It is
closed only when its words assert exactly that field and nothing else; otherwise it stays, and the
doubt is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memgate_core.fields.values import same_value
from memgate_core.model import Fact, Subject
from memgate_mem0.payloads import OURS, closed_payload
from memgate_mem0.scope import MemoryScope

if TYPE_CHECKING:
    from memgate_mem0.projection import Mem0Projection

_NEAREST = 20
"""So many memories that nothing links to a fact are looked at."""

_LISTED = 200
"""Up to so many linked memories a scope is listed whole; a longer list costs more than a search."""

Row = tuple[str, dict[str, Any]]
Reads = Callable[[Subject, str], Sequence[tuple[str, str]]]


class Doubt(NamedTuple):
    """An older memory that may contradict a new fact; a person decides."""

    subject: Subject
    native_id: str
    text: str


def close_older(projection: Mem0Projection, subject: Subject, fact: Fact, reads: Reads) -> None:
    """Closes unlinked memories that give the fact's field another value."""
    if fact.attribute is None or fact.value is None or fact.supersedes is not None:
        return
    for native_id, payload in _unlinked(projection, subject, fact):
        text = str(payload.get("data", ""))
        asserted = list(reads(subject, text))
        same_field = [value for attribute, value in asserted if attribute == fact.attribute]
        others = [value for value in same_field if not same_value(value, fact.value)]
        if not others:
            continue
        if len(asserted) == 1 and others[0].casefold() in text.casefold():
            _close(projection, native_id, payload, fact)
        else:
            projection.doubts.append(Doubt(subject, native_id, text))


def close_named(projection: Mem0Projection, subject: Subject, fact: Fact, reads: Reads) -> None:
    """Closes unlinked memories that assert the very value that a fact had until now."""
    if fact.attribute is None or fact.value is None or projection.carriers.live(fact):
        return
    for native_id, payload in _unlinked(projection, subject, fact):
        text = str(payload.get("data", ""))
        asserted = list(reads(subject, text))
        if len(asserted) == 1 and _is_claim(asserted[0], fact.attribute, fact.value):
            ended = closed_payload(payload, fact)
            at = (fact.closed_at or fact.recorded_at).isoformat()
            projection.carriers.move_to_closed(native_id, payload, ended, at)


def _is_claim(asserted: tuple[str, str], attribute: str, value: str) -> bool:
    return asserted[0] == attribute and same_value(asserted[1], value)


def all_unlinked(projection: Mem0Projection, subject: Subject) -> list[Row] | None:
    """Every memory of the subject that nothing links to a fact, read without an embedding; None
    where there are too many memories to list."""
    scope, natives = MemoryScope.of_subject(subject), projection.natives
    if natives.strangers.has_none(subject):
        return []
    known = projection.linked(subject)
    limit = len(known) + _NEAREST + 1
    if len(known) > _LISTED:
        return None
    with natives.strangers.looking(subject) as found_none:
        rows = natives.rows(natives.main, scope.owner, limit)
        if len(rows) == limit:
            return None
        found = list(_foreign(projection, scope, [row for row in rows if row[0] not in known]))
        if not found:
            found_none()
    return found


def _unlinked(projection: Mem0Projection, subject: Subject, fact: Fact) -> list[Row]:
    found = all_unlinked(projection, subject)
    if found is not None:
        return found
    scope, natives = MemoryScope.of_subject(subject), projection.natives
    query = f"{str(fact.attribute).replace('_', ' ')}: {fact.text}"
    hits = natives.near(natives.main, query, scope.owner, _NEAREST)
    return list(_foreign(projection, scope, [(row_id, payload) for row_id, _, payload in hits]))


def _foreign(projection: Mem0Projection, scope: MemoryScope, rows: Iterable[Row]) -> Iterator[Row]:
    for native_id, payload in rows:
        if scope.holds(payload) and OURS not in payload and not projection.is_linked(native_id):
            yield native_id, payload


def _close(
    projection: Mem0Projection, native_id: str, payload: dict[str, Any], newer: Fact
) -> None:
    """The old value held from when it was stored until the new one began."""
    until = newer.valid_from.isoformat()
    ended = {
        **payload,
        OURS: {"attribute": newer.attribute, "closed_by": newer.fact_id},
        "valid_from": payload.get("created_at"),
        "valid_to": until,
    }
    projection.carriers.move_to_closed(native_id, payload, ended, until)
