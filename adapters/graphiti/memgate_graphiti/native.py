"""A promotion as an episode of Graphiti's own: the completed form, through the configured LLM.

The old sentence is never replayed: Graphiti dates a plan at the time of speaking. What comes back
is dated by the event, and an extraction that yields nothing is a failed write, not a promotion.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from graphiti_core import Graphiti

from memgate_core.errors import ProjectionError
from memgate_core.model import Fact, NativeLink, Subject
from memgate_graphiti import episodes
from memgate_graphiti.graph import Edge, Graph
from memgate_graphiti.payloads import native_id
from memgate_graphiti.writing import Writer

Ingest = Callable[[str, str, datetime, str], Awaitable[None]]
"""(name, body, reference time, group id) -> ingested by plain Graphiti."""


async def promote(
    graphiti: Graphiti, ingest: Ingest, graph: Graph, writer: Writer, fact: Fact, subject: Subject
) -> list[NativeLink]:
    """Ingests a promoted fact as an episode, once.

    Raises:
        ProjectionError: Graphiti's extraction stored no edge; nothing of the try is left.
    """
    name = f"memgate:{fact.memory_id}"
    triple = writer.triple(fact, subject)
    links = await _links(graph, writer, fact, name)
    if links:
        return links
    await _clear(graphiti, graph, name)
    await ingest(name, f"{triple.source}: {triple.sentence}", fact.valid_from, graph.group_id)
    links = await _links(graph, writer, fact, name)
    if not links:
        await _clear(graphiti, graph, name)
        raise ProjectionError("Graphiti's extraction stored nothing for the promotion")
    return links


async def _links(graph: Graph, writer: Writer, fact: Fact, name: str) -> list[NativeLink]:
    """Dates the edges of the promotion's episode by the event; empty when there are none yet."""
    links: list[NativeLink] = []
    for episode in await _named(graph, name):
        edges = [edge for edge in await graph.edges_of_episode(episode) if edge.open]
        links += [await _dated(graph, writer, fact, edge) for edge in edges]
        if edges:
            of_episode = native_id(graph.group_id, "episode.0", episode)
            links.append(links[-1].model_copy(update={"native_id": of_episode}))
    return links


async def _dated(graph: Graph, writer: Writer, fact: Fact, edge: Edge) -> NativeLink:
    await graph.date_edge(edge.uuid, fact.valid_from)
    await graph.mark_edge(edge.uuid, fact)
    return writer.link(graph, fact, edge.uuid, edge.fact)


async def _clear(graphiti: Graphiti, graph: Graph, name: str) -> None:
    for episode in await _named(graph, name):
        await episodes.remove(graphiti, graph, episode)


async def _named(graph: Graph, name: str) -> list[str]:
    query = (
        "MATCH (e:Episodic) WHERE e.group_id = $group_id AND e.name = $name RETURN e.uuid AS uuid"
    )
    return [str(row["uuid"]) for row in await graph.rows(query, group_id=graph.group_id, name=name)]
