"""Reads and writes of one group's graph, in Cypher that both FalkorDB and Neo4j take.

Every write is by uuid and sets a state, so that doing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphiti_core.driver.driver import GraphDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder import EmbedderClient
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import node_fulltext_search
from graphiti_core.utils.datetime_utils import utc_now

from memgate_core.model import Fact
from memgate_graphiti.payloads import MADE, OURS, plain, provenance

Row = dict[str, Any]

_FIND = (
    "MATCH (n:Entity) WHERE n.group_id = $group_id AND n.name IN $names"
    " RETURN n.uuid AS uuid, n.name AS name"
)
_MAKE = f"""
UNWIND $nodes AS made
MERGE (n:Entity {{uuid: made.uuid}})
ON CREATE SET n.name = made.name, n.group_id = made.group_id, n.summary = '',
              n.created_at = made.created_at, n.labels = ['Entity'], n.{MADE} = true
"""
_WITH_VECTOR = {
    "falkordb": "SET n.name_embedding = vecf32(made.vector)",
    "neo4j": (
        "WITH n, made CALL db.create.setNodeVectorProperty(n, 'name_embedding', made.vector)"
        " RETURN n.uuid AS uuid"
    ),
}
# without labels at its ends FalkorDB finds an edge by its index, with them it walks all nodes first
_EDGE = "MATCH (a)-[e:RELATES_TO {uuid: $uuid}]->(b) "
_EDGES = "MATCH (a)-[e:RELATES_TO]->(b) WHERE e.uuid IN $uuids "
_ABOUT_EDGE = (
    "RETURN e.uuid AS uuid, e.fact AS fact, e.valid_at AS valid_at, e.invalid_at AS invalid_at,"
    " e.episodes AS episodes, a.uuid AS source, b.uuid AS target"
)
_TELL = """
MATCH (n:Entity) WHERE n.uuid IN $uuids
SET n.summary = CASE
    WHEN coalesce(n.summary, '') = '' THEN $line
    WHEN n.summary CONTAINS $line THEN n.summary
    ELSE n.summary + '\n' + $line END
"""
_SUMMARISE = """
UNWIND $changed AS new
MATCH (n:Entity {uuid: new.uuid}) SET n.summary = new.summary
"""


@dataclass(frozen=True)
class NewEntity:
    """An entity node that has to be made."""

    uuid: str
    name: str
    vector: list[float]


@dataclass(frozen=True)
class Edge:
    """An edge as it stands in the graph."""

    uuid: str
    fact: str
    open: bool
    dated: bool
    episodes: tuple[str, ...]
    nodes: tuple[str, str]


class Graph:
    """One group's graph."""

    def __init__(self, driver: GraphDriver, group_id: str, embedder: EmbedderClient) -> None:
        self.driver, self.group_id, self._embedder = driver, group_id, embedder

    async def rows(self, cypher: str, **params: Any) -> list[Row]:
        """The rows that a query returns, as dicts."""
        found = await self.driver.execute_query(cypher, **params)
        records = found[0] if found is not None else []
        return [dict(record) for record in records]

    # --- entities --------------------------------------------------------------------------

    async def entities(self, *choices: Sequence[str]) -> list[str | None]:
        """For each choice of names the uuid of the node that has one of them, the first best."""
        wanted = {spelt for names in choices for name in names for spelt in _spellings(name)}
        rows = await self.rows(_FIND, group_id=self.group_id, names=sorted(wanted))
        by_name = {plain(row["name"]): str(row["uuid"]) for row in rows}
        return [
            next((by_name[plain(name)] for name in names if plain(name) in by_name), None)
            for names in choices
        ]

    async def entity_like(self, name: str) -> str | None:
        """The node of the same name in any spelling, by the full-text index."""
        groups = [self.group_id] if self.group_id else None
        found = await node_fulltext_search(self.driver, name, SearchFilters(), groups, 10)
        return next(
            (
                str(node.uuid)
                for node in found
                if plain(node.name) == plain(name) and node.group_id == self.group_id
            ),
            None,
        )

    async def make_entities(self, nodes: Sequence[NewEntity]) -> None:
        """Makes entity nodes where they are missing."""
        made = [
            {**vars(node), "group_id": self.group_id, "created_at": utc_now()} for node in nodes
        ]
        await self.rows(_MAKE + _WITH_VECTOR[self.driver.provider.value], nodes=made)

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of texts, with a client that knows no batches too."""
        asked = [text.replace("\n", " ") for text in texts]
        try:
            found: list[list[float]] = await self._embedder.create_batch(asked)
        except NotImplementedError:
            found = [await self._embedder.create(input_data=[text]) for text in asked]
        return found

    # --- edges -------------------------------------------------------------------------------

    async def edge(self, uuid: str) -> Edge | None:
        """An edge by uuid."""
        return (await self.edges([uuid])).get(uuid)

    async def edges(self, uuids: Iterable[str]) -> dict[str, Edge]:
        """Edges by uuid; those that are not there are missing."""
        rows = await self.rows(_EDGES + _ABOUT_EDGE, uuids=list(uuids))
        return {str(row["uuid"]): _edge_from(row) for row in rows}

    async def edges_of_episode(self, uuid: str) -> list[Edge]:
        """Edges that name the episode as a source."""
        query = "MATCH (p:Episodic {uuid: $uuid}) RETURN p.entity_edges AS edges"
        listed = [edge for row in await self.rows(query, uuid=uuid) for edge in row["edges"] or ()]
        return [e for e in (await self.edges(listed)).values() if uuid in e.episodes]

    async def open_edges_of(self, node: str, names: Iterable[str]) -> list[Edge]:
        """Current edges of other makers that start at a node and are called one of these names."""
        query = (
            "MATCH (a:Entity {uuid: $uuid})-[e:RELATES_TO]->(b:Entity)"
            f" WHERE e.invalid_at IS NULL AND e.{OURS} IS NULL AND e.name IN $names "
        )
        rows = await self.rows(query + _ABOUT_EDGE, uuid=node, names=sorted(names))
        return [_edge_from(row) for row in rows]

    async def save_edge(self, edge: EntityEdge) -> None:
        """Writes an edge, which has its vector, as it is."""
        await edge.save(self.driver)

    async def close_edge(self, uuid: str, *, at: datetime, recorded: datetime) -> None:
        """Ends an edge's interval."""
        query = _EDGE + "SET e.invalid_at = $at, e.expired_at = $recorded"
        await self.rows(query, uuid=uuid, at=at, recorded=recorded)

    async def reopen_edge(self, uuid: str) -> None:
        """Takes back the end of an edge's interval."""
        await self.rows(_EDGE + "SET e.invalid_at = NULL, e.expired_at = NULL", uuid=uuid)

    async def date_edge(self, uuid: str, at: datetime) -> None:
        """Says since when an edge holds."""
        await self.rows(_EDGE + "SET e.valid_at = $at", uuid=uuid, at=at)

    async def mark_edge(self, uuid: str, fact: Fact) -> None:
        """Notes on an edge which fact it carries, and on whose words."""
        await self.rows(_EDGE + "SET e += $about", uuid=uuid, about=provenance(fact))

    async def delete_edge(self, uuid: str) -> None:
        """Removes an edge."""
        await self.rows(_EDGE + "DELETE e", uuid=uuid)

    # --- summaries -----------------------------------------------------------------------------

    async def tell(self, nodes: Iterable[str], line: str) -> None:
        """Adds a fact to the summaries of nodes, as Graphiti does for a new edge."""
        await self.rows(_TELL, uuids=sorted(set(nodes)), line=line)

    async def untell(self, nodes: Iterable[str], line: str, value: str | None = None) -> None:
        """Takes a fact out of the summaries of nodes.

        Graphiti joins facts line by line. Where a model has rewritten them, so that the line is not
        there but is still told, or `value` is named and no remaining edge names it, the summary is
        made anew of the edges that remain.
        """
        query = (
            "MATCH (n:Entity) WHERE n.uuid IN $uuids RETURN n.uuid AS uuid, n.summary AS summary"
        )
        changed = []
        for row in await self.rows(query, uuids=sorted(set(nodes))):
            before = row["summary"] or ""
            after = await self._without(row["uuid"], before, line, value)
            if after != before:
                changed.append({"uuid": row["uuid"], "summary": after})
        if changed:
            await self.rows(_SUMMARISE, changed=changed)

    async def _without(self, node: str, before: str, line: str, value: str | None) -> str:
        after = without_line(before, line)
        if not says(after, line) and (value is None or not says(after, value)):
            return after
        remaining = await self._from_edges(node)
        named_still = value is not None and says(remaining, value)
        return after if named_still and not says(after, line) else remaining

    async def _from_edges(self, node: str) -> str:
        query = (
            "MATCH (n:Entity {uuid: $uuid})-[e:RELATES_TO]-(:Entity)"
            " WHERE e.invalid_at IS NULL RETURN DISTINCT e.fact AS fact"
        )
        rows = await self.rows(query, uuid=node)
        return "\n".join(sorted({str(row["fact"]) for row in rows}))

    # --- what is left over -----------------------------------------------------------------------

    async def drop_lonely(self, nodes: Iterable[str], episodes: Iterable[str] = ()) -> list[str]:
        """Removes nodes that no edge needs any more: those the gate made, and those that only the
        given episodes mention. Returns the uuids of what was removed."""
        query = (
            "MATCH (n:Entity) WHERE n.uuid IN $uuids"
            " OPTIONAL MATCH (n)-[r:RELATES_TO]-()"
            " WITH n, count(r) AS edges WHERE edges = 0"
            " OPTIONAL MATCH (e:Episodic)-[:MENTIONS]->(n)"
            f" RETURN n.uuid AS uuid, n.{MADE} AS made, collect(e.uuid) AS episodes"
        )
        given = set(episodes)
        lonely = [
            str(row["uuid"])
            for row in await self.rows(query, uuids=sorted(set(nodes)))
            if (row["made"] and not row["episodes"])
            or (row["episodes"] and set(row["episodes"]) <= given)
        ]
        if lonely:
            await self.rows("MATCH (n:Entity) WHERE n.uuid IN $uuids DETACH DELETE n", uuids=lonely)
        return lonely


def without_line(summary: str, line: str) -> str:
    """A summary without one of its lines."""
    return "\n".join(part for part in summary.split("\n") if plain(part) != plain(line)).strip()


def says(text: str, words: str) -> bool:
    """True when a text holds these words, without case and surplus space."""
    return plain(words) in plain(text)


def _spellings(name: str) -> set[str]:
    tidy = " ".join(name.split())
    return {tidy, tidy.lower(), tidy.title(), tidy.upper(), tidy[:1].upper() + tidy[1:]}


def _edge_from(row: Row) -> Edge:
    return Edge(
        uuid=str(row["uuid"]),
        fact=str(row["fact"] or ""),
        open=row["invalid_at"] is None,
        dated=row["valid_at"] is not None,
        episodes=tuple(row["episodes"] or ()),
        nodes=(str(row["source"]), str(row["target"])),
    )
