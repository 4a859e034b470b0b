"""The edges that carry a fact, and what becomes of them when it ends.

An edge may carry several facts, and a fact may be carried by several edges. An edge that also
carries other facts is replaced by an edge of its own for each of those.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_core.edges import EntityEdge

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, FactStatus, NativeLink, Subject
from memgate_graphiti.graph import Edge, Graph
from memgate_graphiti.payloads import native_id, parts_of
from memgate_graphiti.writing import Writer


@dataclass(frozen=True)
class Carrier:
    """One edge that carries a fact, with the other facts it carries."""

    uuid: str
    others: tuple[Fact, ...] = ()


Ended = tuple[EntityEdge, Fact]
"""An edge that stands though all its facts have ended, with one of those facts."""


class Carriers:
    """What the ledger knows of a fact's edges. Reads only; all of it is sync."""

    def __init__(self, ledger: Ledger, name: str, writer: Writer) -> None:
        self._ledger, self._name, self._writer = ledger, name, writer

    def links(self, fact: Fact) -> Sequence[NativeLink]:
        """Everything in the graph that carries the fact."""
        return self._ledger.links(self._name, fact_id=fact.fact_id)

    def edges(self, group_id: str, fact: Fact) -> list[Carrier]:
        """Every edge that carries the fact, or did: the gate's own too, acknowledged or not."""
        own = self._writer.own_edge(group_id, fact)
        found = {own: Carrier(own)}
        for link in self.links(fact):
            _group, kind, uuid = parts_of(link.native_id)
            if kind == "edge":
                found[uuid] = Carrier(uuid, tuple(self._others(link, fact)))
        return list(found.values())

    def episodes(self, fact: Fact) -> list[str]:
        """Episodes whose text says the fact."""
        parts = [parts_of(link.native_id) for link in self.links(fact)]
        return [uuid for _group, kind, uuid in parts if kind == "episode"]

    def ended(self, group_id: str, edges: Sequence[EntityEdge]) -> list[Ended]:
        """Those of these edges that stand though all their facts have ended."""
        found = []
        for edge in edges:
            native = native_id(group_id, "edge", edge.uuid)
            links = self._ledger.links(self._name, native_id=native)
            facts = [self._ledger.fact(fact_id) for link in links for fact_id in link.fact_ids]
            known = [fact for fact in facts if fact is not None]
            if known and all(fact.status is not FactStatus.CURRENT for fact in known):
                kept = [fact for fact in known if fact.status is FactStatus.SUPERSEDED]
                if not kept or edge.invalid_at is None:
                    found.append((edge, (kept or known)[-1]))
        return found

    def _others(self, link: NativeLink, fact: Fact) -> list[Fact]:
        ids = [fact_id for fact_id in link.fact_ids if fact_id != fact.fact_id]
        found = [self._ledger.fact(fact_id) for fact_id in ids]
        alive = (FactStatus.CURRENT, FactStatus.SUPERSEDED)
        return [other for other in found if other is not None and other.status in alive]


async def close(
    graph: Graph, writer: Writer, fact: Fact, carriers: Sequence[Carrier], subject: Subject
) -> list[NativeLink]:
    """Ends the interval of every edge that carried a superseded fact."""
    links: list[NativeLink] = []
    edges = await graph.edges([carrier.uuid for carrier in carriers])
    for carrier in carriers:
        edge = edges.get(carrier.uuid)
        if edge is None or (not edge.open and carrier.others):
            continue
        at, recorded = fact.valid_to or fact.recorded_at, fact.closed_at or fact.recorded_at
        await asyncio.gather(
            graph.close_edge(carrier.uuid, at=at, recorded=recorded),
            graph.untell(edge.nodes, edge.fact),
        )
        current = [other for other in carrier.others if other.status is FactStatus.CURRENT]
        links += [await writer.write(graph, other, subject) for other in current]
    return links


async def delete(
    graph: Graph, writer: Writer, fact: Fact, carriers: Sequence[Carrier], subject: Subject
) -> tuple[list[NativeLink], list[Edge]]:
    """Removes every edge that carried a corrected or revoked fact, and tells which they were."""
    links: list[NativeLink] = []
    gone: list[Edge] = []
    edges = await graph.edges([carrier.uuid for carrier in carriers])
    for carrier in carriers:
        edge = edges.get(carrier.uuid)
        if edge is None:
            continue
        await graph.delete_edge(carrier.uuid)
        links += [await writer.write(graph, other, subject) for other in carrier.others]
        await graph.untell(edge.nodes, edge.fact, fact.value)
        gone.append(edge)
    return links, gone
