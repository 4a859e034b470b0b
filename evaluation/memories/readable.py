"""What a reader of a framework's memory comes across, with what the ledger says it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

from evaluation.memories.graphiti import GraphitiMemory
from evaluation.memories.mem0 import Mem0Memory
from evaluation.memories.store import FrameworkMemory
from evaluation.plans.format import Conversation
from memgate_core.errors import ConfigurationError
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact

_SEEN = 1000


@dataclass(frozen=True)
class Readable:
    """One text that is read, and where it comes from."""

    text: str
    said_in: frozenset[str] = frozenset()
    """Messages that it rests on; empty where that is not recorded."""
    carries: tuple[Fact, ...] = ()
    states: bool = True
    """True for a memory that says what holds; False for the words of a conversation, or for a
    fact that is shown as ended."""
    since: date | None = None
    """Since when it says that it holds."""


class Reader(Protocol):
    """Reads one conversation's memory as an application would."""

    def read(self) -> list[Readable]:
        """Everything that any read path of the framework shows now."""
        ...


def reader_of(memory: FrameworkMemory, told: Conversation, ledger: Ledger) -> Reader:
    """The reader for a gated framework.

    Raises:
        ConfigurationError: there is none for this framework.
    """
    if isinstance(memory, Mem0Memory):
        return _Mem0Reader(memory.memory, told, ledger)
    if isinstance(memory, GraphitiMemory):
        return _GraphReader(memory, told, ledger)
    raise ConfigurationError(f"nothing reads {type(memory).__name__} by provenance")


class _Links:
    """What the ledger knows of native objects."""

    def __init__(self, ledger: Ledger, projection: str) -> None:
        self._ledger, self._projection = ledger, projection

    def of(self, native_id: str) -> tuple[frozenset[str], tuple[Fact, ...]]:
        """Messages and facts behind an object."""
        links = self._ledger.links(self._projection, native_id=native_id)
        facts = [self._ledger.fact(fact_id) for link in links for fact_id in link.fact_ids]
        said = frozenset(link.message_id for link in links if link.message_id)
        return said, tuple(fact for fact in facts if fact is not None)


class _Mem0Reader:
    def __init__(self, memory: Any, told: Conversation, ledger: Ledger) -> None:
        self._memory, self._told = memory, told
        self._links = _Links(ledger, memory.desk.name)

    def read(self) -> list[Readable]:
        filters = {"user_id": self._told.id}
        rows = list(self._memory.get_all(filters=filters, top_k=_SEEN)["results"])
        if self._told.probe:
            found = self._memory.search(
                self._told.probe, filters=filters, top_k=_SEEN, threshold=0.0
            )["results"]
            known = {row["id"] for row in rows}
            rows += [row for row in found if row["id"] not in known]
        return [self._readable(row) for row in rows]

    def _readable(self, row: Mapping[str, Any]) -> Readable:
        said, _ = self._links.of(str(row["id"]))
        facts = self._memory.desk.facts_of(str(row["id"]), row.get("metadata") or {})
        return Readable(str(row["memory"]), said, tuple(facts))


class _GraphReader:
    """Edges as every search returns them, ended ones included; node summaries line by line;
    episodes with their names."""

    def __init__(self, memory: GraphitiMemory, told: Conversation, ledger: Ledger) -> None:
        self._memory, self._told = memory, told
        self._group = memory.pipeline.group_id
        self._links = _Links(ledger, memory.pipeline.graph.graphiti.desk.name)

    def read(self) -> list[Readable]:
        self._memory.pipeline.delivered()
        edges, nodes, episodes = self._memory.pipeline.graph.run(self._found())
        facts = [self._edge(edge) for edge in edges]
        lines = {line for node in nodes for line in node.summary.split("\n") if line.strip()}
        told = [self._episode(episode) for episode in episodes]
        return [*facts, *self._summaries(lines, facts), *told]

    async def _found(self) -> tuple[list[Any], list[Any], list[Any]]:
        from graphiti_core.edges import EntityEdge
        from graphiti_core.errors import GroupsEdgesNotFoundError
        from graphiti_core.nodes import EntityNode, EpisodicNode

        graphiti, groups = self._memory.pipeline.graph.graphiti, [self._group]
        driver = graphiti.desk.groups.driver(self._group)
        try:
            edges = {e.uuid: e for e in await EntityEdge.get_by_group_ids(driver, groups)}
        except GroupsEdgesNotFoundError:
            edges = {}
        if self._told.probe:
            found = await graphiti.search(self._told.probe, group_ids=groups, num_results=_SEEN)
            edges |= {edge.uuid: edge for edge in found}
        nodes = await EntityNode.get_by_group_ids(driver, groups)
        episodes = await EpisodicNode.get_by_group_ids(driver, groups)
        return list(edges.values()), nodes, episodes

    def _edge(self, edge: Any) -> Readable:
        said, facts = self._links.of(f"{self._group}/edge/{edge.uuid}")
        since: datetime | None = edge.valid_at
        return Readable(
            edge.fact, said, facts, edge.invalid_at is None, since.date() if since else None
        )

    def _summaries(self, lines: Iterable[str], facts: Iterable[Readable]) -> list[Readable]:
        """Lines of summaries: each rests on what the edge of the same text rests on."""
        known = {one.text: one for one in facts}
        return [
            Readable(line, known[line].said_in, known[line].carries, states=False)
            if line in known
            else Readable(line, states=False)
            for line in sorted(lines)
        ]

    def _episode(self, episode: Any) -> Readable:
        said, facts = self._links.of(f"{self._group}/episode.0/{episode.uuid}")
        return Readable(f"{episode.name}: {episode.content}", said, facts, states=False)
