"""Where traces of something that was taken away are still found in the graph.

Judged by provenance: a word that also stands elsewhere is no trace ("my dad lives in Seattle").
What counts is a thing that carried the fact or item, and the very words that it rested on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memgate_core.model import Event, EventType
from memgate_graphiti import derived, staging
from memgate_graphiti.episodes import content_of
from memgate_graphiti.graph import Graph, says
from memgate_graphiti.payloads import parts_of


@dataclass(frozen=True)
class Traces:
    """What carried a fact: by uuid, and the sentences that it was written in."""

    edges: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


async def of_event(graph: Graph, needle: Event, traces: Traces) -> list[str]:
    """Places, by name and id, that still hold what the event took away. No words.

    A correction takes away an edge and what is told of it, not what was once said.
    """
    found = [f"edge {uuid}" for uuid in await graph.edges(traces.edges)]
    if needle.staged is not None and await staging.holds(graph, needle.staged.staged_id):
        found.append(f"held item {needle.staged.staged_id}")
    if needle.fact is None:
        return found
    if needle.event_type is EventType.REVOKED:
        for uuid in traces.episodes:
            content = await content_of(graph, uuid)
            if content is not None and says(content, needle.fact.words):
                found.append(f"episode {uuid}")
    told = await derived.telling(graph, [needle.fact.words, *traces.told])
    return [*found, *(f"summary of {kind} {uuid}" for kind, uuid in told)]


async def of_group(graph: Graph) -> list[str]:
    """What is left in a group that should be empty."""
    found = []
    for label in ("Entity", "Episodic", "Community", "Saga"):
        query = f"MATCH (n:{label}) WHERE n.group_id = $group_id RETURN n.uuid AS uuid"
        rows = await graph.rows(query, group_id=graph.group_id)
        found += [f"{label.lower()} {row['uuid']}" for row in rows]
    query = f"MATCH (s:{staging.LABEL} {{memgate_group: $group_id}}) RETURN s.staged_id AS id"
    rows = await graph.rows(query, group_id=graph.group_id)
    return [*found, *(f"held item {row['id']}" for row in rows)]


async def of_subject(graph: Graph, natives: Iterable[str], actor: str | None) -> list[str]:
    """What is left of one of several people in a group, by the ids that the ledger kept."""
    found = [f"held item {staged_id}" for staged_id in await staging.ids_in(graph, actor)]
    for native in natives:
        _group, kind, uuid = parts_of(native)
        if kind == "edge" and await graph.edge(uuid) is not None:
            found.append(f"edge {uuid}")
        if kind == "episode" and await content_of(graph, uuid) is not None:
            found.append(f"episode {uuid}")
    return found
