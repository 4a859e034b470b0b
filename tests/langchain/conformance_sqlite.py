"""`GatedStore` over LangGraph's `SqliteStore` for the projection suite."""

from __future__ import annotations

from pathlib import Path

from memgate_core import MemoryGate
from tests.langchain.conformance_store import GatedStoreUnderTest
from tests.langchain.conftest import sqlite


def open_store(folder: Path, gate: MemoryGate) -> GatedStoreUnderTest:
    return GatedStoreUnderTest(gate, folder, sqlite)
