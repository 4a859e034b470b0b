"""One conversation through a real Graphiti, gated or as released, with recorded extractions.

What `memgate run --memory graphiti` and the demo stand on: an embedded FalkorDB shared by the
process (or a server, by its uri), a group a conversation, and no model.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphiti_core.edges import EntityEdge
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.llm_client import LLMClient
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.utils.maintenance.graph_data_operations import clear_data

from memgate_core.gate import MemoryGate
from memgate_graphiti import staging
from memgate_graphiti.blocking import BlockingGraphiti
from memgate_graphiti.embedded import EmbeddedFalkorDB
from memgate_graphiti.embedder import PackagedMiniLM
from memgate_graphiti.graph import Graph
from memgate_graphiti.groups import Groups
from memgate_graphiti.recorded import RecordedFact, RecordedLLM
from memgate_graphiti.servers import URI_VARIABLE
from memgate_graphiti.speech import Speakers

_SEEN = 10
"""Edges that a search returns."""


class GraphitiPipeline:
    """A conversation's memory in Graphiti. Every call blocks until it is done."""

    def __init__(self, graph: BlockingGraphiti, group_id: str, *, gated: bool) -> None:
        self.graph, self.group_id, self._gated = graph, group_id, gated
        self._groups = graph.graphiti.desk.groups if gated else Groups(graph.graphiti.driver)
        self._count = 0

    def add(self, text: str, *, role: str, at: datetime, message_id: str | None = None) -> Any:
        """One message as an episode; the result is Graphiti's, or the gated one."""
        self._count += 1
        known = {"message_id": message_id} if self._gated else {}
        adding = self.graph.graphiti.add_episode(
            name=message_id or f"message {self._count}",
            episode_body=f"{role}: {text}",
            source_description="conversation",
            reference_time=at,
            source=EpisodeType.message,
            group_id=self.group_id,
            **known,
        )
        return self.graph.run(adding)

    def search(self, query: str) -> list[str]:
        """What Graphiti's own search finds, the best first; facts that ended say when."""
        found = self.graph.graphiti.search(query, group_ids=[self.group_id], num_results=_SEEN)
        return [shown(edge) for edge in self.graph.run(found)]

    def everything(self) -> list[str]:
        """All that a reader of the graph could come across: edges, summaries, episodes."""
        return self.graph.run(self._everything())

    def delivered(self) -> None:
        """Waits until nothing is being done in the background."""
        if self._gated:
            self.graph.run(self.graph.graphiti.delivered())
        self.graph.settle()

    def close(self) -> None:
        """Removes the conversation's group, and closes the driver."""
        self.delivered()
        self.graph.run(self._clear())
        self.graph.close()

    async def _everything(self) -> list[str]:
        driver = self._groups.driver(self.group_id)
        try:
            edges = await EntityEdge.get_by_group_ids(driver, [self.group_id])
        except GroupsEdgesNotFoundError:
            edges = []
        nodes = await EntityNode.get_by_group_ids(driver, [self.group_id])
        told = await EpisodicNode.get_by_group_ids(driver, [self.group_id])
        texts = [*(shown(edge) for edge in edges), *(node.summary for node in nodes)]
        return [text for text in (*texts, *(episode.content for episode in told)) if text]

    async def _clear(self) -> None:
        driver = self._groups.driver(self.group_id)
        await clear_data(driver, [self.group_id])
        graph = Graph(driver, self.group_id, self.graph.graphiti.embedder)
        await staging.drop_all(graph, everybody=True)


def graphiti_pipeline(
    group_id: str,
    recorded: Iterable[Mapping[str, Any]] = (),
    *,
    gate: MemoryGate | None = None,
    tenant: str = "default",
    uri: str | None = None,
    llm_client: LLMClient | None = None,
) -> GraphitiPipeline:
    """Opens a conversation's Graphiti: gated with a `gate`, else as released.

    `recorded`: extractions in the conversations format, which answer in a model's place unless an
    `llm_client` is given. `uri`: a server instead of the process's own embedded FalkorDB; by
    default the one that the environment names (MEMGATE_GRAPHITI__URI), if any.

    Raises:
        ConfigurationError: the embedded server cannot run here, or an unknown uri.
    """
    llm = llm_client or RecordedLLM(RecordedFact.of(found) for found in recorded)
    options: dict[str, Any] = {"llm_client": llm, "embedder": _embedder()}
    if gate is not None:
        options |= {"tenant": tenant, "speakers": Speakers(others=False)}
    server = uri or os.environ.get(URI_VARIABLE)
    where = {"uri": server} if server else {"folder": _folder()}
    graph = BlockingGraphiti.open(gate, **where, **options)
    return GraphitiPipeline(graph, group_id, gated=gate is not None)


def shown(edge: EntityEdge) -> str:
    """An edge as a reader sees it: a fact that has ended says so."""
    if edge.invalid_at is None:
        return str(edge.fact)
    return f"{edge.fact} (until {edge.invalid_at:%Y-%m-%d})"


@lru_cache(maxsize=1)
def _embedder() -> PackagedMiniLM:
    return PackagedMiniLM()


@lru_cache(maxsize=1)
def _folder() -> Path:
    """The data folder of this process's own server, which runs until the process ends."""
    holder = tempfile.TemporaryDirectory(prefix="memgate-graphiti-", ignore_cleanup_errors=True)
    server = EmbeddedFalkorDB(Path(holder.name) / "data").start()
    atexit.register(holder.cleanup)
    atexit.register(server.close)
    return server.folder
