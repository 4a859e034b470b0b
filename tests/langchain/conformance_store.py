"""LangGraph for the projection suite: a bare `InMemoryStore`, read as a user of LangGraph would."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore

from memgate_core import MemoryGate, Subject
from memgate_langchain.projection import LangGraphProjection


class _Store(InMemoryStore):
    """An `InMemoryStore` whose writes can be made to fail."""

    down = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        listed = list(ops)
        if self.down and any(isinstance(op, PutOp) and op.value is not None for op in listed):
            raise ConnectionError("the store is down")
        return super().batch(listed)


class LangGraphUnderTest:
    """A store that the projection writes; held items stay in the ledger."""

    def __init__(self, gate: MemoryGate) -> None:
        self.store = _Store()
        self.gate = gate
        self.projection = LangGraphProjection(self.store, gate.ledger, fields=gate.fields)

    def recall(self, subject: Subject, query: str) -> list[str]:
        namespace = self.projection.namespaces.namespace_of(subject)
        found = self.store.search(namespace, query=query, limit=100)
        listed = [item for item in self.store.search((), limit=1000) if _whose(item) == namespace]
        got = [self.store.get(item.namespace, item.key) for item in found]
        shown = [f"{item.key}: {item.value}" for item in [*found, *listed, *got] if item]
        return list(dict.fromkeys(shown))

    def held(self, subject: Subject) -> list[str]:
        return [item.text for item in self.gate.profile(subject).staged()]

    @contextmanager
    def failing(self) -> Iterator[None]:
        self.store.down = True
        try:
            yield
        finally:
            self.store.down = False

    def close(self) -> None:
        """Nothing is open."""


def _whose(item: object) -> tuple[str, ...]:
    return tuple(getattr(item, "namespace", ()))


def open_store(folder: Path, gate: MemoryGate) -> LangGraphUnderTest:
    return LangGraphUnderTest(gate)
