"""The blocks of docs/graphiti.md, run in order and as they stand, on real databases."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from memgate_core import MemoryGate
from memgate_graphiti import PackagedMiniLM, RecordedFact, RecordedLLM
from memgate_graphiti.embedder import VectorReranker
from memgate_graphiti.servers import URI_VARIABLE
from tests.graphiti.databases import Neo4j, opened
from tests.support.docs import blocks

DOC = Path(__file__).parents[2] / "docs" / "graphiti.md"
FACTS = [
    RecordedFact("user", "LIVES_IN", "Leeds", "User lives in Leeds", "I live in Leeds"),
    RecordedFact("user", "WORKS_AT", "Acme", "User works at Acme", "I work at Acme"),
]


async def run(block: str, names: dict[str, Any]) -> None:
    code: CodeType = compile(block, str(DOC), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = eval(code, names)
    if inspect.iscoroutine(done):
        await done


def clients() -> dict[str, Any]:
    embedder = PackagedMiniLM()
    return {
        "llm_client": RecordedLLM(FACTS),
        "embedder": embedder,
        "cross_encoder": VectorReranker(embedder),
    }


@pytest.mark.falkordb
async def test_every_block_but_neo4js_runs(tmp_path: Path) -> None:
    llm, embedder, reranker = clients().values()
    names: dict[str, Any] = {
        "llm": llm,
        "embedder": embedder,
        "reranker": reranker,
        "folder": tmp_path / "graph",
        "ledger_url": f"sqlite:///{tmp_path / 'ledger.db'}",
    }
    found = [block for block in blocks(DOC) if URI_VARIABLE not in block]
    assert len(found) == 5
    for block in found:
        await run(block, names)
    gate: MemoryGate = names["gate"]
    gate.close()


@pytest.mark.neo4j
async def test_neo4js_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = opened("neo4j")
    assert isinstance(database, Neo4j)
    monkeypatch.setenv(URI_VARIABLE, f"bolt://127.0.0.1:{database.line.port}")
    (block,) = [block for block in blocks(DOC) if URI_VARIABLE in block]
    names = {"clients": clients(), "ledger_url": f"sqlite:///{tmp_path / 'ledger.db'}"}
    await run(block, names)
    gate: Any = names["gate"]
    gate.close()
