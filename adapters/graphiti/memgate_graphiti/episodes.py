"""Episodes that have to go, or to lose words: what Graphiti's own removal does not see to.

Graphiti's `remove_episode` works on the shared driver's graph, which on FalkorDB is not the
group's, and it deletes every node that only this episode mentions, with all of its edges, those of
promoted facts included (both verified: tests/graphiti/test_host_facts.py).
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.nodes import EpisodeType

from memgate_core.model import Role
from memgate_graphiti.graph import Graph
from memgate_graphiti.payloads import OURS
from memgate_graphiti.places import places_of
from memgate_graphiti.speech import Speakers, speech_in

Remove = Callable[[Graph, str], Awaitable[None]]
"""Removes an episode from a graph."""

_KEPT = f"""
MATCH (p:Episodic {{uuid: $uuid}})-[m:MENTIONS]->(n:Entity)-[e:RELATES_TO]-(:Entity)
WHERE e.{OURS} IS NOT NULL OR NOT ($uuid IN e.episodes) OR size(e.episodes) > 1
RETURN DISTINCT n.uuid AS uuid
"""
_LET_GO = """
MATCH (p:Episodic {uuid: $uuid})-[m:MENTIONS]->(n:Entity) WHERE n.uuid IN $nodes DELETE m
"""


def scoped(graphiti: Graphiti, driver: GraphDriver) -> Any:
    """The same Graphiti on another driver: for calls that only know the shared one."""
    view = copy.copy(graphiti)
    view.driver = driver
    view.clients = graphiti.clients.model_copy(update={"driver": driver})
    return view


async def remove(graphiti: Graphiti, graph: Graph, uuid: str) -> None:
    """Removes an episode with what rests on it alone, and nothing that other facts need.

    Summaries of entities that other edges need lose the facts that went, without a model; those of
    entities that only other episodes mention are Graphiti's own to make anew.

    Raises:
        NodeNotFoundError: Graphiti's own, when there is no such episode in the group.
    """
    edges = await graph.edges_of_episode(uuid)
    going = [edge for edge in edges if set(edge.episodes) <= {uuid}]
    kept = [str(row["uuid"]) for row in await graph.rows(_KEPT, uuid=uuid)]
    if kept:
        await graph.rows(_LET_GO, uuid=uuid, nodes=kept)
    await Graphiti.remove_episode(scoped(graphiti, graph.driver), uuid)
    for edge in going:
        await graph.untell(edge.nodes, edge.fact)


async def content_of(graph: Graph, uuid: str) -> str | None:
    """An episode's text; None where there is no such episode."""
    rows = await graph.rows(
        "MATCH (e:Episodic {uuid: $uuid}) RETURN e.content AS content", uuid=uuid
    )
    return str(rows[0]["content"] or "") if rows else None


async def set_content(graph: Graph, uuid: str, content: str) -> None:
    """Replaces an episode's text."""
    query = "MATCH (e:Episodic {uuid: $uuid}) SET e.content = $content"
    await graph.rows(query, uuid=uuid, content=content)


async def redact(
    graphiti: Graphiti, graph: Graph, uuid: str, words: str, speakers: Speakers
) -> None:
    """Takes words out of an episode's text; an episode with nothing else to say goes as a whole."""
    query = "MATCH (e:Episodic {uuid: $uuid}) RETURN e.content AS content, e.source AS source"
    rows = await graph.rows(query, uuid=uuid)
    if not rows or not words.strip() or not (rows[0]["content"] or "").strip():
        return
    source = EpisodeType.from_str(rows[0]["source"])
    speech = speech_in(rows[0]["content"], source, speakers, Role.USER)
    found = [places_of(said.text, words) for said in speech.said]
    if not any(found):
        return
    rest = speech.without(found)
    if rest is None:
        await remove(graphiti, graph, uuid)
    else:
        await set_content(graph, uuid, rest)
