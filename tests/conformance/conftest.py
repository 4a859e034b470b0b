"""One ledger under test, on each backend in turn; one framework, each adapter in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memgate_core.ledger.sql_ledger import SqlLedger
from tests.conformance.stores import factory, params
from tests.conformance.world import World
from tests.support.clock import Clock
from tests.support.ledgers import EVERY_BACKEND, empty_url, opened
from tests.support.scripted import scripted_gate


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=EVERY_BACKEND)
def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[SqlLedger]:
    with opened(empty_url(request.param, tmp_path), clock=clock, timeout_s=30) as ledger:
        yield ledger


@pytest.fixture(params=params())
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    gate = scripted_gate(f"sqlite:///{tmp_path / 'ledger.db'}")
    store = factory(request.param)(tmp_path / "store", gate)
    gate.attach(store.projection)
    yield World(gate, store)
    store.close()
    gate.close()
