"""One person who talks to a gated Graphiti, on a clock of her own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF

from memgate_core import Fact, MemoryGate, Subject
from memgate_graphiti import GatedEpisodeResults, GatedGraphiti

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class GraphTalk:
    """Says things to a graph, a day apart unless told otherwise."""

    def __init__(self, graphiti: GatedGraphiti, group_id: str = "ana", name: str = "user") -> None:
        self.graphiti, self.group_id, self.name = graphiti, group_id, name
        self.now = START
        self.subject = Subject(user_id=group_id)

    @property
    def gate(self) -> MemoryGate:
        return self.graphiti.gate

    async def says(self, text: str, *, after: timedelta = DAY, **rest: Any) -> GatedEpisodeResults:
        """One line of this person."""
        return await self.hears(f"{self.name}: {text}", after=after, **rest)

    async def hears(self, body: str, *, after: timedelta = DAY, **rest: Any) -> GatedEpisodeResults:
        """A whole body."""
        self.now += after
        options: dict[str, Any] = {"source": EpisodeType.message, "group_id": self.group_id, **rest}
        return await self.graphiti.add_episode(
            name=options.pop("name", f"turn of {self.now:%d %B}"),
            episode_body=body,
            source_description="chat",
            reference_time=self.now,
            **options,
        )

    def driver(self) -> Any:
        return self.graphiti.desk.groups.driver(self.group_id)

    async def edges(self) -> list[EntityEdge]:
        """Every edge of the group."""
        try:
            found: list[EntityEdge] = await EntityEdge.get_by_group_ids(
                self.driver(), [self.group_id]
            )
        except GroupsEdgesNotFoundError:
            return []
        return found

    async def current(self) -> list[str]:
        """Facts of open edges."""
        return sorted(edge.fact for edge in await self.edges() if edge.invalid_at is None)

    async def edge(self, word: str) -> EntityEdge:
        """The one edge that names a word."""
        (found,) = [edge for edge in await self.edges() if word.lower() in edge.fact.lower()]
        return found

    async def episodes(self) -> list[str]:
        """The texts of the group's episodes, oldest first."""
        found = await EpisodicNode.get_by_group_ids(self.driver(), [self.group_id])
        return [episode.content for episode in sorted(found, key=lambda e: e.valid_at)]

    async def readable(self, query: str = "what is known of the user") -> list[str]:
        """Everything that any read path of Graphiti shows of the group, closed edges included."""
        found = await self.graphiti.search(query, group_ids=[self.group_id], num_results=50)
        wide = await self.graphiti.search_(
            query, COMBINED_HYBRID_SEARCH_RRF, group_ids=[self.group_id]
        )
        nodes = [
            *wide.nodes,
            *await EntityNode.get_by_group_ids(self.driver(), [self.group_id]),
        ]
        retrieved = await self.graphiti.retrieve_episodes(
            self.now + 1000 * DAY, 50, [self.group_id]
        )
        texts = [edge.fact for edge in (*found, *wide.edges, *await self.edges())]
        texts += [text for node in nodes for text in (node.name, node.summary)]
        texts += [e.content for e in (*wide.episodes, *retrieved)]
        texts += [text for c in wide.communities for text in (c.name, c.summary)]
        return list(dict.fromkeys([*texts, *await self.episodes()]))

    async def shown(self, word: str) -> list[str]:
        """What of it names a word."""
        return [text for text in await self.readable(word) if word.lower() in text.lower()]

    def facts(self, **options: Any) -> list[Fact]:
        return list(self.gate.ledger.facts(self.subject, include_closed=True, **options))

    def value(self, attribute: str = "home_city") -> str | None:
        fact = self.gate.profile(self.subject).current(attribute)
        return fact.value if fact is not None else None

    async def held(self) -> list[str]:
        return [item.text for item in await self.graphiti.staged.list(self.group_id)]
