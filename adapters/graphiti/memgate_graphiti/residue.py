"""Where traces of something that was taken away are still found in the graph.

Judged by provenance: a word that also stands elsewhere is no trace ("my dad lives in Seattle").
What counts is a thing that carried the fact or item, and the very words that it rested on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memgate_core.model import Event
from memgate_graphiti import staging
from memgate_graphiti.graph import Graph
from memgate_graphiti.payloads import parts_of

_OF_GROUP = "WHERE x.group_id = $group_id RETURN x.uuid AS uuid"
_TEXTS = {
    "summary of entity": f"MATCH (x:Entity) {_OF_GROUP}, x.summary AS text",
    "episode": f"MATCH (x:Episodic) {_OF_GROUP}, x.content AS text",
    "summary of community": f"MATCH (x:Community) {_OF_GROUP}, x.name + ' ' + x.summary AS text",
    "summary of saga": f"MATCH (x:Saga) {_OF_GROUP}, x.summary AS text",
    "edge": f"MATCH (:Entity)-[x:RELATES_TO]->(:Entity) {_OF_GROUP}, x.fact AS text",
}


async def of_event(
    graph: Graph, needle: Event, edges: Sequence[str], told: Sequence[str]
) -> list[str]:
    """Places, by name and id, that still hold what the event took away. No words.

    `edges`: uuids of edges that carried the fact. `told`: sentences in which it was written.
    """
    found = [f"edge {uuid}" for uuid in edges if await graph.edge(uuid) is not None]
    if needle.staged is not None and await staging.holds(graph, needle.staged.staged_id):
        found.append(f"held item {needle.staged.staged_id}")
    words = [about.words for about in (needle.fact, needle.staged) if about is not None]
    return list(dict.fromkeys([*found, *await _saying(graph, [*words, *told])]))


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
        if kind == "episode" and await _episode_is_there(graph, uuid):
            found.append(f"episode {uuid}")
    return found


async def _saying(graph: Graph, words: Sequence[str]) -> list[str]:
    wanted = [text.casefold() for text in words if text.strip()]
    found = []
    for place, query in _TEXTS.items():
        rows: list[dict[str, Any]] = await graph.rows(query, group_id=graph.group_id)
        found += [
            f"{place} {row['uuid']}"
            for row in rows
            if any(text in str(row["text"] or "").casefold() for text in wanted)
        ]
    return found


async def _episode_is_there(graph: Graph, uuid: str) -> bool:
    return bool(
        await graph.rows("MATCH (e:Episodic {uuid: $uuid}) RETURN e.uuid AS uuid", uuid=uuid)
    )
