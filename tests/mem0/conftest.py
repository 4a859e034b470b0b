"""Real Mem0 in a folder: embedded Qdrant, packaged embeddings, no key, no network."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from memgate_core import MemoryGate
from memgate_mem0 import GatedMemory, embedded_config, embedded_memory
from tests.mem0.talk import MemoryTalk
from tests.support.recorded_llm import RecordedLLM
from tests.support.scripted import scripted_gate

Open = Callable[..., GatedMemory]


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Open]:
    """Opens gated memories, each in a folder of its own, and closes them."""
    opened: list[GatedMemory] = []

    def open_one(gate: MemoryGate | None = None, *, folder: str = "m", **rest: Any) -> GatedMemory:
        where = tmp_path / folder
        where.mkdir(exist_ok=True)
        own = gate if gate is not None else scripted_gate(f"sqlite:///{where / 'ledger.db'}")
        memory = embedded_memory(where, own, **rest)
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        shut(memory)


@pytest.fixture
def memory(open_memory: Open) -> GatedMemory:
    """A gated memory whose gate's judges follow the script."""
    return open_memory()


@pytest.fixture
def ana(memory: GatedMemory) -> MemoryTalk:
    return MemoryTalk(memory)


@pytest.fixture
def llm(memory: GatedMemory) -> RecordedLLM:
    """A recorded model in the memory's place for one."""
    recorded = RecordedLLM({})
    memory.llm = recorded
    return recorded


@pytest.fixture
def open_in_memory() -> Iterator[Callable[[], GatedMemory]]:
    """Opens gated memories that lie in no folder at all, for tests that need very many."""
    opened: list[GatedMemory] = []

    def open_one() -> GatedMemory:
        config = embedded_config(tempfile.gettempdir())
        store = config["vector_store"]["config"]
        del store["path"], store["on_disk"]
        config["vector_store"]["config"] = {**store, "client": QdrantClient(":memory:")}
        config["history_db_path"] = ":memory:"
        memory = GatedMemory.from_config(config, scripted_gate("sqlite://"))
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        shut(memory)


def shut(memory: GatedMemory) -> None:
    """Closes a memory, its gate, and the embedded store, so that the folder is free again."""
    store = memory.vector_store
    memory.close()
    memory.gate.close()
    client = getattr(store, "client", None)
    if client is not None:
        client.close()
