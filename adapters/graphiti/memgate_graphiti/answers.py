"""What the ledger keeps of a call into Graphiti under its turn: who makes it, and its answer.

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

LEASE = timedelta(minutes=10)
"""After this the claim of another machine's worker is taken over; an ingestion by a slow model
takes minutes. A worker of this machine that died loses its claim at once."""

WORKER = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
"""This process, in claims."""

_STATE, _BY, _AT, _RESULT = "state", "by", "at", "result"
_CLAIMED, _FAILED, _DONE = "claimed", "failed", "done"


class Claim(StrEnum):
    """What a worker finds when it wants to make a turn's call."""

    FIRST = "first"
    """Nobody tried before: go on."""
    AGAIN = "again"
    """An earlier try broke off: undo what it wrote, then go on."""
    TAKEN = "taken"
    """Another worker is making the call now: wait for its answer."""
    DONE = "done"
    """The answer is there."""


def claim(ledger: Ledger, subject: Subject, message_id: str, name: str) -> Claim:
    """Claims a turn's call for this worker, unless it is made, or being made, already."""
    with ledger.write(subject) as tx:
        record = tx.turn(message_id)
        mine = _part(record, name)
        state = mine.get(_STATE)
        if state == _DONE:
            return Claim.DONE
        if state == _CLAIMED and _is_live(mine):
            return Claim.TAKEN
        entry = {_STATE: _CLAIMED, _BY: WORKER, _AT: datetime.now(UTC).isoformat()}
        tx.save_answer(message_id, _merged(record, name, entry))
    return Claim.FIRST if state is None else Claim.AGAIN


def release(ledger: Ledger, subject: Subject, message_id: str, name: str) -> None:
    """Gives a claim back after a failed call: the next try need not wait."""
    with ledger.write(subject) as tx:
        record = tx.turn(message_id)
        mine = _part(record, name)
        if mine.get(_STATE) == _CLAIMED and mine.get(_BY) == WORKER:
            tx.save_answer(message_id, _merged(record, name, {**mine, _STATE: _FAILED}))


def answer_with(record: TurnRecord | None, name: str, result: JsonObject) -> JsonObject:
    """The turn's answer with this memory's finished part in it."""
    return _merged(record, name, {_STATE: _DONE, _RESULT: result})


def result_in(record: TurnRecord | None, name: str) -> JsonObject | None:
    """The recorded result of this memory's call, if it was made."""
    mine = _part(record, name)
    return mine[_RESULT] if mine.get(_STATE) == _DONE else None


def _part(record: TurnRecord | None, name: str) -> dict[str, Any]:
    found = ((record.answer if record is not None else None) or {}).get(name)
    return found if isinstance(found, dict) else {}


def _merged(record: TurnRecord | None, name: str, entry: JsonObject) -> JsonObject:
    return {**((record.answer if record is not None else None) or {}), name: entry}


def _is_live(mine: dict[str, Any]) -> bool:
    """True while the claim's holder may still be at work.

    This process makes one call a turn at a time (see the desk), so its own old claim is a dead one.
    """
    holder = str(mine.get(_BY, ""))
    if holder == WORKER:
        return False
    host, _, rest = holder.partition(":")
    if host == socket.gethostname() and not _runs(rest.partition(":")[0]):
        return False
    return datetime.now(UTC) - datetime.fromisoformat(mine[_AT]) < LEASE


def _runs(pid: str) -> bool:
    if not pid.isdigit() or int(pid) == os.getpid():
        return False  # this process has another worker id now: the pid was used again
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
