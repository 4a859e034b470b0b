"""Episodes that have to go, or to lose words: what Graphiti's own removal does not see to.

Graphiti's `remove_episode` works on the shared driver's graph, which on FalkorDB is not the
group's, and it deletes every node that only this episode mentions, with all of its edges, those of
promoted facts included (both verified: tests/graphiti/test_host_facts.py).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Awaitable, Callable
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.nodes import EpisodeType

from memgate_core.model import Role, Span
from memgate_graphiti.graph import Graph
from memgate_graphiti.payloads import OURS
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
    found = [_places(said.text, words) for said in speech.said]
    if not any(found):
        return
    rest = speech.without(found)
    if rest is None:
        await remove(graphiti, graph, uuid)
    else:
        await set_content(graph, uuid, rest)


def _places(text: str, words: str) -> list[Span]:
    """Where the words stand in a text, in whatever case and spacing."""
    spelt = r"\s+".join(re.escape(word) for word in words.split())
    return [Span(start=m.start(), end=m.end()) for m in re.finditer(spelt, text, re.IGNORECASE)]


async def drop_derived(graph: Graph, nodes: list[str], words: list[str]) -> None:
    """Removes what Graphiti derived from texts that are gone: community and saga summaries that
    still hold any of the words. `build_communities` and `summarize_saga` make them anew."""
    communities = await graph.rows(
        "MATCH (c:Community)-[:HAS_MEMBER]->(n:Entity) WHERE n.uuid IN $nodes"
        " RETURN DISTINCT c.uuid AS uuid, c.name AS name, c.summary AS summary",
        nodes=nodes,
    )
    stale = [row["uuid"] for row in communities if _holds(row, words)]
    if stale:
        query = "MATCH (c:Community) WHERE c.uuid IN $uuids DETACH DELETE c"
        await graph.rows(query, uuids=stale)
    sagas = await graph.rows(
        "MATCH (s:Saga) WHERE s.group_id = $group_id AND s.summary IS NOT NULL"
        " RETURN s.uuid AS uuid, s.name AS name, s.summary AS summary",
        group_id=graph.group_id,
    )
    for row in sagas:
        if _holds(row, words):
            query = "MATCH (s:Saga {uuid: $uuid}) SET s.summary = '', s.last_summarized_at = NULL"
            await graph.rows(query, uuid=row["uuid"])


def _holds(row: dict[str, Any], words: list[str]) -> bool:
    told = f"{row['name']} {row['summary']}".casefold()
    return any(text.casefold() in told for text in words if text)
