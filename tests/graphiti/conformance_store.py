"""Graphiti in the projection suite (tests/conformance/test_projection.py), on both databases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.nodes import EntityNode, EpisodicNode
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF

from memgate_core import MemoryGate, Subject
from memgate_graphiti import staging
from memgate_graphiti.bridge import LoopBridge
from memgate_graphiti.embedder import PackagedMiniLM, VectorReranker
from memgate_graphiti.groups import Groups
from memgate_graphiti.projection import GraphitiProjection
from memgate_graphiti.recorded import RecordedLLM
from tests.graphiti.databases import Database, opened

EMBEDDER = PackagedMiniLM()


class GraphStore:
    """A projection into one database, and a bare Graphiti that reads it."""

    def __init__(self, database: Database, gate: MemoryGate) -> None:
        self._database = database
        self._bridge = LoopBridge()
        self.graphiti = Graphiti(
            graph_driver=database.driver(),
            llm_client=RecordedLLM(),
            embedder=EMBEDDER,
            cross_encoder=VectorReranker(EMBEDDER),
        )
        self._groups = Groups(self.graphiti.driver)
        self.projection = GraphitiProjection(
            self.graphiti,
            gate.ledger,
            groups=self._groups,
            bridge=self._bridge,
            fields=gate.fields,
            asserted=gate.asserted,
        )

    def recall(self, subject: Subject, query: str) -> Sequence[str]:
        """What is current: open edges, summaries, names of entities that stand alone, episodes."""
        return self._bridge.run(self._recall(self._groups.of_subject(subject), query))

    def held(self, subject: Subject) -> Sequence[str]:
        return self._bridge.run(self._held(subject))

    def failing(self) -> AbstractContextManager[None]:
        return self._database.failing()

    def close(self) -> None:
        self._bridge.run(self.graphiti.close())
        self._bridge.close()

    async def _recall(self, group: str, query: str) -> list[str]:
        driver = self._groups.driver(group)
        found = await self.graphiti.search(query, group_ids=[group])
        wide = await self.graphiti.search_(query, COMBINED_HYBRID_SEARCH_RRF, group_ids=[group])
        edges = [*found, *wide.edges, *await _listed(driver, group)]
        nodes = [*wide.nodes, *await EntityNode.get_by_group_ids(driver, [group])]
        told = await EpisodicNode.get_by_group_ids(driver, [group])
        texts = [edge.fact for edge in edges if edge.invalid_at is None]
        return list(dict.fromkeys([*texts, *_shown(nodes, edges), *(e.content for e in told)]))

    async def _held(self, subject: Subject) -> list[str]:
        graph = await self.projection.graph(subject)
        query = f"MATCH (s:{staging.LABEL} {{memgate_group: $group}}) RETURN s.text AS text"
        return [row["text"] for row in await graph.rows(query, group=graph.group_id)]


async def _listed(driver: Any, group: str) -> list[EntityEdge]:
    try:
        found: list[EntityEdge] = await EntityEdge.get_by_group_ids(driver, [group])
    except GroupsEdgesNotFoundError:
        return []
    return found


def _shown(nodes: Sequence[EntityNode], edges: Sequence[EntityEdge]) -> Iterable[str]:
    held_up = {uuid for edge in edges for uuid in (edge.source_node_uuid, edge.target_node_uuid)}
    for node in nodes:
        yield from (line for line in node.summary.split("\n") if line)
        if node.uuid not in held_up:
            yield node.name


def open_store(_folder: Path, gate: MemoryGate) -> GraphStore:
    return GraphStore(opened("falkordb"), gate)
