"""Erasing a subject from everything Mem0 keeps: collections, links, history, raw messages."""

from __future__ import annotations

from typing import Any

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Subject
from memgate_mem0.natives import Natives
from memgate_mem0.scope import MemoryScope, scope_of_session_key


def erase_subject(natives: Natives, ledger: Ledger, name: str, subject: Subject) -> None:
    """Removes every memory, link, history row and raw message of the subject. Repeatable."""
    scope = MemoryScope.of_subject(subject)
    known = [link.native_id for link in ledger.links(name, subject=subject)]
    found = [
        native_id
        for store in (natives.main, natives.staged, natives.closed)
        for native_id in _emptied(natives, store, scope)
    ]
    for row_id, payload in natives.entity_rows(scope.owner):
        if scope.holds(payload):
            natives.drop_entity(row_id)
    natives.purge_history(list(dict.fromkeys([*known, *found])))
    for row_id, session_key, _role, _content in list(natives.messages()):
        if is_of(session_key, scope):
            natives.replace_message(row_id, None)


def is_of(session_key: str, scope: MemoryScope) -> bool:
    """True when raw messages under this key are the subject's."""
    theirs = scope_of_session_key(session_key)
    return theirs is not None and theirs.owner == scope.owner


def _emptied(natives: Natives, store: Any, scope: MemoryScope) -> list[str]:
    """Deletes the scope's points, however many a list call returns at once."""
    gone: list[str] = []
    while True:
        rows = natives.rows(store, scope.owner)
        ours = [row_id for row_id, payload in rows if scope.holds(payload) and row_id not in gone]
        if not ours:
            return gone
        for row_id in ours:
            natives.remove(store, row_id)
        gone += ours
