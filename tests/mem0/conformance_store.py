"""Mem0 for the projection suite: embedded Qdrant, packaged embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mem0 import Memory

import memgate_mem0
from memgate_core import MemoryGate, Subject
from memgate_mem0.projection import Mem0Projection


class Mem0UnderTest:
    """An ungated `Memory` whose stores the projection writes: reads are those of bare Mem0."""

    def __init__(self, folder: Path, gate: MemoryGate) -> None:
        self.memory = Memory.from_config(memgate_mem0.embedded_config(folder))
        self.projection = Mem0Projection(self.memory, gate.ledger, fields=gate.fields)

    def recall(self, subject: Subject, query: str) -> list[str]:
        filters = {"user_id": subject.user_id}
        listed = self.memory.get_all(filters=filters, top_k=100)["results"]
        found = self.memory.search(query, filters=filters, top_k=100, threshold=0.0)["results"]
        return list(dict.fromkeys(f"{row['id']}: {row['memory']}" for row in [*listed, *found]))

    def held(self, subject: Subject) -> list[str]:
        natives = self.projection.natives
        rows = natives.rows(natives.staged, {"user_id": subject.user_id})
        return [str(payload["data"]) for _id, payload in rows]

    @contextmanager
    def failing(self) -> Iterator[None]:
        store = self.memory.vector_store
        store.insert = _raising
        try:
            yield
        finally:
            del store.insert

    def close(self) -> None:
        self.memory.vector_store.client.close()
        self.memory.close()


def _raising(*_args: object, **_kwargs: object) -> None:
    raise ConnectionError("the store is down")


def open_store(folder: Path, gate: MemoryGate) -> Mem0UnderTest:
    return Mem0UnderTest(folder, gate)
