"""The async memory: the same behaviour, and the event loop never waits for the gate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mem0 import AsyncMemory
from mem0.exceptions import LLMError

from memgate_core.errors import InvalidTurnError
from memgate_mem0 import GatedAsyncMemory, embedded_config
from tests.mem0.talk import DAY, START
from tests.support.recorded_llm import RecordedLLM
from tests.support.scripted import scripted_gate

FILTERS = {"user_id": "ana"}


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[GatedAsyncMemory]:
    gate = scripted_gate(f"sqlite:///{tmp_path / 'ledger.db'}")
    opened = GatedAsyncMemory.from_config(embedded_config(tmp_path / "m"), gate)
    yield opened
    store = opened.vector_store
    opened.close()
    gate.close()
    store.client.close()


async def texts(memory: GatedAsyncMemory, **options: Any) -> list[str]:
    listed = (await memory.get_all(filters=FILTERS, top_k=100, **options))["results"]
    found = (await memory.search("home", filters=FILTERS, top_k=100, threshold=0.0, **options))[
        "results"
    ]
    assert {row["id"] for row in found} <= {row["id"] for row in listed}
    return [row["memory"] for row in listed]


async def test_hold_promote_supersede_and_look_back(memory: GatedAsyncMemory) -> None:
    assert isinstance(memory, AsyncMemory)

    async def says(text: str, day: int) -> list[str]:
        answer = await memory.add(
            text, user_id="ana", infer=False, occurred_at=START + day * DAY, message_id=f"m{day}"
        )
        return [entry["event"] for entry in answer["results"]]

    assert await says("I live in Leeds.", 1) == ["ADD"]
    assert await says("I might move to Seattle. Thanks a lot.", 2) == ["ADD", "STAGE"]
    assert len((await memory.staged.get_all(filters=FILTERS))["results"]) == 1
    assert len((await memory.staged.search("move", filters=FILTERS))["results"]) == 1
    assert await says("I have moved to Seattle.", 3) == ["PROMOTE"]
    assert sorted(await texts(memory)) == ["Thanks a lot.", "User lives in Seattle"]
    assert "I live in Leeds." in await texts(memory, as_of=START + 2 * DAY)
    assert await says("I have moved to Seattle.", 3) == ["PROMOTE"]
    assert len(await texts(memory)) == 2


async def test_a_person_settles_held_items(memory: GatedAsyncMemory) -> None:
    first = await memory.add("I might move to Seattle.", user_id="ana", infer=False)
    second = await memory.add("I might join Initech.", user_id="ana", infer=False)
    await memory.staged.confirm(first["results"][0]["id"], by="Ana")
    await memory.staged.discard(second["results"][0]["id"], by="Ana")
    row = await memory.staged.get(second["results"][0]["id"])
    assert row is not None
    assert row["status"] == "DISCARDED"
    assert await texts(memory) == ["User lives in Seattle"]


async def test_the_models_extraction_is_judged_in_its_own_task(memory: GatedAsyncMemory) -> None:
    llm = RecordedLLM(
        {"I live in Leeds": ["User lives in Leeds"], "I live in York": ["User lives in York"]}
    )
    memory.llm = llm
    await asyncio.gather(
        memory.add("I live in Leeds.", user_id="ana", occurred_at=START),
        memory.add("I live in York.", user_id="ben", occurred_at=START + DAY),
        memory.add("I might move to Seattle.", user_id="cleo"),
    )
    assert await texts(memory) == ["User lives in Leeds"]
    days = sorted(p.split("## Observation Date\n")[1][:10] for p in llm.prompts)
    assert days == ["2026-03-02", "2026-03-03"]
    assert not llm.saw("Seattle")


async def test_parallel_adds_of_one_message_write_once(memory: GatedAsyncMemory) -> None:
    calls = [
        memory.add("I live in Leeds.", user_id="ana", infer=False, message_id="m1")
        for _ in range(4)
    ]
    answers = await asyncio.gather(*calls)
    assert all(answer == answers[0] for answer in answers)
    assert await texts(memory) == ["I live in Leeds."]


async def test_the_loop_goes_on_while_the_gate_works(memory: GatedAsyncMemory) -> None:
    await memory.add("Warm up, please.", user_id="ana", infer=False)
    receive = memory.desk.receive

    def slow(*args: Any) -> Any:
        time.sleep(0.5)
        return receive(*args)

    memory.desk.receive = slow  # type: ignore[method-assign,assignment]
    add = asyncio.create_task(memory.add("I live in Leeds.", user_id="ana", infer=False))
    ticks = 0
    while not add.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert ticks >= 10
    await add


async def test_a_failed_call_can_be_retried(memory: GatedAsyncMemory) -> None:
    llm = RecordedLLM({"I live in Leeds": ["User lives in Leeds"]})
    llm.fault = TimeoutError("slow")
    memory.llm = llm
    with pytest.raises(LLMError):
        await memory.add("I live in Leeds.", user_id="ana", message_id="m1")
    await memory.add("I live in Leeds.", user_id="ana", message_id="m1")
    assert await texts(memory) == ["User lives in Leeds"]


async def test_edits_keep_step(memory: GatedAsyncMemory) -> None:
    added = await memory.add("I live in Leeds.", user_id="ana", infer=False)
    memory_id = added["results"][0]["id"]
    held = await memory.update(memory_id, "I might move to Seattle")
    assert "held" in held["message"]
    await memory.update(memory_id, "I moved to York")
    assert await texts(memory) == ["I moved to York"]
    assert len(await memory.history(memory_id)) == 2
    await memory.delete(memory_id)
    assert await memory.get_all(filters=FILTERS) == {"results": []}
    with pytest.raises(ValueError, match="not found"):
        await memory.delete(memory_id)
    await memory.add("I work at Acme. I might move to Seattle.", user_id="ana", infer=False)
    await memory.delete_all(user_id="ana")
    assert await texts(memory) == []
    assert (await memory.staged.get_all(filters=FILTERS))["results"] == []
    assert (await memory.deliver()).failed == 0


async def test_reset_empties_and_the_memory_goes_on(memory: GatedAsyncMemory) -> None:
    await memory.add("I live in Leeds. I might move to Seattle.", user_id="ana", infer=False)
    await memory.reset()
    assert await texts(memory) == []
    await memory.add("I live in York. I might join Initech.", user_id="ana", infer=False)
    assert await texts(memory) == ["I live in York."]
    found = await memory.staged.search("job", filters=FILTERS)
    assert [row["value"] for row in found["results"]] == ["Initech"]


async def test_bad_input(memory: GatedAsyncMemory) -> None:
    with pytest.raises(InvalidTurnError):
        await memory.add("I live in Leeds.", infer=False)
    with pytest.raises(InvalidTurnError):
        await memory.add("", user_id="ana", infer=False)
    with pytest.raises(ValueError, match="timestamp"):
        await memory.add("I live in Leeds.", user_id="ana", timestamp=1)
    with pytest.raises(ValueError, match="At least one filter"):
        await memory.delete_all()
    assert await memory.get("11111111-1111-4111-8111-111111111111") is None
