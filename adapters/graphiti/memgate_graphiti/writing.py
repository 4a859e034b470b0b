"""Writing a fact natively: an edge between existing entities, dated by the event."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.model import Fact, FieldSpec, NativeLink, Subject
from memgate_graphiti import payloads
from memgate_graphiti.graph import Graph, NewEntity
from memgate_graphiti.speech import Speakers


class Writer:
    """Writes facts as edges. A fact version is one edge, however often it is written."""

    def __init__(self, name: str, speakers: Speakers, fields: Sequence[FieldSpec]) -> None:
        self.speakers = speakers
        self._name, self._fields = name, fields

    def names_of(self, subject: Subject) -> tuple[str, ...]:
        """What the person is called in the graph, the best first."""
        return (subject.actor,) if subject.actor is not None else self.speakers.subject

    def triple(self, fact: Fact, subject: Subject) -> payloads.Triple:
        """The fact as source, relation, target and sentence."""
        return payloads.triple_of(fact, self.names_of(subject)[0], self._fields)

    def own_edge(self, group_id: str, fact: Fact) -> str:
        """The uuid of the edge that this writer gives the fact."""
        return payloads.edge_uuid(self._name, group_id, fact)

    async def write(self, graph: Graph, fact: Fact, subject: Subject) -> NativeLink:
        """Writes the edge of a fact, and the entities that are missing.

        The edge comes last but for the summaries, which tell of current facts only.
        """
        triple = self.triple(fact, subject)
        nodes, missing = await self._nodes(graph, triple, subject)
        vector, *names = await graph.vectors([triple.sentence, *missing.values()])
        if missing:
            pairs = zip(missing.items(), names, strict=True)
            await graph.make_entities([NewEntity(uuid, n, v) for (uuid, n), v in pairs])
        uuid = self.own_edge(graph.group_id, fact)
        edge = payloads.edge_of(fact, triple, uuid, graph.group_id, nodes)
        edge.fact_embedding = vector
        await graph.save_edge(edge)
        if fact.valid_to is None:
            await graph.tell(nodes, triple.sentence)
        return self.link(graph, fact, uuid, triple.sentence)

    def link(self, graph: Graph, fact: Fact, uuid: str, text: str) -> NativeLink:
        """What the ledger notes of an edge that carries a fact."""
        return NativeLink(
            projection=self._name,
            native_id=payloads.native_id(graph.group_id, "edge", uuid),
            fact_ids=(fact.fact_id,),
            message_id=fact.evidence.message_id,
            text=text,
        )

    async def _nodes(
        self, graph: Graph, triple: payloads.Triple, subject: Subject
    ) -> tuple[list[str], dict[str, str]]:
        """The uuids of both ends: nodes that are there, else new ones with ids of their own; and
        the names of those that have to be made."""
        own = triple.source in self.names_of(subject)
        choices = [self.names_of(subject) if own else (triple.source,), (triple.target,)]
        missing: dict[str, str] = {}
        nodes: list[str] = []
        for names, uuid in zip(choices, await graph.entities(*choices), strict=True):
            there = uuid or await graph.entity_like(names[0])
            made = payloads.entity_uuid(self._name, graph.group_id, names[0])
            if there is None:
                missing[made] = names[0]
            nodes.append(there or made)
        return nodes, missing
