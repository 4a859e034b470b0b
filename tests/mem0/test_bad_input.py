"""Malformed calls: one clear error that names the place, nothing written, Mem0 untouched."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from memgate_core.errors import MemgateError
from memgate_mem0 import GatedMemory

SURROGATE, NUL = "Le\ud800eds", "Le\x00eds"
WELL = {"role": "user", "content": "I live in Leeds."}

CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "messages: nothing": ({"messages": None}, "messages"),
    "messages: a number": ({"messages": 5}, "messages"),
    "messages: an empty string": ({"messages": ""}, "text"),
    "messages: an empty list": ({"messages": []}, "text"),
    "messages: a list of strings": ({"messages": ["hello"]}, "messages[0]"),
    "messages: blanks": ({"messages": [{**WELL, "content": "  "}]}, "text"),
    "content: a number": ({"messages": [{**WELL, "content": 5}]}, "messages[0].content"),
    "text: a megabyte": ({"messages": "I live in Leeds. " * 62_000}, "1,054,000"),
    "text: a lone surrogate": ({"messages": SURROGATE}, "surrogate at 2"),
    "text: NUL": ({"messages": NUL}, "NUL character at 2"),
    "text: NUL in the second": ({"messages": [WELL, {**WELL, "content": NUL}]}, "NUL"),
    "role: unknown": ({"messages": [WELL, {**WELL, "role": "wizard"}]}, "messages[1].role"),
    "role: missing": ({"messages": [{"content": "Hello"}]}, "messages[0].role"),
    "role: a list": ({"messages": [{**WELL, "role": ["user"]}]}, "messages[0].role"),
    "name: a lone surrogate": ({"messages": [{**WELL, "name": SURROGATE}]}, "messages[0].name"),
    "name: NUL": ({"messages": [{**WELL, "name": NUL}]}, "messages[0].name"),
    "time: naive": ({"occurred_at": datetime(2026, 3, 2)}, "occurred_at"),  # noqa: DTZ001
    "time: a string": ({"occurred_at": "2026-03-02"}, "occurred_at"),
    "user: missing": ({"user_id": None}, "user_id"),
    "user: blank": ({"user_id": " "}, "user_id"),
    "user: NUL": ({"user_id": NUL}, "user_id"),
    "user: a list": ({"user_id": ["ana"]}, "user_id"),
    "run: NUL": ({"run_id": NUL}, "run_id"),
    "run: a lone surrogate": ({"run_id": SURROGATE}, "run_id"),
    "agent: NUL": ({"agent_id": NUL}, "agent_id"),
    "agent: a lone surrogate": ({"agent_id": SURROGATE}, "agent_id"),
    "message id: empty": ({"message_id": ""}, "message_id"),
    "message id: a number": ({"message_id": 5, "messages": [WELL, WELL]}, "message_id"),
    "message id: a lone surrogate": ({"message_id": SURROGATE}, "message_id"),
    "metadata: a list": ({"metadata": [1]}, "metadata"),
    "metadata: NUL": ({"metadata": {"app": NUL}}, "metadata['app']"),
    "metadata: deep": ({"metadata": {"tags": ["x", {"y": SURROGATE}]}}, "metadata['tags'][1]['y']"),
    "metadata: its key": ({"metadata": {SURROGATE: "x"}}, "metadata key"),
}


@pytest.fixture
def memory(open_in_memory: Callable[[], GatedMemory]) -> GatedMemory:
    return open_in_memory()


def test_each_is_refused_with_its_place_and_leaves_no_trace(memory: GatedMemory) -> None:
    for name, (call, place) in CALLS.items():
        given = {"messages": [WELL], "user_id": "ana", "infer": False, **call}
        with pytest.raises(MemgateError) as refused:
            memory.add(**given)
        assert place in str(refused.value), name
        assert "\n" not in str(refused.value), name
        assert _everything(memory) == ([], [], []), name


def test_what_was_refused_can_be_said_again_properly(memory: GatedMemory) -> None:
    with pytest.raises(MemgateError):
        memory.add([WELL, {**WELL, "content": NUL}], user_id="ana", infer=False, message_id="m1")
    answer = memory.add([WELL, WELL], user_id="ana", infer=False, message_id="m1")
    assert [entry["event"] for entry in answer["results"]] == ["ADD", "ADD"]


def test_a_number_is_an_id_as_it_is_to_mem0(memory: GatedMemory) -> None:
    memory.add([WELL], user_id=7, infer=False)  # type: ignore[arg-type]
    assert len(memory.get_all(filters={"user_id": "7"})["results"]) == 1


def _everything(memory: GatedMemory) -> tuple[list[Any], list[Any], list[Any]]:
    natives = memory.desk.projection.natives
    rows = natives.rows(natives.main)
    return rows, natives.messages(), list(memory.gate.ledger.subjects("default"))
