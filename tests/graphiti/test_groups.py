"""One driver a group: its indices are made once, and again where its graph was dropped."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from graphiti_core.driver.falkordb_driver import FalkorDriver

from memgate_graphiti import GatedGraphiti
from tests.graphiti.conftest import Open
from tests.graphiti.databases import Database, opened
from tests.graphiti.talk import GraphTalk

pytestmark = pytest.mark.falkordb


@pytest.fixture
def database() -> Database:
    return opened("falkordb")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The graphs whose indices were made, as often as they were."""
    graphs: list[str] = []
    build = FalkorDriver.build_indices_and_constraints

    async def noted(driver: Any, *args: Any) -> None:
        graphs.append(driver._database)
        await build(driver, *args)

    monkeypatch.setattr(FalkorDriver, "build_indices_and_constraints", noted)
    return graphs


async def test_a_groups_indices_are_made_once_however_often_it_is_used(
    built: list[str], open_graph: Open
) -> None:
    graphiti = open_graph()
    ana, ben = GraphTalk(graphiti), GraphTalk(graphiti, "ben")
    for talk in (ana, ben, ana, ben):
        await talk.says("I live in Leeds")
        await talk.readable()
    await graphiti.search("where", group_ids=["ana", "ben"])
    await graphiti.nodes.entity.get_by_group_ids(["ana"])
    assert sorted(built) == sorted([graphiti.driver._database, "ana", "ben"])


async def test_a_graph_that_was_dropped_gets_its_indices_back(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.graphiti.delivered()
    await ana.graphiti.driver.client.select_graph("ana").delete()
    await ana.says("I work at Acme")
    found = await ana.graphiti.search("where does the user work", group_ids=["ana"])
    assert [edge.fact for edge in found] == ["User works at Acme"]
    indices, _, _ = await ana.driver().execute_query("CALL db.indexes()")
    assert {"Entity", "RELATES_TO", "Episodic"} <= {row["label"] for row in indices}


async def test_closing_meets_no_index_that_is_being_made(
    open_graph: Open, caplog: pytest.LogCaptureFixture
) -> None:
    gc.collect()  # what other tests left behind says its last words here, and not below
    caplog.clear()
    graphiti: GatedGraphiti = open_graph()
    for number in range(5):
        await graphiti.search("where", group_ids=[f"g{number}"])
    await graphiti.close()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
