"""`graphiti.nodes` and `graphiti.edges`: direct writes and deletes, gated, in the group's graph.

Graphiti's namespaces write through the shared driver, which on FalkorDB is another graph than the
group's (verified: tests/graphiti/test_host_facts.py). Reads stay Graphiti's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
from memgate_graphiti.reception import Reception


def gate_namespaces(nodes: NodeNamespace, edges: EdgeNamespace, guard: Guard) -> None:
    """Puts gated namespaces in place of those that write words. Those that only tie nodes
    together (mentions, members, chains of episodes) carry none and stay."""
    nodes.entity = GatedEntities(nodes.entity, guard)
    nodes.episode = GatedEpisodes(nodes.episode, guard)
    nodes.community = GatedCommunities(nodes.community, guard)
    nodes.saga = GatedSagas(nodes.saga, guard)
    edges.entity = GatedEntityEdges(edges.entity, guard)


class _Routed(ABC):
    """A namespace whose writes go through the gate, and to the graph of the object's group."""

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

    async def _save(self, kind: Any, thing: Any, tx: Transaction | None) -> Any:
        reception = await self._require(thing)
        saved = await kind.save(self._at(thing.group_id), thing, tx)
        await self._written(reception, thing)
        return saved

    async def _save_all(self, things: Sequence[Any], tx: Transaction | None, size: int) -> None:
        receptions = [await self._require(thing) for thing in things]
        for group_id in dict.fromkeys(thing.group_id for thing in things):
            mine = [thing for thing in things if thing.group_id == group_id]
            driver = self._guard.desk.groups.driver(group_id)
            await self._ops.save_bulk(driver, mine, tx=tx, batch_size=size)
        for reception, thing in zip(receptions, things, strict=True):
            await self._written(reception, thing)

    @abstractmethod
    async def _require(self, thing: Any) -> Reception | None:
        """Takes the words of a thing through the gate; refuses what may not be saved."""

    async def _written(self, reception: Reception | None, _thing: Any) -> None:
        await self._guard.written(reception)

    @abstractmethod
    async def _forget(self, group_id: str, uuids: Sequence[str], tx: Transaction | None) -> None:
        """Takes back the facts that go with things which are about to be deleted."""

    async def _delete_found(
        self, pattern: str, uuids: Sequence[str], tx: Transaction | None, **rest: Any
    ) -> None:
        groups = self._guard.desk.groups
        found = await groups.holding(pattern, uuids)
        for group_id, mine in found.items():
            await self._forget(group_id, mine, tx)
            await self._ops.delete_by_uuids(groups.driver(group_id), mine, tx=tx, **rest)
        if rest_of := sorted(set(uuids).difference(*found.values())):
            await self._ops.delete_by_uuids(self._driver, rest_of, tx=tx, **rest)


class _RoutedNodes(_Routed):
    """As `_Routed`, with the deletes of Graphiti's node namespaces. Their errors are those of
    `memgate_graphiti.deleting.Deletions.of_edges`."""

    _label: str

    async def delete(self, node: Any, tx: Transaction | None = None) -> None:
        """Deletes a node, with the facts that go with it."""
        await self._forget(node.group_id, [node.uuid], tx)
        driver = self._guard.desk.groups.driver(node.group_id)
        await self._ops.delete(driver, node, tx=tx)

    async def delete_by_group_id(
        self, group_id: str, tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Deletes all nodes of this kind in a group, with the facts that go with them."""
        graph = await self._guard.desk.projection.group_graph(group_id)
        query = f"MATCH (x:{self._label}) WHERE x.group_id = $group_id RETURN x.uuid AS uuid"
        rows = await graph.rows(query, group_id=group_id)
        await self._forget(group_id, [str(row["uuid"]) for row in rows], tx)
        await self._ops.delete_by_group_id(graph.driver, group_id, tx=tx, batch_size=batch_size)

    async def delete_by_uuids(
        self, uuids: list[str], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Deletes nodes in whatever groups they lie, with the facts that go with them."""
        await self._delete_found(f"(x:{self._label})", uuids, tx, batch_size=batch_size)


class _Derived(_RoutedNodes):
    """Nodes that Graphiti makes of others: no fact rests on them."""

    async def _forget(self, _group_id: str, _uuids: Sequence[str], _tx: Transaction | None) -> None:
        return None


class GatedEntities(_RoutedNodes, EntityNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.entity`: a summary may say no plan."""

    _label = "Entity"

    async def save(self, node: EntityNode, tx: Transaction | None = None) -> EntityNode:
        """Saves an entity.

        Raises:
            HeldError: its summary rests on words that are held or refused.
        """
        return await self._save(EntityNodeNamespace, node, tx)

    async def save_bulk(
        self, nodes: list[EntityNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves entities, all or none.

        Raises:
            HeldError: as `save`.
        """
        await self._save_all(nodes, tx, batch_size)

    async def _forget(self, group_id: str, uuids: Sequence[str], tx: Transaction | None) -> None:
        await self._guard.deletions.of_entities(group_id, uuids, tx)

    async def _require(self, thing: EntityNode) -> Reception | None:
        return await self._guard.require(
            "entity", thing.uuid, thing.summary, group_id=thing.group_id, at=thing.created_at
        )


class GatedEpisodes(_RoutedNodes, EpisodeNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.episode`: an episode's text is the context of later extractions."""

    _label = "Episodic"

    async def save(self, node: EpisodicNode, tx: Transaction | None = None) -> EpisodicNode:
        """Saves an episode.

        Raises:
            HeldError: its text rests on words that are held or refused.
        """
        return await self._save(EpisodeNodeNamespace, node, tx)

    async def save_bulk(
        self, nodes: list[EpisodicNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves episodes, all or none.

        Raises:
            HeldError: as `save`.
        """
        await self._save_all(nodes, tx, batch_size)

    async def _forget(self, group_id: str, uuids: Sequence[str], tx: Transaction | None) -> None:
        await self._guard.deletions.of_episodes(group_id, uuids, tx)

    async def _require(self, thing: EpisodicNode) -> Reception | None:
        return await self._guard.require(
            "episode",
            thing.uuid,
            thing.content,
            group_id=thing.group_id,
            at=thing.valid_at,
            source=thing.source,
        )

    async def _written(self, reception: Reception | None, thing: EpisodicNode) -> None:
        await self._guard.written_episode(reception, thing.uuid)


class GatedCommunities(_Derived, CommunityNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.community`: names and summaries of communities."""

    _label = "Community"

    async def save(self, node: CommunityNode, tx: Transaction | None = None) -> CommunityNode:
        """Saves a community.

        Raises:
            HeldError: its name or summary rests on words that are held or refused.
        """
        return await self._save(CommunityNodeNamespace, node, tx)

    async def save_bulk(
        self, nodes: list[CommunityNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves communities, all or none.

        Raises:
            HeldError: as `save`.
        """
        await self._save_all(nodes, tx, batch_size)

    async def _require(self, thing: CommunityNode) -> Reception | None:
        # the name is a sentence too: Graphiti asks its LLM for a description of the summary
        return await self._guard.require(
            "community",
            thing.uuid,
            f"{thing.name}\n\n{thing.summary}",
            group_id=thing.group_id,
            at=thing.created_at,
        )


class GatedSagas(_Derived, SagaNodeNamespace):  # type: ignore[misc]
    """`graphiti.nodes.saga`: summaries of sagas."""

    _label = "Saga"

    async def save(self, node: SagaNode, tx: Transaction | None = None) -> SagaNode:
        """Saves a saga.

        Raises:
            HeldError: its summary rests on words that are held or refused.
        """
        return await self._save(SagaNodeNamespace, node, tx)

    async def save_bulk(
        self, nodes: list[SagaNode], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves sagas, all or none.

        Raises:
            HeldError: as `save`.
        """
        await self._save_all(nodes, tx, batch_size)

    async def _require(self, thing: SagaNode) -> Reception | None:
        return await self._guard.require(
            "saga", thing.uuid, thing.summary, group_id=thing.group_id, at=thing.created_at
        )


class GatedEntityEdges(_Routed, EntityEdgeNamespace):  # type: ignore[misc]
    """`graphiti.edges.entity`: an edge is a fact, or it is not written."""

    async def save(self, edge: EntityEdge, tx: Transaction | None = None) -> EntityEdge:
        """Saves an edge.

        Raises:
            HeldError: its fact rests on words that are held or refused.
        """
        return await self._save(EntityEdgeNamespace, edge, tx)

    async def save_bulk(
        self, edges: list[EntityEdge], tx: Transaction | None = None, batch_size: int = 100
    ) -> None:
        """Saves edges, all or none.

        Raises:
            HeldError: as `save`.
        """
        await self._save_all(edges, tx, batch_size)

    async def delete(self, edge: EntityEdge, tx: Transaction | None = None) -> None:
        """Deletes an edge; the facts that no other edge carries are revoked.

        Raises:
            NotAllowedError: see `memgate_graphiti.deleting.Deletions.of_edges`.
        """
        await self._forget(edge.group_id, [edge.uuid], tx)
        driver = self._guard.desk.groups.driver(edge.group_id)
        await self._ops.delete(driver, edge, tx=tx)

    async def delete_by_uuids(self, uuids: list[str], tx: Transaction | None = None) -> None:
        """Deletes edges in whatever groups they lie, as `delete`."""
        await self._delete_found("()-[x:RELATES_TO]->()", uuids, tx)

    async def _forget(self, group_id: str, uuids: Sequence[str], tx: Transaction | None) -> None:
        await self._guard.deletions.of_edges(group_id, uuids, tx)

    async def _require(self, thing: EntityEdge) -> Reception | None:
        return await self._guard.require(
            "edge",
            thing.uuid,
            thing.fact,
            group_id=thing.group_id,
            at=thing.reference_time or thing.valid_at or thing.created_at,
        )

    async def _written(self, reception: Reception | None, thing: EntityEdge) -> None:
        await self._guard.written_edge(reception, thing.uuid, thing.fact)
