"""A Graphiti for scripts and commands: blocking calls, on an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from graphiti_core import Graphiti
from graphiti_core.embedder import EmbedderClient
from graphiti_core.llm_client import LLMClient

from memgate_core.errors import ConfigurationError
from memgate_core.gate import MemoryGate
from memgate_core.projection import DeliveryReport
from memgate_core.rebuilt import RebuildReport
from memgate_graphiti.bridge import LoopBridge
from memgate_graphiti.embedded import EmbeddedFalkorDB
from memgate_graphiti.embedder import PackagedMiniLM, VectorReranker
from memgate_graphiti.graphiti import GatedGraphiti
from memgate_graphiti.rebuilding import rebuild
from memgate_graphiti.recorded import RecordedLLM
from memgate_graphiti.servers import driver_at

T = TypeVar("T")

_UNDER_WAY_S = 10.0
"""Seconds to wait at the most for what a loop still does."""


class BlockingGraphiti:
    """A Graphiti, gated or as released, opened on a database and closed with it.

    with BlockingGraphiti.open(gate, folder="memory") as graph:
        graph.deliver()
    """

    def __init__(
        self, build: Callable[[], Graphiti], server: EmbeddedFalkorDB | None = None
    ) -> None:
        """`build` makes the Graphiti, on the loop that then owns its driver."""
        self._server = server
        self._bridge = LoopBridge()

        async def built() -> Graphiti:
            return build()

        self.graphiti: Any = self.run(built())

    @classmethod
    def open(
        cls,
        gate: MemoryGate | None = None,
        *,
        folder: str | Path | None = None,
        uri: str | None = None,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        llm_client: LLMClient | None = None,
        embedder: EmbedderClient | None = None,
        **options: Any,
    ) -> BlockingGraphiti:
        """Opens a graph: in a `folder` (embedded FalkorDB), or a server at `uri`
        (see `driver_at`).

        Without a `gate` it is Graphiti as released. Without an `llm_client` it can deliver,
        rebuild and read, but extracts nothing; the default embedder is the packaged one, and has to
        be the one that the graph was written with. `options` are those of `GatedGraphiti`.

        Raises:
            ConfigurationError: neither or both of folder and uri, an unknown scheme, or the
                embedded server cannot run here.
        """
        if (folder is None) == (uri is None):
            raise ConfigurationError("which graph?", hint="give a folder, or the uri of a server")
        server = EmbeddedFalkorDB(folder).start() if folder is not None else None
        vectors = embedder if embedder is not None else PackagedMiniLM()
        ranker = VectorReranker(vectors if isinstance(vectors, PackagedMiniLM) else None)

        def build() -> Graphiti:
            known = {"database": database} if database is not None else {}
            parts: dict[str, Any] = {
                "graph_driver": server.driver(**known)
                if server is not None
                else driver_at(uri or "", user=user, password=password, database=database),
                "llm_client": llm_client if llm_client is not None else RecordedLLM(),
                "embedder": vectors,
                "cross_encoder": ranker,
            }
            return (
                Graphiti(**parts) if gate is None else GatedGraphiti(**parts, gate=gate, **options)
            )

        try:
            return cls(build, server)
        except BaseException:
            if server is not None:
                server.close()
            raise

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine of the Graphiti on its loop, and waits for it."""
        return self._bridge.run(work)

    def deliver(self) -> DeliveryReport:
        """Carries everything that is due. Never raises for the database's fault."""
        report: DeliveryReport = self.run(self.graphiti.deliver())
        return report

    def rebuild(self) -> RebuildReport:
        """Drops what the gate owns in the graph and writes the ledger's state anew."""
        return self.run(rebuild(self.graphiti.desk))

    def settle(self) -> None:
        """Waits until nothing of the loop is under way: Graphiti as released makes indices in
        tasks that nobody awaits, and one that a closing connection meets logs an error."""
        self.run(_settled())

    def close(self) -> None:
        """Closes the driver, its loop, and the embedded server. The gate stays open."""
        try:
            self.settle()
            self.run(self.graphiti.close())
        finally:
            self._bridge.close()
            if self._server is not None:
                self._server.close()

    def __enter__(self) -> BlockingGraphiti:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


async def _settled() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=_UNDER_WAY_S)
