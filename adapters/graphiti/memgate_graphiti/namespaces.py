"""`graphiti.nodes` and `graphiti.edges`: direct writes, gated, in the group's own graph.

Graphiti's namespaces write through the shared driver, which on FalkorDB is another graph than the
group's (verified: tests/graphiti/test_host_facts.py). Reads stay Graphiti's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphiti_core.driver.query_executor import Transaction
from graphiti_core.edges import EntityEdge
from graphiti_core.namespaces import EdgeNamespace, NodeNamespace
from graphiti_core.namespaces.edges import EntityEdgeNamespace
from graphiti_core.namespaces.nodes import (
    CommunityNodeNamespace,
    EntityNodeNamespace,
    EpisodeNodeNamespace,
    SagaNodeNamespace,
)
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodicNode, SagaNode

from memgate_graphiti.guarded import Guard


def gate_namespaces(nodes: NodeNamespace, edges: EdgeNamespace, guard: Guard) -> None:
    """Puts gated namespaces in place of those that write words. Those that only tie nodes
    together (mentions, members, chains of episodes) carry none and stay."""
    nodes.entity = GatedEntities(nodes.entity, guard)
    nodes.episode = GatedEpisodes(nodes.episode, guard)
    nodes.community = GatedCommunities(nodes.community, guard)
    nodes.saga = GatedSagas(nodes.saga, guard)
    edges.entity = GatedEntityEdges(edges.entity, guard)


class _Routed:
    """A namespace whose writes go to the graph of the object's group."""

    _ops: Any
    _driver: Any

    def __init__(self, inner: Any, guard: Guard) -> None:
        self.__dict__.update(inner.__dict__)
        self._guard = guard

    def _at(self, group_id: str) -> Any:
        """The same namespace on the driver of a group."""
        view = type(self).__new__(type(self))
        view.__dict__.update(self.__dict__)
        view._driver = self._guard.desk.groups.driver(group_id)
        return view

    async def _save_all(self, things: Sequence[Any], tx: Transaction | None, size: int) -> None:
        for group_id in dict.fromkeys(thing.group_id for thing in things):
            mine = [thing for thing in things if thing.group_id == group_id]
            driver = self._guard.desk.groups.driver(group_id)
            await self._ops.save_bulk(driver, mine, tx=tx, batch_size=size)


class GatedEntities(_Routed, EntityNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.entity`: a summary may say no plan."""

    async def save(self, node: EntityNode, tx: Transaction | None = None) -> EntityNode:
        """Saves an entity.

        Raises:
            HeldError: its summary rests on words that are held or refused.
        """
        await self._require(node)
        return await EntityNodeNamespace.save(self._at(node.group_id), node, tx)

    async def save_bulk(
        self, nodes: list[EntityNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves entities, all or none.

        Raises:
            HeldError: as `save`.
        """
        for node in nodes:
            await self._require(node)
        await self._save_all(nodes, tx, batch_size)

    async def _require(self, node: EntityNode) -> None:
        await self._guard.require(
            "entity", node.uuid, node.summary, group_id=node.group_id, at=node.created_at
        )


class GatedEpisodes(_Routed, EpisodeNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.episode`: an episode's text is the context of later extractions."""

    async def save(self, node: EpisodicNode, tx: Transaction | None = None) -> EpisodicNode:
        """Saves an episode.

        Raises:
            HeldError: its text rests on words that are held or refused.
        """
        await self._require(node)
        return await EpisodeNodeNamespace.save(self._at(node.group_id), node, tx)

    async def save_bulk(
        self, nodes: list[EpisodicNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves episodes, all or none.

        Raises:
            HeldError: as `save`.
        """
        for node in nodes:
            await self._require(node)
        await self._save_all(nodes, tx, batch_size)

    async def _require(self, node: EpisodicNode) -> None:
        await self._guard.require(
            "episode",
            node.uuid,
            node.content,
            group_id=node.group_id,
            at=node.valid_at,
            source=node.source,
        )


class GatedCommunities(_Routed, CommunityNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.community`: names and summaries of communities."""

    async def save(self, node: CommunityNode, tx: Transaction | None = None) -> CommunityNode:
        """Saves a community.

        Raises:
            HeldError: its summary rests on words that are held or refused.
        """
        await self._require(node)
        return await CommunityNodeNamespace.save(self._at(node.group_id), node, tx)

    async def save_bulk(
        self, nodes: list[CommunityNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves communities, all or none.

        Raises:
            HeldError: as `save`.
        """
        for node in nodes:
            await self._require(node)
        await self._save_all(nodes, tx, batch_size)

    async def _require(self, node: CommunityNode) -> None:
        await self._guard.require(
            "community", node.uuid, node.summary, group_id=node.group_id, at=node.created_at
        )


class GatedSagas(_Routed, SagaNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.saga`: summaries of sagas."""

    async def save(self, node: SagaNode, tx: Transaction | None = None) -> SagaNode:
        """Saves a saga.

        Raises:
            HeldError: its summary rests on words that are held or refused.
        """
        await self._require(node)
        return await SagaNodeNamespace.save(self._at(node.group_id), node, tx)

    async def save_bulk(
        self, nodes: list[SagaNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves sagas, all or none.

        Raises:
            HeldError: as `save`.
        """
        for node in nodes:
            await self._require(node)
        await self._save_all(nodes, tx, batch_size)

    async def _require(self, node: SagaNode) -> None:
        await self._guard.require(
            "saga", node.uuid, node.summary, group_id=node.group_id, at=node.created_at
        )


class GatedEntityEdges(_Routed, EntityEdgeNamespace):  # type: ignore[misc]
    """`graphiti.edges.entity`: an edge is a fact, or it is not written."""

    async def save(self, edge: EntityEdge, tx: Transaction | None = None) -> EntityEdge:
        """Saves an edge.

        Raises:
            HeldError: its fact rests on words that are held or refused.
        """
        await self._require(edge)
        return await EntityEdgeNamespace.save(self._at(edge.group_id), edge, tx)

    async def save_bulk(
        self, edges: list[EntityEdge], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves edges, all or none.

        Raises:
            HeldError: as `save`.
        """
        for edge in edges:
            await self._require(edge)
        await self._save_all(edges, tx, batch_size)

    async def _require(self, edge: EntityEdge) -> None:
        await self._guard.require(
            "edge",
            edge.uuid,
            edge.fact,
            group_id=edge.group_id,
            at=edge.reference_time or edge.valid_at or edge.created_at,
        )
