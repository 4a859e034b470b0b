"""The schema's history: ordered, recorded, each step whole, and equal to the tables in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Inspector, create_engine, inspect, make_url

from memgate_core.errors import LedgerError
from memgate_core.ledger.database import Database
from memgate_core.ledger.migrate import Migration, applied, migrate, migrations
from memgate_core.ledger.open import _backend, open_ledger
from memgate_core.ledger.schema import metadata
from tests.support.ledgers import EVERY_BACKEND, FILE, SHARED_BACKENDS, fresh_url, opened
from tests.support.processes import together


def shape(inspector: Inspector) -> dict[str, Any]:
    """Columns, keys, constraints and indexes of every table."""
    return {table: _table(inspector, table) for table in sorted(inspector.get_table_names())}


def _table(inspector: Inspector, table: str) -> dict[str, Any]:
    return {
        "columns": [
            (c["name"], type(c["type"]).__name__, c["nullable"])
            for c in inspector.get_columns(table)
        ],
        "key": inspector.get_pk_constraint(table)["constrained_columns"],
        "unique": sorted(
            (u["name"], u["column_names"]) for u in inspector.get_unique_constraints(table)
        ),
        "checks": sorted(str(c["name"]) for c in inspector.get_check_constraints(table)),
        "indexes": sorted(
            (str(i["name"]), i["column_names"], bool(i["unique"]), _where(i))
            for i in inspector.get_indexes(table)
        ),
    }


def _where(index: Any) -> list[str]:
    options = index.get("dialect_options", {})
    return [str(text) for name, text in options.items() if name.endswith("_where")]


def database(url: str) -> Database:
    return Database(_backend(make_url(url), 5.0))


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_migrated_equals_fresh(backend: str, tmp_path: Path) -> None:
    (tmp_path / "migrated").mkdir()
    (tmp_path / "fresh").mkdir()
    migrated, fresh = (fresh_url(backend, tmp_path / name) for name in ("migrated", "fresh"))
    open_ledger(migrated).close()
    engine = create_engine(fresh)
    metadata.create_all(engine)
    shapes = []
    for each in (create_engine(migrated), engine):
        shapes.append(shape(inspect(each)))
        each.dispose()
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("backend", EVERY_BACKEND)
def test_steps_are_taken_in_order_and_recorded(backend: str, tmp_path: Path) -> None:
    base = database(fresh_url(backend, tmp_path))
    known = [step.version for step in migrations()]
    assert known == list(range(1, len(known) + 1))
    assert applied(base) == []
    assert migrate(base, upto=1) == [1]
    assert applied(base) == [1]
    assert migrate(base) == known[1:]
    assert migrate(base) == []
    assert applied(base) == known
    base.close()


@pytest.mark.parametrize("backend", EVERY_BACKEND)
def test_a_step_that_fails_leaves_nothing(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = database(fresh_url(backend, tmp_path))
    broken = Migration(1, "broken", "CREATE TABLE half (a BIGINT);\nCREATE TABLE half (a BIGINT);")
    monkeypatch.setattr("memgate_core.ledger.migrate.migrations", lambda: [broken])
    with pytest.raises(LedgerError):
        migrate(base)
    assert applied(base) == []
    with base.reading() as runner:
        assert runner.one(base.backend.table_exists, {"name": "half"}) is None
    base.close()


def test_a_ledger_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    url = fresh_url(FILE, tmp_path)
    with opened(url) as ledger, ledger._database.writing(None) as runner:
        runner.script("INSERT INTO memgate_migration VALUES (99, 'future', 0)")
    with pytest.raises(LedgerError, match="newer"):
        open_ledger(url)


def open_and_close(barrier: Any, url: str) -> bool:
    barrier.wait()
    open_ledger(url, timeout_s=60).close()
    return True


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_processes_may_open_a_new_ledger_at_once(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    assert together(open_and_close, [(url,)] * 4) == [True] * 4
    base = database(url)
    assert applied(base) == [step.version for step in migrations()]
    base.close()
