"""Held items in the graph database: nodes of their own label, met by no search of Graphiti's.

They are a projection of the ledger, for people and tools that look into the database. Nothing is
ever decided by them.
"""

from __future__ import annotations

import re
from typing import Any

from graphiti_core.driver.driver import GraphProvider

from memgate_graphiti.graph import Graph, Row

LABEL = "MemgateStaged"
"""The node label of held items."""

_INDICES = {
    GraphProvider.FALKORDB: (
        f"CREATE INDEX FOR (s:{LABEL}) ON (s.staged_id, s.memgate_group)",
        f"CREATE FULLTEXT INDEX FOR (s:{LABEL}) ON (s.text, s.words)",
    ),
    GraphProvider.NEO4J: (
        f"CREATE INDEX memgate_staged_id IF NOT EXISTS FOR (s:{LABEL}) ON (s.staged_id)",
        f"CREATE INDEX memgate_staged_group IF NOT EXISTS FOR (s:{LABEL}) ON (s.memgate_group)",
        "CREATE FULLTEXT INDEX memgate_staged_text IF NOT EXISTS"
        f" FOR (s:{LABEL}) ON EACH [s.text, s.words]",
    ),
}
_SEARCH = {
    GraphProvider.FALKORDB: f"CALL db.idx.fulltext.queryNodes('{LABEL}', $query)",
    GraphProvider.NEO4J: "CALL db.index.fulltext.queryNodes('memgate_staged_text', $query)",
}
_WORD = re.compile(r"\w+")
_TOO_COMMON = "a an the is are was to of in on at for with and or not i my it do does"
_STOPWORDS = frozenset(_TOO_COMMON.split())


async def build_indices(graph: Graph) -> None:
    """Makes the indices of held items where they are missing."""
    for query in _INDICES[graph.driver.provider]:
        await graph.rows(query)


async def put(graph: Graph, properties: dict[str, Any]) -> None:
    """Writes a held item as it is now."""
    query = f"MERGE (s:{LABEL} {{staged_id: $staged_id}}) SET s = $properties"
    await graph.rows(query, staged_id=properties["staged_id"], properties=properties)


async def drop(graph: Graph, staged_id: str) -> None:
    """Removes a held item."""
    await graph.rows(f"MATCH (s:{LABEL} {{staged_id: $staged_id}}) DELETE s", staged_id=staged_id)


async def drop_all(graph: Graph, actor: str | None = None, *, everybody: bool = False) -> None:
    """Removes the held items of one person in the group, or of everybody in it."""
    query = f"MATCH (s:{LABEL} {{memgate_group: $group_id}})"
    if not everybody:
        query += " WHERE coalesce(s.memgate_actor, '') = $actor"
    await graph.rows(query + " DELETE s", group_id=graph.group_id, actor=actor or "")


async def ids_in(graph: Graph, actor: str | None) -> list[str]:
    """Ids of one person's held items in the group."""
    query = (
        f"MATCH (s:{LABEL} {{memgate_group: $group_id}})"
        " WHERE coalesce(s.memgate_actor, '') = $actor RETURN s.staged_id AS staged_id"
    )
    rows = await graph.rows(query, group_id=graph.group_id, actor=actor or "")
    return [str(row["staged_id"]) for row in rows]


async def holds(graph: Graph, staged_id: str) -> bool:
    """True when the item is there."""
    query = f"MATCH (s:{LABEL} {{staged_id: $staged_id}}) RETURN s.staged_id AS staged_id"
    return bool(await graph.rows(query, staged_id=staged_id))


async def search(graph: Graph, query: str, limit: int) -> list[Row]:
    """Held items of the group whose text or words match, the best first, with their scores."""
    words = [w for w in _WORD.findall(query.casefold()) if w not in _STOPWORDS]
    if not words:
        return []
    joiner = "|" if graph.driver.provider is GraphProvider.FALKORDB else " OR "
    asked = (
        f"{_SEARCH[graph.driver.provider]} YIELD node, score"
        " WHERE node.memgate_group = $group_id"
        " RETURN node.staged_id AS staged_id, node.text AS text, score"
        " ORDER BY score DESC LIMIT $limit"
    )
    return await graph.rows(asked, group_id=graph.group_id, limit=limit, query=joiner.join(words))
