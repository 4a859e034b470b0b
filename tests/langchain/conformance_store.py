"""`GatedStore` for the projection suite, over LangGraph's stores, read as a user of LangGraph would."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from langgraph.store.base import BaseStore, Op, PutOp, Result

from memgate_core import MemoryGate, Subject
from memgate_langchain import GatedStore
from tests.langchain.conftest import in_memory


class Breakable(BaseStore):
    """A store whose writes can be made to fail."""

    down = False

    def __init__(self, store: BaseStore) -> None:
        self.store = store
        self.supports_ttl, self.ttl_config = store.supports_ttl, store.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self.store.batch(self._taken(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        found: Awaitable[list[Result]] = self.store.abatch(self._taken(ops))
        return await found

    def _taken(self, ops: Iterable[Op]) -> list[Op]:
        listed = list(ops)
        if self.down and any(isinstance(op, PutOp) and op.value is not None for op in listed):
            raise ConnectionError("the store is down")
        return listed


class GatedStoreUnderTest:
    """A gated store; held items stay in the ledger."""

    def __init__(self, gate: MemoryGate, folder: Path, opened: Opener) -> None:
        self._open = ExitStack()
        folder.mkdir(parents=True, exist_ok=True)
        self.bare = Breakable(opened(self._open, folder))
        self.gate, self.store = gate, GatedStore(self.bare, gate)
        self.projection = self.store.projection

    def recall(self, subject: Subject, query: str) -> list[str]:
        """Through the gated store, and by a reader who goes past the gate."""
        namespace = self.projection.namespaces.namespace_of(subject)
        shown: list[str] = []
        for store in (self.store, self.bare):
            found = store.search(namespace, query=query, limit=100)
            listed = [i for i in store.search((), limit=1000) if tuple(i.namespace) == namespace]
            got = [store.get(item.namespace, item.key) for item in [*found, *listed]]
            shown += [f"{item.key}: {item.value}" for item in [*found, *listed, *got] if item]
        return list(dict.fromkeys(shown))

    def held(self, subject: Subject) -> list[str]:
        return [item.text for item in self.gate.profile(subject).staged()]

    @contextmanager
    def failing(self) -> Iterator[None]:
        self.bare.down = True
        try:
            yield
        finally:
            self.bare.down = False

    def close(self) -> None:
        self._open.close()


Opener = Callable[[ExitStack, Path], BaseStore]


def open_store(folder: Path, gate: MemoryGate) -> GatedStoreUnderTest:
    return GatedStoreUnderTest(gate, folder, in_memory)
