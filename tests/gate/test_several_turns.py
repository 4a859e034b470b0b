"""The turns of one call: recorded in order, with one wait for the disk at the end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from memgate_core import MemoryGate
from memgate_core.errors import ProtocolConflictError
from memgate_core.model import Receipt, Turn

NOW = datetime(2025, 3, 2, 9, tzinfo=UTC)
SAID = ("I live in Leeds.", "I might move to Seattle.", "My dentist is Dr Okafor.")


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[MemoryGate]:
    with MemoryGate.open(f"sqlite:///{tmp_path}/ledger.db") as opened:
        yield opened


def turns(gate: MemoryGate, *texts: str, user: str = "ana", first: int = 0) -> list[Turn]:
    return [
        gate.turn(
            text,
            user_id=user,
            occurred_at=NOW + timedelta(minutes=n),
            message_id=f"{user}-{first + n}",
        )
        for n, text in enumerate(texts)
    ]


def commits(gate: MemoryGate) -> list[bool]:
    """Fills with True or False for every commit from now on: does it wait for the disk?"""
    engine = gate.ledger._database.backend.engine  # type: ignore[attr-defined]
    found: list[bool] = []

    def listen(connection: Any, _record: object) -> None:
        waits = [True]

        def heard(sql: str) -> None:
            if sql.startswith("PRAGMA synchronous"):
                waits[0] = sql.endswith("FULL")
            elif sql == "COMMIT":
                found.append(waits[0])

        connection.set_trace_callback(heard)

    event.listen(engine, "connect", listen)
    engine.dispose()
    return found


def without_times(receipt: Receipt) -> dict[str, Any]:
    return receipt.model_dump(mode="json", exclude={"gate_ms", "model_ms"})


def test_they_get_the_receipts_that_each_gets_alone(gate: MemoryGate) -> None:
    together = gate.observe_all(turns(gate, *SAID))
    with MemoryGate.open("sqlite://") as other:
        alone = [other.observe(turn) for turn in turns(other, *SAID)]
    assert [without_times(r) for r in together] == [without_times(r) for r in alone]


def test_only_the_last_waits_for_the_disk(gate: MemoryGate) -> None:
    waited = commits(gate)
    gate.observe_all(turns(gate, *SAID))
    assert waited == [False, False, True]


def test_a_single_turn_waits(gate: MemoryGate) -> None:
    waited = commits(gate)
    gate.observe_all(turns(gate, SAID[0]))
    assert waited == [True]


def test_a_replay_at_the_end_leaves_nothing_waiting(gate: MemoryGate) -> None:
    known = turns(gate, SAID[2], first=7)
    gate.observe_all(known)
    waited = commits(gate)
    receipts = gate.observe_all([*turns(gate, *SAID[:2]), *known])
    assert [r.replayed for r in receipts] == [False, False, True]
    assert waited[:2] == [False, False]
    assert waited[-1]


def test_nothing_is_nothing(gate: MemoryGate) -> None:
    assert gate.observe_all([]) == []


def test_a_call_that_failed_midway_can_be_made_again(gate: MemoryGate) -> None:
    first, second = turns(gate, *SAID[:2])
    gate.observe(second.model_copy(update={"text": "something else"}))
    with pytest.raises(ProtocolConflictError):
        gate.observe_all([first, second])
    again = gate.observe_all([first, second.model_copy(update={"text": "something else"})])
    assert [r.replayed for r in again] == [True, True]


async def test_off_the_loop_it_is_the_same(gate: MemoryGate) -> None:
    receipts = await gate.aobserve_all(turns(gate, *SAID))
    assert [without_times(r) for r in gate.observe_all(turns(gate, *SAID))] == [
        {**without_times(r), "replayed": True} for r in receipts
    ]
