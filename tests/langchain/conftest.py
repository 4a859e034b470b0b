"""A gate with scripted judges, and LangGraph's own stores, for the LangChain adapter."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, IndexConfig
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from memgate_core import MemoryGate
from memgate_core.model import EvidenceType
from memgate_langchain import GatedStore
from tests.support.postgres import fresh_database
from tests.support.scripted import SCRIPT, Line, event, plan, scripted_gate

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
ANA = ("memories", "ana")

LINES: dict[str, Line] = {
    **SCRIPT,
    "may switch to oat milk": Line(EvidenceType.SPECULATION),
    "my exam may move to Friday": Line(EvidenceType.SPECULATION),
    "I might sell the piano": Line(EvidenceType.SPECULATION),
    "User might sell the piano": Line(EvidenceType.SPECULATION),
    "I sold the piano": Line(EvidenceType.COMPLETED_EVENT),
    "I might visit Oslo": plan("home_city", "Oslo"),
    "I prefer aisle seats": Line(),
    "User prefers aisle seats": Line(),
    "I moved to Bath": event("home_city", "Bath"),
}


class Letters:
    """Embeds a text by its letters: the same text is nearest to itself."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        low = text.lower()
        return [low.count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]


INDEX: IndexConfig = {"dims": 26, "embed": Letters().embed_documents, "fields": ["text"]}


@pytest.fixture
def gate() -> Iterator[MemoryGate]:
    with scripted_gate(script=LINES) as opened:
        yield opened


@pytest.fixture
def made() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def in_memory(made: ExitStack, folder: Path) -> BaseStore:
    return InMemoryStore(index=INDEX)


def sqlite(made: ExitStack, folder: Path) -> BaseStore:
    # vectors in SQLite need a Python that loads extensions
    index: Any = INDEX if hasattr(sqlite3.Connection, "enable_load_extension") else None
    store = made.enter_context(SqliteStore.from_conn_string(str(folder / "store.db"), index=index))
    store.setup()
    return store


def postgres(made: ExitStack, folder: Path) -> BaseStore:
    from langgraph.store.postgres import PostgresStore

    dsn = fresh_database().replace("postgresql+psycopg://", "postgresql://")
    store = made.enter_context(PostgresStore.from_conn_string(dsn))
    store.setup()
    return store


STORES: list[Any] = [
    pytest.param(in_memory, id="memory"),
    pytest.param(sqlite, id="sqlite"),
    pytest.param(postgres, id="postgres", marks=pytest.mark.postgres),
]

Opened = Callable[[ExitStack, Path], BaseStore]


@pytest.fixture(params=STORES)
def bare(request: pytest.FixtureRequest, made: ExitStack, tmp_path: Path) -> BaseStore:
    opened: Opened = request.param
    return opened(made, tmp_path)


@pytest.fixture
def store(bare: BaseStore, gate: MemoryGate) -> GatedStore:
    return GatedStore(bare, gate, clock=lambda: NOW)


@pytest.fixture
def memory_store(gate: MemoryGate) -> GatedStore:
    return GatedStore(InMemoryStore(index=INDEX), gate, clock=lambda: NOW)
