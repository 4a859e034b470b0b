"""What a caller deletes himself, through `graphiti.nodes` and `graphiti.edges`, ends in the ledger
too: a fact whose last edge goes is revoked, so that nothing says it any more and no rebuild brings
it back.

The ledger goes first. A crash in between leaves events that take the same edges out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphiti_core.driver.query_executor import Transaction

from memgate_core.errors import NotAllowedError
from memgate_core.model import Fact, FactStatus, NativeLink, Subject
from memgate_graphiti.desk import Desk
from memgate_graphiti.graph import Edge, Graph
from memgate_graphiti.payloads import native_id
from memgate_graphiti.removal import BY, links_of_episode

_STANDING = (FactStatus.CURRENT, FactStatus.SUPERSEDED)
_OF_ENTITIES = (
    "MATCH (n:Entity)-[e:RELATES_TO]-(:Entity) WHERE n.uuid IN $uuids"
    " RETURN DISTINCT e.uuid AS uuid"
)


class Deletions:
    """Takes back what rests on things that are about to be deleted, in one group at a time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def of_edges(self, group_id: str, uuids: Sequence[str], tx: Transaction | None) -> None:
        """Revokes the facts that no other edge carries.

        Raises:
            NotAllowedError: within the caller's transaction, which the ledger can be no part of.
        """
        facts = await self._desk.off_loop(self._on_edges, _edge_ids(group_id, uuids))
        await self._revoke(group_id, facts, set(uuids), tx)

    async def of_entities(
        self, group_id: str, uuids: Sequence[str], tx: Transaction | None
    ) -> None:
        """As `of_edges`, for all edges of entities: they go with them."""
        graph = await self._desk.projection.group_graph(group_id)
        rows = await graph.rows(_OF_ENTITIES, uuids=list(uuids))
        await self.of_edges(group_id, [str(row["uuid"]) for row in rows], tx)

    async def of_episodes(
        self, group_id: str, uuids: Sequence[str], tx: Transaction | None
    ) -> None:
        """Revokes the facts that only these episodes say, and no edge carries: an episode's edges
        stay when it is deleted so (`remove_episode` takes them too)."""
        facts = await self._desk.off_loop(self._only_in_episodes, group_id, uuids)
        await self._revoke(group_id, facts, set(), tx)

    async def _revoke(
        self, group_id: str, facts: Sequence[Fact], going: set[str], tx: Transaction | None
    ) -> None:
        graph = await self._desk.projection.group_graph(group_id)
        ended = [fact for fact in facts if not await self._carried_still(graph, fact, going)]
        if ended and tx is not None:
            raise NotAllowedError(
                "what carries facts cannot be deleted within a transaction of the caller's",
                hint="delete it without `tx`: the ledger is no part of the transaction",
            )
        revoke_all = self._desk.gate.revocation.revoke_all
        for subject, ids in _by_subject(ended).items():
            await self._desk.delivering(subject, revoke_all, subject, ids, by=BY)
        kept = [fact for fact in facts if fact not in ended]
        if kept and going:
            await self._desk.off_loop(self._unlink, kept, _edge_ids(group_id, going))

    async def _carried_still(self, graph: Graph, fact: Fact, going: set[str]) -> bool:
        carriers = await self._desk.off_loop(
            self._desk.projection.carriers.edges, graph.group_id, fact
        )
        others = await graph.edges({carrier.uuid for carrier in carriers} - going)
        return any(_carries(edge, fact) for edge in others.values())

    def _on_edges(self, natives: Iterable[str]) -> list[Fact]:
        ledger, name = self._desk.gate.ledger, self._desk.name
        return self._facts(link for n in natives for link in ledger.links(name, native_id=n))

    def _only_in_episodes(self, group_id: str, uuids: Sequence[str]) -> list[Fact]:
        links = [link for uuid in uuids for link in links_of_episode(self._desk, group_id, uuid)]
        episodes_of = self._desk.projection.carriers.episodes
        return [fact for fact in self._facts(links) if set(episodes_of(fact)) <= set(uuids)]

    def _facts(self, links: Iterable[NativeLink]) -> list[Fact]:
        """What the links carry that holds, or held."""
        ids = dict.fromkeys(fact_id for link in links for fact_id in link.fact_ids)
        facts = [self._desk.gate.ledger.fact(fact_id) for fact_id in ids]
        return [fact for fact in facts if fact is not None and fact.status in _STANDING]

    def _unlink(self, facts: Iterable[Fact], natives: Iterable[str]) -> None:
        listed = list(natives)
        for subject in dict.fromkeys(fact.key.subject for fact in facts):
            with self._desk.gate.ledger.write(subject) as tx:
                for native in listed:
                    tx.unlink(self._desk.name, native)


def _carries(edge: Edge, fact: Fact) -> bool:
    """True for an edge that still says a fact: a current one by an open edge."""
    return edge.open or fact.status is FactStatus.SUPERSEDED


def _edge_ids(group_id: str, uuids: Iterable[str]) -> list[str]:
    return [native_id(group_id, "edge", uuid) for uuid in uuids]


def _by_subject(facts: Iterable[Fact]) -> Mapping[Subject, list[str]]:
    found: dict[Subject, list[str]] = {}
    for fact in facts:
        found.setdefault(fact.key.subject, []).append(fact.fact_id)
    return found
