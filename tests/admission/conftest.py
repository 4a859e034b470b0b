"""Admission is tested on both databases: a file, and a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memgate_core import MemoryGate
from tests.support.postgres import fresh_database
from tests.support.scripted import scripted_gate
from tests.support.talk import Talk

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DATABASES = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))

OpenGate = Callable[..., MemoryGate]


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty ledger's url."""
    if request.param == "postgres":
        return fresh_database()
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def scripted(url: str) -> Iterator[OpenGate]:
    """Opens gates on one ledger, with judges that follow a script."""
    opened: list[MemoryGate] = []

    def open_gate(**options: Any) -> MemoryGate:
        opened.append(scripted_gate(url, **options))
        return opened[-1]

    yield open_gate
    for gate in opened:
        gate.close()


@pytest.fixture
def gate(scripted: OpenGate) -> MemoryGate:
    """One gate with the usual script."""
    return scripted()


@pytest.fixture
def ana(gate: MemoryGate) -> Talk:
    """Somebody who talks to it."""
    return Talk(gate, "ana", START)
