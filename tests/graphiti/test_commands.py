"""The command line on a real graph: `memgate run`, `deliver`, `rebuild` and `revoke`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from graphiti_core.edges import EntityEdge

from memgate_graphiti.groups import prepare
from memgate_graphiti.servers import URI_VARIABLE
from tests.cli.conftest import Run, life, run
from tests.evaluation.conversations import conversation
from tests.graphiti.databases import Database, Falkor, Neo4j

__all__ = ["life", "run"]


@pytest.fixture
def named(database: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """The database, named by one environment variable."""
    if isinstance(database, Falkor):
        monkeypatch.setenv("MEMGATE_GRAPHITI__FOLDER", str(database.server.folder))
    else:
        assert isinstance(database, Neo4j)
        monkeypatch.setenv(URI_VARIABLE, f"bolt://127.0.0.1:{database.line.port}")
    return database


def facts_in(database: Database, group_id: str) -> list[str]:
    async def read() -> list[str]:
        driver = database.driver()
        group = driver.clone(database=group_id)
        found = await EntityEdge.get_by_group_ids(group, [group_id])
        for one in {driver, group}:
            await prepare(one)
        await driver.close()
        return sorted(edge.fact for edge in found)

    return asyncio.run(read())


def test_a_rebuild_a_delivery_and_a_revocation(run: Run, life: Path, named: Database) -> None:
    report = run("rebuild", "--into", "graphiti", "--json").json
    assert (report["current"], report["staged"]) == (2, 2)
    assert facts_in(named, "ana") == ["User lives in Leeds", "User works for Acme"]
    assert run("deliver", "--into", "graphiti").status == 0
    listed = run("facts", "--user", "ana", "--json").json
    leeds = next(fact["fact_id"] for fact in listed if fact["value"] == "Leeds")
    assert run("revoke", leeds, "--by", "Mia", "--into", "graphiti").status == 0
    assert facts_in(named, "ana") == ["User works for Acme"]


def test_a_run_shows_what_a_search_finds(run: Run, tmp_path: Path, named: Database) -> None:
    told = conversation("came_true").model_dump_json(exclude_none=True)
    (tmp_path / "in.jsonl").write_text(told + "\n")
    done = run("run", "--in", "in.jsonl", "--trace", "out.jsonl", "--memory", "graphiti")
    assert done.status == 0, done.err
    *turns, final = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [turn["memory"] for turn in turns[:2]] == [["User lives in Leeds"]] * 2
    assert "User lives in York" in turns[2]["memory"]
    assert any(text.startswith("User lives in Leeds (until ") for text in turns[2]["memory"])
    assert final["final"] == {"answer": "York", "staged_pending": 0}


def test_a_graph_that_is_not_named_is_asked_for(run: Run, life: Path) -> None:
    refused = run("rebuild", "--into", "graphiti")
    assert refused.status == 2
    assert "which graph?" in refused.err
