"""Where traces of something that was taken away are still found in Mem0, judged by provenance.

A word that also stands elsewhere is no trace ("my dad lives in Seattle"): what counts is a memory
that carried the fact or item, and the very words it rested on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Event, EventType, FactStatus
from memgate_mem0.erasing import is_of
from memgate_mem0.natives import Natives
from memgate_mem0.payloads import part_id, promoted_id, staged_native_id
from memgate_mem0.scope import MemoryScope

_LIVE = (FactStatus.CURRENT, FactStatus.SUPERSEDED)


def find(natives: Natives, ledger: Ledger, name: str, needle: Event) -> list[str]:
    """Places by name, with the ids found there; no words."""
    scope = MemoryScope.of_subject(needle.subject)
    if needle.event_type is EventType.ERASED:
        ids = [link.native_id for link in ledger.links(name, subject=needle.subject)]
        return [*_of_scope(natives, scope), *_in_history(natives, ids)]
    ids = native_ids(ledger, name, needle)
    return [
        *_in_collections(natives, ledger, name, needle),
        *_in_entities(natives, scope, ids),
        *_in_history(natives, ids),
        *_in_messages(natives, scope, needle),
    ]


def purge(natives: Natives, ledger: Ledger, name: str, needle: Event) -> int:
    """Deletes the history rows and raw messages that `find` names. Returns how many."""
    scope = MemoryScope.of_subject(needle.subject)
    rows = list(_message_rows(natives, scope, needle))
    for row_id in rows:
        natives.replace_message(row_id, None)
    return len(rows) + natives.purge_history(native_ids(ledger, name, needle))


def native_ids(ledger: Ledger, name: str, needle: Event) -> list[str]:
    """Every native id that the event's fact or item has, or had."""
    ids: list[str] = []
    if needle.fact is not None:
        links = ledger.links(name, fact_id=needle.fact.fact_id)
        carried = [link.native_id for link in links]
        ids += [*carried, promoted_id(name, needle.fact)]
        ids += [part_id(native_id, needle.fact.fact_id) for native_id in carried]
    if needle.staged is not None:
        ids.append(staged_native_id(name, needle.staged.staged_id))
    return list(dict.fromkeys(ids))


def _of_scope(natives: Natives, scope: MemoryScope) -> Iterator[str]:
    for place, store in _collections(natives):
        for row_id, payload in natives.rows(store, scope.owner):
            if scope.holds(payload):
                yield f"{place}: memory {row_id}"
    for row_id, payload in natives.entity_rows(scope.owner):
        if scope.holds(payload):
            yield f"entity store: entity {row_id}"
    for row_id, session_key, _role, _content in natives.messages():
        if is_of(session_key, scope):
            yield f"raw messages (Mem0's messages table): row {row_id}"


def _in_collections(natives: Natives, ledger: Ledger, name: str, needle: Event) -> Iterator[str]:
    for place, store in _collections(natives):
        for native_id in native_ids(ledger, name, needle):
            payload = natives.get(store, native_id)
            if payload is not None and not _is_reworded(ledger, name, native_id, payload, needle):
                yield f"{place}: memory {native_id}"


def _is_reworded(
    ledger: Ledger, name: str, native_id: str, payload: dict[str, Any], needle: Event
) -> bool:
    """True for a memory that rests on other facts now and has none of the words left."""
    if needle.fact is None or needle.fact.words in str(payload.get("data", "")):
        return False
    links = ledger.links(name, native_id=native_id)
    others = [ledger.fact(i) for link in links for i in link.fact_ids if i != needle.fact.fact_id]
    return any(other is not None and other.status in _LIVE for other in others)


def _in_entities(natives: Natives, scope: MemoryScope, ids: list[str]) -> Iterator[str]:
    for row_id, payload in natives.entity_rows(scope.owner):
        linked = set(payload.get("linked_memory_ids") or ())
        for native_id in linked & set(ids):
            yield f"entity store: entity {row_id} links memory {native_id}"


def _in_history(natives: Natives, ids: list[str]) -> Iterator[str]:
    for native_id in ids:
        if count := len(natives.history_words(native_id)):
            yield f"history (Mem0's history table): {count} texts of memory {native_id}"


def _in_messages(natives: Natives, scope: MemoryScope, needle: Event) -> Iterator[str]:
    for row_id in _message_rows(natives, scope, needle):
        yield f"raw messages (Mem0's messages table): row {row_id}"


def _message_rows(natives: Natives, scope: MemoryScope, needle: Event) -> Iterator[str]:
    words = [about.words for about in (needle.fact, needle.staged) if about is not None]
    wanted = [text.casefold() for text in words if text.strip()]
    for row_id, session_key, _role, content in natives.messages():
        if is_of(session_key, scope) and any(text in content.casefold() for text in wanted):
            yield row_id


def _collections(natives: Natives) -> tuple[tuple[str, Any], ...]:
    return (("main", natives.main), ("staged", natives.staged), ("closed", natives.closed))
