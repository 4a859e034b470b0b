"""The framework stores that the projection suite runs on, and what each has to offer.

An adapter joins in by one entry in `FACTORIES`: a callable that takes an empty folder and a gate
and opens the adapter's projection on the framework itself, with nothing mocked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pytest

from memgate_core import MemoryGate, Subject
from memgate_core.projection import Projection


class StoreUnderTest(Protocol):
    """One framework's store behind a projection, opened for one test."""

    projection: Projection
    """The adapter's projection, not attached to the gate yet."""

    def recall(self, subject: Subject, query: str) -> Sequence[str]:
        """Every text that any of the framework's own read paths shows of a subject: search with
        this query, listings, graph reads; what a user of the bare framework would get."""
        ...

    def held(self, subject: Subject) -> Sequence[str]:
        """Every text that the adapter's staging place holds of a subject."""
        ...

    def failing(self) -> AbstractContextManager[None]:
        """Inside it the framework's store takes no write that recall could show: it raises."""
        ...

    def close(self) -> None:
        """Releases everything."""
        ...


Factory = Callable[[Path, MemoryGate], StoreUnderTest]

FACTORIES: dict[str, tuple[str, str]] = {
    "mem0": ("tests.mem0.conformance_store", "mem0"),
    "graphiti": ("tests.graphiti.conformance_store", "graphiti_core"),
    "graphiti-neo4j": ("tests.graphiti.conformance_neo4j", "graphiti_core"),
    "langgraph": ("tests.langchain.conformance_store", "langgraph"),
    "langgraph-sqlite": ("tests.langchain.conformance_sqlite", "langgraph.store.sqlite"),
    "langgraph-postgres": ("tests.langchain.conformance_postgres", "langgraph.store.postgres"),
}
"""Adapter -> (module with a function `open_store(folder, gate)`, the framework it needs)."""


_SERVERS = {
    "graphiti": pytest.mark.falkordb,
    "graphiti-neo4j": pytest.mark.neo4j,
    "langgraph-postgres": pytest.mark.postgres,
}


def params() -> list[Any]:
    """One pytest parameter an adapter; skipped where adapter or framework is not installed."""
    return [pytest.param(name, marks=_marks(name)) for name in FACTORIES]


def factory(name: str) -> Factory:
    """The named adapter's factory."""
    opened: Factory = import_module(FACTORIES[name][0]).open_store
    return opened


def _marks(name: str) -> tuple[Any, ...]:
    module, framework = FACTORIES[name]
    missing = [m for m in (framework, *_parents(module)) if not _found(m)]
    own = (_SERVERS[name],) if name in _SERVERS else ()
    return (*own, pytest.mark.skip(reason=f"{missing[0]} is not here")) if missing else own


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(2, len(parts) + 1)]


def _found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
