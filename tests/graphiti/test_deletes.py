"""What a caller deletes through `graphiti.nodes` and `graphiti.edges`: the ledger hears of it."""

from __future__ import annotations

from typing import Any

import pytest
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodicNode

from memgate_core.errors import NotAllowedError
from memgate_core.model import FactStatus
from memgate_graphiti.rebuilding import rebuild
from tests.graphiti.talk import DAY, GraphTalk


async def node(ana: GraphTalk, name: str) -> EntityNode:
    found = await EntityNode.get_by_group_ids(ana.driver(), ["ana"])
    return next(one for one in found if one.name == name)


async def rebuilt(ana: GraphTalk) -> list[str]:
    """The facts of all edges after a rebuild of the graph from the ledger."""
    await rebuild(ana.graphiti.desk)
    return sorted(edge.fact for edge in await ana.edges())


async def test_a_deleted_edge_ends_in_the_ledger_and_stays_away(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I work at Acme")
    await ana.graphiti.edges.entity.delete(await ana.edge("Leeds"))
    assert ana.value() is None
    assert await ana.shown("Leeds") == []
    assert await rebuilt(ana) == ["User works at Acme"]
    (gone,) = [fact for fact in ana.facts() if fact.value == "Leeds"]
    assert gone.status is FactStatus.REVOKED
    assert ana.gate.rollout.show().tripped is None


async def test_a_deleted_promotion_is_not_delivered_again(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I might move to Seattle")
    await ana.says("I have moved to Seattle")
    edge = await ana.edge("Seattle")
    await ana.graphiti.edges.entity.delete_by_uuids([edge.uuid, "no-such-edge"])
    assert ana.value() is None
    assert [one.fact for one in await ana.edges()] == ["User lives in Leeds"]
    assert await rebuilt(ana) == ["User lives in Leeds"]
    assert await ana.current() == []


async def test_a_deleted_ended_edge_takes_its_history_along(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I moved to York")
    await ana.graphiti.edges.entity.delete(await ana.edge("Leeds"))
    assert ana.value() == "York"
    assert await rebuilt(ana) == ["User lives in York"]


async def test_a_fact_of_two_edges_stands_until_both_are_gone(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    first = await ana.edge("Leeds")
    await first.load_fact_embedding(ana.driver())
    second = first.model_copy(update={"uuid": "second", "fact": "I live in Leeds"})
    await ana.graphiti.edges.entity.save(second)
    await ana.graphiti.edges.entity.delete(first)
    assert ana.value() == "Leeds"
    await ana.graphiti.edges.entity.delete(second)
    assert ana.value() is None


async def test_a_deleted_entity_takes_the_facts_of_its_edges_along(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I work at Acme")
    await ana.graphiti.nodes.entity.delete(await node(ana, "Leeds"))
    assert (ana.value(), ana.value("employer")) == (None, "Acme")
    await ana.graphiti.nodes.entity.delete_by_uuids([(await node(ana, "Acme")).uuid])
    assert ana.value("employer") is None
    assert await rebuilt(ana) == []


async def test_all_entities_of_a_group_take_its_facts_along_and_nobody_elses(
    ana: GraphTalk,
) -> None:
    ben = GraphTalk(ana.graphiti, "ben")
    await ana.says("I live in Leeds")
    await ben.says("I live in Leeds")
    await ana.graphiti.nodes.entity.delete_by_group_id("ana")
    assert (ana.value(), ben.value()) == (None, "Leeds")
    assert (await ana.edges(), await ben.current()) == ([], ["User lives in Leeds"])


async def test_an_episode_that_edges_outlive_keeps_its_facts(ana: GraphTalk) -> None:
    told = await ana.says("I live in Leeds")
    await ana.graphiti.nodes.episode.delete(told.episode)
    assert await ana.episodes() == []
    assert ana.value() == "Leeds"
    assert await ana.current() == ["User lives in Leeds"]


async def test_an_episode_that_alone_says_a_fact_takes_it_along(ana: GraphTalk, llm: Any) -> None:
    llm.facts.clear()
    told = await ana.says("I live in Leeds")
    assert ana.value() == "Leeds"
    await ana.graphiti.nodes.episode.delete_by_uuids([told.episode.uuid])
    assert ana.value() is None
    again = await ana.says("I live in Leeds", after=DAY)
    assert ana.value() == "Leeds"
    await ana.graphiti.nodes.episode.delete_by_group_id("ana")
    assert ana.value() is None
    assert again.episode.uuid not in {
        one.uuid for one in await EpisodicNode.get_by_group_ids(ana.driver(), ["ana"])
    }


async def test_within_a_transaction_only_what_carries_no_fact_is_deleted(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    edge, driver = await ana.edge("Leeds"), ana.driver()
    bare = EntityEdge(**{**edge.model_dump(), "uuid": "bare", "fact": "a line between two"})
    await bare.generate_embedding(ana.graphiti.embedder)
    await bare.save(driver)
    async with driver.transaction() as tx:
        await ana.graphiti.edges.entity.delete(bare, tx)
        with pytest.raises(NotAllowedError, match="transaction"):
            await ana.graphiti.edges.entity.delete(edge, tx)
    assert [one.fact for one in await ana.edges()] == ["User lives in Leeds"]
    assert ana.value() == "Leeds"


async def test_a_community_is_deleted_in_the_graph_of_its_group(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    community = CommunityNode(name="places", group_id="ana", summary="places")
    await community.generate_name_embedding(ana.graphiti.embedder)
    await community.save(ana.driver())
    await ana.graphiti.nodes.community.delete(community)
    assert await CommunityNode.get_by_group_ids(ana.driver(), ["ana"]) == []
    assert ana.value() == "Leeds"
