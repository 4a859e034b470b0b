"""`GraphitiProjection`: carries ledger events into a graph.

Each event is applied towards what the ledger says *now* of the fact or item it names, so that a
second or late delivery changes nothing: an edge is open while its fact is current and closed once
it is superseded; what was corrected or revoked is nowhere; what is held is a staging node.
The ledger is read in the caller's thread, the graph is written on the loop that owns its driver.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from graphiti_core import Graphiti

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FactStatus,
    FieldSpec,
    NativeLink,
    StagedItem,
    StagedStatus,
    Subject,
)
from memgate_graphiti import carriers, derived, episodes, erasing, legacy, native, residue, staging
from memgate_graphiti.bridge import LoopBridge
from memgate_graphiti.carriers import Carriers
from memgate_graphiti.graph import Edge, Graph
from memgate_graphiti.groups import Groups, prepare
from memgate_graphiti.payloads import native_id, staged_properties
from memgate_graphiti.residue import Traces
from memgate_graphiti.speech import Speakers
from memgate_graphiti.traffic import Traffic
from memgate_graphiti.writing import Writer

T = TypeVar("T")


class GraphitiProjection:
    """One graph database as the ledger sees it. Implements `memgate_core.projection.Projection`."""

    def __init__(
        self,
        graphiti: Graphiti,
        ledger: Ledger,
        *,
        groups: Groups,
        bridge: LoopBridge,
        speakers: Speakers | None = None,
        fields: Sequence[FieldSpec] = (),
        asserted: legacy.Asserted = lambda _subject, _text: (),
        name: str = "graphiti",
        traffic: Traffic | None = None,
        ingest: native.Ingest | None = None,
    ) -> None:
        """`traffic`: who else is at work in the graph. `ingest`: given, promotions go through
        Graphiti's own ingestion and its LLM."""
        self.name = name
        self.writer = Writer(name, speakers or Speakers(), fields)
        self.carriers = Carriers(ledger, name, self.writer)
        self._graphiti, self._ledger, self._groups = graphiti, ledger, groups
        self._bridge, self._fields, self._asserted = bridge, fields, asserted
        self._traffic, self._ingest = traffic or Traffic(), ingest
        self._prepared: set[str] = set()

    async def graph(self, subject: Subject) -> Graph:
        """The graph of a subject's group, its indices made. To be awaited on the driver's loop."""
        return await self.group_graph(self._groups.of_subject(subject))

    async def group_graph(self, group_id: str) -> Graph:
        """As `graph`, by group."""
        graph = Graph(self._groups.driver(group_id), group_id, self._graphiti.embedder)
        if graph.driver._database not in self._prepared:
            await prepare(graph.driver)
            await staging.build_indices(graph)
            self._prepared.add(graph.driver._database)
        return graph

    # --- the Projection contract -------------------------------------------------------------

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Carries one event natively and returns what it wrote. Idempotent.

        Raises:
            ProjectionError: called on the event loop that owns the driver.
            Exception: whatever the database or Graphiti raises; the event stays due.
        """
        group_id = self._groups.of_subject(event.subject)
        self._run(self._traffic.begin_delivery(group_id))
        try:
            return self._apply(event)
        finally:
            self._run(self._traffic.end_delivery(group_id))

    def _apply(self, event: Event) -> Sequence[NativeLink]:
        if event.event_type is EventType.ERASED:
            self._erase(event.subject)
            return ()
        links: list[NativeLink] = []
        if event.fact is not None:
            written = event.event_type in (EventType.PROMOTED, EventType.COMMITTED)
            links += (self._write if written else self._take_out)(event, event.fact)
        if event.staged is not None:
            links += self._hold(event.subject, event.staged)
        return links

    def residue(self, needle: Event) -> Sequence[str]:
        """Where traces of what was taken away are still found, by name; empty when clean."""
        return self._run(self._residue(needle))

    # --- held items --------------------------------------------------------------------------

    def _hold(self, subject: Subject, told: StagedItem) -> Sequence[NativeLink]:
        """Brings the staging node in step with the item as it is now."""
        item = self._ledger.staged_item(told.staged_id) or told
        pending = item.status is StagedStatus.PENDING
        self._run(self._stage(subject, item) if pending else self._unstage(subject, item.staged_id))
        if not pending:
            return ()
        held = native_id(self._groups.of_subject(subject), "staged", item.staged_id)
        return [
            NativeLink(
                projection=self.name,
                native_id=held,
                staged_ids=(item.staged_id,),
                message_id=item.evidence.message_id,
            )
        ]

    async def _stage(self, subject: Subject, item: StagedItem) -> None:
        graph = await self.graph(subject)
        name = self.writer.names_of(subject)[0]
        await staging.put(graph, staged_properties(item, graph.group_id, name))

    async def _unstage(self, subject: Subject, staged_id: str) -> None:
        await staging.drop(await self.graph(subject), staged_id)

    # --- facts that begin --------------------------------------------------------------------

    def _write(self, event: Event, told: Fact) -> Sequence[NativeLink]:
        fact = self._ledger.fact(told.fact_id) or told
        if fact.status is not FactStatus.CURRENT or fact.version != told.version:
            return ()
        self._close_older(event.subject, fact)
        carried = self.carriers.edges(self._groups.of_subject(event.subject), fact)
        edges = self._run(self._existing(event.subject, [c.uuid for c in carried]))
        own = self.writer.own_edge(self._groups.of_subject(event.subject), fact)
        others = [edge for uuid, edge in edges.items() if uuid != own]
        if not any(edge.open for edge in others):
            shut = [c for c in carried if c.uuid in edges and c.uuid != own and not c.others]
            if shut:
                self._run(self._reopen(event.subject, [edges[c.uuid] for c in shut]))
                return ()
            if self._is_ours_to_write(event, fact, edges):
                return self._run(self._write_natively(event, fact))
        self._run(self._date(event.subject, fact, others))
        return ()

    async def _write_natively(self, event: Event, fact: Fact) -> Sequence[NativeLink]:
        graph = await self.graph(event.subject)
        if self._ingest is not None and event.event_type is EventType.PROMOTED:
            return await native.promote(
                self._graphiti, self._ingest, graph, self.writer, fact, event.subject
            )
        return [await self.writer.write(graph, fact, event.subject)]

    def _is_ours_to_write(self, event: Event, fact: Fact, edges: Mapping[str, Edge]) -> bool:
        """Whether a fact that no open edge of Graphiti's carries is the gate's to write.

        A promotion is. A commit is only where Graphiti's own call could not carry it: its words
        were kept back, or Graphiti took it for an edge that had ended (it dedupes by text, so a
        return to an old value meets the closed edge; verified: tests/graphiti/test_host_facts.py).
        """
        if event.event_type is EventType.PROMOTED or not fact.native or edges:
            return True
        record = self._ledger.turn(event.subject, fact.evidence.message_id)
        withheld = record.receipt.withheld if record is not None else ()
        return any(span.overlaps(fact.evidence.span) for span in withheld)

    async def _reopen(self, subject: Subject, shut: Sequence[Edge]) -> None:
        """Opens edges again whose fact holds again, since what had ended it was taken back."""
        graph = await self.graph(subject)
        for edge in shut:
            await graph.reopen_edge(edge.uuid)
            await graph.tell(edge.nodes, edge.fact)

    async def _date(self, subject: Subject, fact: Fact, edges: Sequence[Edge]) -> None:
        """Gives edges that Graphiti's extraction left undated the fact's own beginning."""
        graph = await self.graph(subject)
        for edge in edges:
            if edge.open and not edge.dated:
                await graph.date_edge(edge.uuid, fact.valid_from)

    def _close_older(self, subject: Subject, fact: Fact) -> None:
        """Closes what Graphiti stored before the gate and this fact surely ends."""
        if fact.attribute is None or fact.supersedes is not None:
            return
        found = [
            edge
            for edge in self._run(self._namesakes(subject, fact))
            if not self._ledger.links(self.name, native_id=self._edge_id(subject, edge.uuid))
        ]
        names = self.writer.names_of(subject)
        for edge in legacy.ended_by(fact, subject, found, names, self._asserted):
            self._run(self._close_at(subject, edge, fact.valid_from, fact.recorded_at))

    async def _namesakes(self, subject: Subject, fact: Fact) -> list[Edge]:
        graph = await self.graph(subject)
        (person,) = await graph.entities(self.writer.names_of(subject))
        if person is None:
            return []
        relation = self.writer.triple(fact, subject).relation
        return await graph.open_edges_of(person, legacy.relations_of(fact, relation, self._fields))

    async def _close_at(self, subject: Subject, edge: Edge, at: datetime, now: datetime) -> None:
        graph = await self.graph(subject)
        await graph.close_edge(edge.uuid, at=at, recorded=now)
        await graph.untell(edge.nodes, edge.fact)

    # --- facts that end ------------------------------------------------------------------------

    def _take_out(self, event: Event, told: Fact) -> Sequence[NativeLink]:
        fact = self._ledger.fact(told.fact_id) or told
        if fact.status is FactStatus.CURRENT and fact.version == told.version:
            return ()
        held = self.carriers.edges(self._groups.of_subject(event.subject), told)
        if told.status is FactStatus.SUPERSEDED and fact.status is FactStatus.SUPERSEDED:
            return self._run(self._close(event.subject, told, held))
        words = told.status is FactStatus.REVOKED or fact.status is FactStatus.REVOKED
        traces = self._traces(self._groups.of_subject(event.subject), event)
        texts = traces.episodes if words else ()
        return self._run(self._delete(event.subject, told, held, texts, traces.told))

    async def _close(
        self, subject: Subject, fact: Fact, held: Sequence[carriers.Carrier]
    ) -> Sequence[NativeLink]:
        return await carriers.close(await self.graph(subject), self.writer, fact, held, subject)

    async def _delete(
        self,
        subject: Subject,
        fact: Fact,
        held: Sequence[carriers.Carrier],
        texts: Sequence[str],
        told: Sequence[str],
    ) -> Sequence[NativeLink]:
        graph = await self.graph(subject)
        links, gone = await carriers.delete(graph, self.writer, fact, held, subject)
        for episode in texts:
            await episodes.redact(self._graphiti, graph, episode, fact.words, self.writer.speakers)
        nodes = sorted({node for edge in gone for node in edge.nodes})
        await derived.take_out(graph, [fact.words, *(edge.fact for edge in gone), *told])
        await graph.drop_lonely(nodes, texts)
        return links

    def _erase(self, subject: Subject) -> None:
        links = self._ledger.links(self.name, subject=subject)
        if erasing.owns_group(self._ledger, subject):
            self._run(self._erase_group(subject))
        else:
            self._run(self._erase_person(subject, [link.native_id for link in links]))

    async def _erase_group(self, subject: Subject) -> None:
        await erasing.erase_group(await self.graph(subject))

    async def _erase_person(self, subject: Subject, natives: Sequence[str]) -> None:
        graph = await self.graph(subject)
        await erasing.erase_subject(self._graphiti, graph, subject, natives)

    # --- parts ---------------------------------------------------------------------------------

    async def _residue(self, needle: Event) -> list[str]:
        graph, subject = await self.graph(needle.subject), needle.subject
        if needle.event_type is EventType.ERASED:
            if erasing.owns_group(self._ledger, subject):
                return await residue.of_group(graph)
            links = self._ledger.links(self.name, subject=subject)
            natives = [link.native_id for link in links]
            return await residue.of_subject(graph, natives, subject.actor)
        return await residue.of_event(graph, needle, self._traces(graph.group_id, needle))

    def _traces(self, group_id: str, needle: Event) -> Traces:
        if needle.fact is None:
            return Traces()
        links = self.carriers.links(needle.fact)
        return Traces(
            edges=tuple(carrier.uuid for carrier in self.carriers.edges(group_id, needle.fact)),
            episodes=tuple(self.carriers.episodes(needle.fact)),
            told=tuple(link.text for link in links if link.text),
        )

    async def _existing(self, subject: Subject, uuids: Iterable[str]) -> dict[str, Edge]:
        return await (await self.graph(subject)).edges(uuids)

    def _edge_id(self, subject: Subject, uuid: str) -> str:
        return native_id(self._groups.of_subject(subject), "edge", uuid)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._bridge.run(work)
