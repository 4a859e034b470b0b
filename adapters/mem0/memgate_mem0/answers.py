"""What the ledger keeps of a Mem0 call under its turn: who makes it, its scope, its answer.

A turn's record has one answer; each memory keeps its part of it under its projection's name. The
part is written twice: as a claim before the call, so that of several workers that got the same
message one makes the call, and with the result after it, so that a retry replays it.
"""

from __future__ import annotations

import os
import socket
import uuid
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from memgate_core.ledger.protocol import Ledger, TurnRecord
from memgate_core.model import JsonObject, Subject
from memgate_mem0.scope import MemoryScope

LEASE = timedelta(seconds=120)
"""After this a claim of a worker that fell silent is taken over."""

WORKER = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
"""This process, in claims."""

_STATE, _BY, _AT, _SCOPE, _RESULT = "state", "by", "at", "scope", "result"
_CLAIMED, _FAILED, _DONE = "claimed", "failed", "done"


class Claim(StrEnum):
    """What a worker finds when it wants to make a turn's call."""

    FIRST = "first"
    """Nobody tried before: go on."""
    AGAIN = "again"
    """An earlier try broke off: undo what it wrote, then go on."""
    TAKEN = "taken"
    """Somebody is making the call now: wait for the answer."""
    DONE = "done"
    """The answer is there."""


def claim(
    ledger: Ledger,
    subject: Subject,
    message_id: str,
    name: str,
    scope: MemoryScope,
    *,
    exclusive: bool,
) -> Claim:
    """Claims a turn's call for this worker, unless it is made, or being made, already.

    `exclusive`: no other process can hold the store, so a foreign claim is a dead one's.
    """
    with ledger.write(subject) as tx:
        record = tx.turn(message_id)
        mine = _part(record, name)
        state = mine.get(_STATE)
        if state == _DONE:
            return Claim.DONE
        if state == _CLAIMED and _is_live(mine, exclusive):
            return Claim.TAKEN
        entry = {_STATE: _CLAIMED, _BY: WORKER, _AT: _now().isoformat(), _SCOPE: scope.ids}
        tx.save_answer(message_id, _merged(record, name, entry))
    return Claim.FIRST if state is None else Claim.AGAIN


def release(ledger: Ledger, subject: Subject, message_id: str, name: str) -> None:
    """Gives a claim back after a failed call: the next try need not wait."""
    with ledger.write(subject) as tx:
        record = tx.turn(message_id)
        mine = _part(record, name)
        if mine.get(_STATE) == _CLAIMED and mine.get(_BY) == WORKER:
            tx.save_answer(message_id, _merged(record, name, {**mine, _STATE: _FAILED}))


def answer_with(
    record: TurnRecord | None, name: str, scope: MemoryScope, result: JsonObject
) -> JsonObject:
    """The turn's answer with this memory's finished part in it."""
    return _merged(record, name, {_STATE: _DONE, _SCOPE: scope.ids, _RESULT: result})


def result_in(record: TurnRecord | None, name: str) -> JsonObject | None:
    """The recorded result of this memory's call, if it was made."""
    mine = _part(record, name)
    return mine[_RESULT] if mine.get(_STATE) == _DONE else None


def scope_in(record: TurnRecord | None, name: str) -> MemoryScope | None:
    """The scope that this memory's call had."""
    ids = _part(record, name).get(_SCOPE)
    return MemoryScope(**ids) if ids else None


def _part(record: TurnRecord | None, name: str) -> dict[str, Any]:
    answer = (record.answer if record is not None else None) or {}
    found = answer.get(name)
    return found if isinstance(found, dict) else {}


def _merged(record: TurnRecord | None, name: str, entry: JsonObject) -> JsonObject:
    return {**((record.answer if record is not None else None) or {}), name: entry}


def _is_live(mine: dict[str, Any], exclusive: bool) -> bool:
    if mine.get(_BY) == WORKER:
        return True
    return not exclusive and _now() - datetime.fromisoformat(mine[_AT]) < LEASE


def _now() -> datetime:
    return datetime.now(UTC)
