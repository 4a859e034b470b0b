"""Graphiti on Neo4j in the projection suite (tests/conformance/test_projection.py)."""

from __future__ import annotations

from pathlib import Path

from memgate_core import MemoryGate
from tests.graphiti.conformance_store import GraphStore
from tests.graphiti.databases import opened


def open_store(_folder: Path, gate: MemoryGate) -> GraphStore:
    return GraphStore(opened("neo4j"), gate)
