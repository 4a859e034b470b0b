"""Recall is zero after a revocation, through every read that a gated Graphiti has, by name (article).

Each read is shown to find the words first, where it should; a search that finds nothing proves
nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from graphiti_core.nodes import EntityNode, EpisodicNode
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF

from memgate_core.model import StagedStatus
from tests.graphiti.talk import DAY, GraphTalk

Read = Callable[[GraphTalk, str], Awaitable[list[str]]]


async def search(ana: GraphTalk, word: str) -> list[str]:
    found = await ana.graphiti.search(word, group_ids=[ana.group_id], num_results=50)
    return [edge.fact for edge in found]


async def _wide(ana: GraphTalk, word: str) -> Any:
    return await ana.graphiti.search_(word, COMBINED_HYBRID_SEARCH_RRF, group_ids=[ana.group_id])


async def search_edges(ana: GraphTalk, word: str) -> list[str]:
    return [edge.fact for edge in (await _wide(ana, word)).edges]


async def search_nodes(ana: GraphTalk, word: str) -> list[str]:
    return [text for node in (await _wide(ana, word)).nodes for text in (node.name, node.summary)]


async def search_episodes(ana: GraphTalk, word: str) -> list[str]:
    return [episode.content for episode in (await _wide(ana, word)).episodes]


async def search_communities(ana: GraphTalk, word: str) -> list[str]:
    found = (await _wide(ana, word)).communities
    return [text for community in found for text in (community.name, community.summary)]


async def retrieve_episodes(ana: GraphTalk, word: str) -> list[str]:
    found = await ana.graphiti.retrieve_episodes(ana.now + 1000 * DAY, 50, [ana.group_id])
    return [episode.content for episode in found]


async def edges(ana: GraphTalk, word: str) -> list[str]:
    return [edge.fact for edge in await ana.edges()]


async def node_names(ana: GraphTalk, word: str) -> list[str]:
    return [node.name for node in await _nodes(ana)]


async def node_summaries(ana: GraphTalk, word: str) -> list[str]:
    return [node.summary for node in await _nodes(ana)]


async def node_attributes(ana: GraphTalk, word: str) -> list[str]:
    return [str(node.attributes) for node in await _nodes(ana)]


async def _nodes(ana: GraphTalk) -> list[EntityNode]:
    found: list[EntityNode] = await EntityNode.get_by_group_ids(ana.driver(), [ana.group_id])
    return found


async def episodes(ana: GraphTalk, word: str) -> list[str]:
    found = await EpisodicNode.get_by_group_ids(ana.driver(), [ana.group_id])
    return [f"{e.name} {e.content} {e.source_description}" for e in found]


async def staged_list(ana: GraphTalk, word: str) -> list[str]:
    return [f"{item.text} {item.words}" for item in await ana.graphiti.staged.list(ana.group_id)]


async def staged_search(ana: GraphTalk, word: str) -> list[str]:
    return [str(item) for item in await ana.graphiti.staged.search(word, ana.group_id)]


async def staged_get(ana: GraphTalk, word: str) -> list[str]:
    known = ana.gate.ledger.staged(ana.subject, status=None)
    return [str(await ana.graphiti.staged.get(item.staged_id)) for item in known]


HELD: tuple[Read, ...] = (staged_list, staged_search, staged_get)
GRAPH: tuple[Read, ...] = (
    search,
    search_edges,
    search_nodes,
    search_episodes,
    search_communities,
    retrieve_episodes,
    edges,
    node_names,
    node_summaries,
    node_attributes,
    episodes,
)
TOLD = {"search", "search_edges", "search_nodes", "edges", "node_names"}
"""Reads that show a fact in any case, whoever wrote it."""
HEARD = {"search_episodes", "retrieve_episodes", "episodes"}
"""Reads that show a fact's words when its message was ingested."""


async def finding(ana: GraphTalk, word: str) -> set[str]:
    """Names of the reads that show a word."""
    shown = {read.__name__: await read(ana, word) for read in (*GRAPH, *HELD)}
    return {name for name, texts in shown.items() if word in str(texts)}


async def test_a_revoked_fact_is_found_by_no_read(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    assert await finding(ana, "Leeds") >= TOLD | HEARD
    fact = ana.gate.profile(ana.subject).current("home_city")
    assert fact is not None
    assert (await ana.graphiti.revoke(fact.fact_id, by="Mia")).clean
    assert await finding(ana, "Leeds") == set()


async def test_a_revoked_promotion_is_found_by_no_read(ana: GraphTalk) -> None:
    await ana.says("I might move to Seattle")
    assert await finding(ana, "Seattle") == {read.__name__ for read in HELD}
    await ana.says("I have moved to Seattle")
    assert await finding(ana, "Seattle") >= TOLD
    (item,) = ana.gate.profile(ana.subject).staged(status=StagedStatus.PROMOTED)
    assert (await ana.graphiti.revoke(item.staged_id, by="Mia")).clean
    assert await finding(ana, "Seattle") == set()


async def test_a_revoked_past_fact_is_found_by_no_read(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    leeds = ana.gate.profile(ana.subject).current("home_city")
    await ana.says("I moved to York")
    assert leeds is not None
    assert await finding(ana, "Leeds") >= {"edges", "episodes"}
    assert (await ana.graphiti.revoke(leeds.fact_id, by="Mia")).clean
    assert await finding(ana, "Leeds") == set()
    assert await finding(ana, "York") >= TOLD


async def test_a_revoked_plan_is_found_by_no_read(ana: GraphTalk) -> None:
    await ana.says("I might move to Seattle")
    (item,) = ana.gate.profile(ana.subject).staged()
    assert (await ana.graphiti.revoke(item.staged_id, by="Mia")).clean
    assert await finding(ana, "Seattle") == set()


async def test_an_erased_user_is_found_by_no_read(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I moved to York")
    await ana.says("I might move to Seattle")
    assert (await ana.graphiti.erase("ana", by="Mia")).clean
    for word in ("Leeds", "York", "Seattle"):
        assert await finding(ana, word) == set()
