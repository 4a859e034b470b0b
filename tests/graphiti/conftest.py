"""Real Graphiti on a real database: packaged embeddings, a recorded model, no key, no network."""

from __future__ import annotations

import os

os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memgate_core import MemoryGate
from memgate_graphiti import GatedGraphiti, PackagedMiniLM, RecordedFact, RecordedLLM
from memgate_graphiti.embedder import VectorReranker
from tests.graphiti.databases import DATABASES, Database, opened
from tests.graphiti.talk import GraphTalk
from tests.support.scripted import scripted_gate

EMBEDDER = PackagedMiniLM()

CITY = "home_city"
FACTS = [
    RecordedFact("user", "LIVES_IN", "Leeds", "User lives in Leeds", "I live in Leeds", CITY),
    RecordedFact("user", "LIVES_IN", "York", "User lives in York", "I moved to York", CITY),
    RecordedFact("user", "LIVES_IN", "Leeds", "User lives in Leeds", "I moved to Leeds", CITY),
    RecordedFact(
        "user", "LIVES_IN", "Seattle", "User lives in Seattle", "I might move to Seattle", CITY
    ),
    RecordedFact(
        "user", "LIVES_IN", "Seattle", "User lives in Seattle", "I have moved to Seattle", CITY
    ),
    RecordedFact("user", "LIVES_IN", "Hull", "User lives in Hull", "it was Hull all along", CITY),
    RecordedFact("user", "WORKS_AT", "Acme", "User works at Acme", "I work at Acme", "employer"),
    RecordedFact("dad", "LIVES_IN", "Seattle", "User's dad lives in Seattle", "My dad lives in"),
]
"""What the recorded model extracts of the script's sentences (tests/support/scripted.py)."""

Open = Callable[..., GatedGraphiti]


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> Database:
    return opened(request.param)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[MemoryGate]:
    """A gate whose judges follow the script."""
    with scripted_gate(f"sqlite:///{tmp_path / 'ledger.db'}") as opened_gate:
        yield opened_gate


@pytest.fixture
def llm() -> RecordedLLM:
    return RecordedLLM(FACTS)


@pytest_asyncio.fixture
async def open_graph(database: Database, gate: MemoryGate, llm: RecordedLLM) -> AsyncIterator[Open]:
    """Opens gated Graphitis on the database, and closes them."""
    opened_ones: list[GatedGraphiti] = []

    def open_one(**options: Any) -> GatedGraphiti:
        graphiti = GatedGraphiti(
            **{**parts(database, llm), "gate": gate, **options},
        )
        opened_ones.append(graphiti)
        return graphiti

    yield open_one
    for graphiti in opened_ones:
        await graphiti.close()


def parts(database: Database, llm: RecordedLLM) -> dict[str, Any]:
    """What a Graphiti is built of."""
    return {
        "graph_driver": database.driver(),
        "llm_client": llm,
        "embedder": EMBEDDER,
        "cross_encoder": VectorReranker(EMBEDDER),
    }


@pytest.fixture
def graphiti(open_graph: Open) -> GatedGraphiti:
    return open_graph()


@pytest.fixture
def ana(graphiti: GatedGraphiti) -> GraphTalk:
    return GraphTalk(graphiti)
