"""One Graphiti on one event loop after another, as scripts with several `asyncio.run` have it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from memgate_core import MemoryGate
from memgate_graphiti import GatedGraphiti, RecordedLLM
from tests.graphiti.conftest import parts
from tests.graphiti.databases import Falkor, opened
from tests.graphiti.talk import GraphTalk

pytestmark = pytest.mark.falkordb


@pytest.fixture
def ana(gate: MemoryGate, llm: RecordedLLM) -> Iterator[GraphTalk]:
    """Built outside any loop."""
    database = opened("falkordb")
    assert isinstance(database, Falkor)
    talk = GraphTalk(GatedGraphiti(**parts(database, llm), gate=gate))
    yield talk
    asyncio.run(talk.graphiti.close())


async def found(ana: GraphTalk) -> list[str]:
    edges = await ana.graphiti.search("where does the user live", group_ids=["ana"])
    return [edge.fact for edge in edges if edge.invalid_at is None]


def test_each_call_may_have_a_loop_of_its_own(ana: GraphTalk) -> None:
    asyncio.run(ana.says("I live in Leeds"))
    asyncio.run(ana.says("I might move to Seattle"))
    asyncio.run(ana.says("I have moved to Seattle"))
    assert asyncio.run(found(ana)) == ["User lives in Seattle"]
    assert ana.value() == "Seattle"


def test_a_delivery_that_a_loop_left_behind_is_made_on_the_next(ana: GraphTalk) -> None:
    async def hold() -> None:
        await ana.says("I might move to Seattle")

    left = asyncio.new_event_loop()
    left.run_until_complete(hold())  # the delivery in the background is not waited for

    async def looked_up() -> int:
        await ana.says("I might move to Seattle")
        await ana.graphiti.delivered()
        return len(await ana.graphiti.staged.search("Seattle", "ana"))

    assert asyncio.run(looked_up()) == 1
    tasks = asyncio.all_tasks(left)
    for task in tasks:
        task.cancel()
    left.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    left.close()


def test_a_command_may_deliver_between_two_loops(ana: GraphTalk, gate: MemoryGate) -> None:
    async def told() -> None:
        await ana.says("I live in Leeds")
        await ana.says("I might move to Seattle")
        await ana.graphiti.delivered()

    asyncio.run(told())
    (item,) = gate.profile("ana").staged()
    gate.review.confirm(item.staged_id, by="sam", on=ana.now)
    assert [report.failed for report in gate.deliver()] == [0]
    assert asyncio.run(found(ana)) == ["User lives in Seattle"]
