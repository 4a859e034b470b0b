"""What a caller writes himself, through `graphiti.nodes` and `graphiti.edges`: it ends with its fact."""

from __future__ import annotations

import pytest
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodeType, EpisodicNode, SagaNode

from memgate_graphiti import HeldError
from tests.graphiti.talk import START, GraphTalk

PLAN = "I might move to Seattle"


async def saved_edge(ana: GraphTalk, fact: str, place: str) -> EntityEdge:
    """An edge and its two ends, each saved through its namespace."""
    nodes = [EntityNode(name=name, group_id="ana", labels=[]) for name in ("user", place)]
    for node in nodes:
        await ana.graphiti.nodes.entity.save(node)
    edge = EntityEdge(
        group_id="ana",
        source_node_uuid=nodes[0].uuid,
        target_node_uuid=nodes[1].uuid,
        name="LIVES_IN",
        fact=fact,
        created_at=START,
        valid_at=START,
    )
    await ana.graphiti.edges.entity.save(edge)
    return edge


def episode(text: str) -> EpisodicNode:
    return EpisodicNode(
        name="by hand",
        group_id="ana",
        source=EpisodeType.message,
        source_description="chat",
        content=f"user: {text}",
        valid_at=START,
        created_at=START,
    )


async def test_a_saved_edge_is_closed_by_what_replaces_it(ana: GraphTalk) -> None:
    edge = await saved_edge(ana, "I live in Leeds", "Leeds")
    assert ana.value() == "Leeds"
    await ana.says(PLAN)
    await ana.says("I have moved to Seattle")
    assert await ana.current() == ["User lives in Seattle"]
    old = next(one for one in await ana.edges() if one.uuid == edge.uuid)
    assert old.invalid_at == ana.now


async def test_a_saved_edge_goes_with_its_revoked_fact(ana: GraphTalk) -> None:
    await saved_edge(ana, "I live in Leeds", "Leeds")
    (fact,) = ana.facts()
    revoked = await ana.graphiti.revoke(fact.fact_id, by="sam")
    assert revoked.clean, revoked.residue
    assert await ana.edges() == []


async def test_saving_an_edge_again_keeps_what_it_carries(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    (edge,) = await ana.edges()
    await edge.load_fact_embedding(ana.driver())
    await ana.graphiti.edges.entity.save(edge)
    (fact,) = [one for one in ana.facts() if one.value == "Leeds"]
    assert (await ana.graphiti.revoke(fact.fact_id, by="sam")).clean
    assert await ana.edges() == []


async def test_a_saved_episode_loses_the_words_of_a_revoked_fact(ana: GraphTalk) -> None:
    await ana.graphiti.nodes.episode.save(episode("I live in Leeds. I work at Acme."))
    fact = next(one for one in ana.facts() if one.value == "Leeds")
    revoked = await ana.graphiti.revoke(fact.fact_id, by="sam")
    assert revoked.clean, revoked.residue
    assert await ana.episodes() == ["user: I work at Acme."]


async def test_a_saved_summary_loses_the_words_of_a_revoked_fact(ana: GraphTalk) -> None:
    node = EntityNode(
        name="user", group_id="ana", labels=[], summary="I live in Leeds.\nPlays chess"
    )
    await ana.graphiti.nodes.entity.save(node)
    (fact,) = [one for one in ana.facts() if one.value == "Leeds"]
    revoked = await ana.graphiti.revoke(fact.fact_id, by="sam")
    assert revoked.clean, revoked.residue
    kept = await EntityNode.get_by_uuid(ana.driver(), node.uuid)
    assert kept.summary == "Plays chess"
    assert ana.gate.rollout.show().tripped is None


async def test_what_is_held_is_not_saved_under_any_name(ana: GraphTalk) -> None:
    nodes = ana.graphiti.nodes
    community = CommunityNode(name=PLAN, group_id="ana", summary="a move")
    saga = SagaNode(name="s", group_id="ana", summary=PLAN)
    for write in (
        lambda: nodes.community.save(community),
        lambda: nodes.community.save_bulk([community]),
        lambda: nodes.community.save(community.model_copy(update={"name": "c", "summary": PLAN})),
        lambda: nodes.saga.save(saga),
        lambda: nodes.saga.save_bulk([saga]),
        lambda: nodes.episode.save(episode(PLAN)),
    ):
        with pytest.raises(HeldError, match="held or refused"):
            await write()
    assert await ana.shown("Seattle") == []
    assert await CommunityNode.get_by_group_ids(ana.driver(), ["ana"]) == []
    assert await SagaNode.get_by_group_ids(ana.driver(), ["ana"]) == []
