"""A whole `add` and a whole `add_episode`, the framework's own client asking a real model over HTTP.

A model this small extracts what it likes, so nothing here rests on what it says. Whatever that is:
its server answered every request, the turn came to an end that is told truthfully, the ledger and
the store agree, and the plan in the turn is in no request and in no read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.errors import EmptyResponseError
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
from mem0.exceptions import LLMError
from pydantic import ValidationError

from memgate_core import MemoryGate
from memgate_core.errors import ModelFaultError
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_graphiti import GatedEpisodeResults, GatedGraphiti, RecordedLLM
from memgate_mem0 import embedded_memory
from memgate_mem0.llm_proxy import extracted_memories
from tests.backends import service
from tests.backends.service import Answer, Service
from tests.backends.small_model import SmallModel
from tests.graphiti import test_every_read as graph_reads
from tests.graphiti.conftest import parts
from tests.graphiti.databases import opened
from tests.graphiti.talk import GraphTalk
from tests.mem0 import test_every_read as mem0_reads
from tests.mem0.conftest import shut
from tests.mem0.talk import MemoryTalk
from tests.support import invariants

pytestmark = pytest.mark.slow

SAID = "I live in Leeds. I might move to Seattle. The tap drips again."
GONE_ON = "I live in Leeds. The tap drips again."
AT_ONCE = timedelta(0)
REFUSED = Answer(status=400, body='{"error": {"message": "not now"}}')
"""A refusal that no client repeats on its own."""
MALFORMED = (json.JSONDecodeError, ValidationError, EmptyResponseError)
"""What Graphiti and its client raise for an answer that came and cannot be read."""
_PATIENCE_S = 600.0


@dataclass
class Way:
    """The way to the model: requests are passed on and kept, with their answers."""

    model: SmallModel
    service: Service
    answers: list[httpx.Response] = field(default_factory=list)
    """Of the model's server."""

    def passed_on(self, body: dict[str, Any]) -> Answer:
        answer = httpx.post(f"{self.model.url}/chat/completions", json=body, timeout=_PATIENCE_S)
        self.answers.append(answer)
        return Answer(status=answer.status_code, body=answer.text)

    @property
    def url(self) -> str:
        return self.service.url

    def refuses_once(self) -> None:
        self.service.answers.append(REFUSED)

    def asked(self) -> list[dict[str, Any]]:
        """Every request, the refused ones too."""
        return list(self.service.bodies)

    def said(self) -> list[str]:
        """What the model wrote; fails where its server did not answer."""
        return [
            a.raise_for_status().json()["choices"][0]["message"]["content"] for a in self.answers
        ]


@pytest.fixture
def way(served: SmallModel) -> Iterator[Way]:
    before = served.written()
    with service.running() as passing:
        one = Way(served, passing)
        passing.reply = one.passed_on
        yield one
    assert served.written() > before  # by the server's own count


@pytest.fixture
def ana(way: Way, tmp_path: Path) -> Iterator[MemoryTalk]:
    """Ana and a Mem0 whose model is asked by Mem0's own OpenAI provider."""
    settings = {"model": "m", "api_key": "k", "openai_base_url": way.url, "temperature": 0}
    memory = embedded_memory(tmp_path, llm={"provider": "openai", "config": settings})
    yield MemoryTalk(memory, infer=True)
    shut(memory)


def test_a_whole_add(ana: MemoryTalk, way: Way) -> None:
    way.refuses_once()
    with pytest.raises(LLMError):
        ana.says(SAID, message_id="m1")
    assert ana.all_texts() == []
    assert len(ana.held()) == 1

    entries = ana.says(SAID, message_id="m1", after=AT_ONCE)
    (written,) = way.said()
    agrees(ana, entries, written)
    assert ana.says(SAID, message_id="m1", after=AT_ONCE) == entries
    assert [body["response_format"]["type"] for body in way.asked()] == ["json_object"] * 2

    assert "Leeds" in str(way.asked())
    assert "Seattle" not in str(way.asked())
    assert mem0_reads.finding(ana, "Seattle") == set(mem0_reads.HELD)
    ana.says("I have moved to Seattle.")
    assert mem0_reads.finding(ana, "Seattle") >= set(mem0_reads.FACTS)


def agrees(ana: MemoryTalk, entries: list[dict[str, Any]], written: str) -> None:
    """What the answer says, what Mem0 stored, what the ledger knows and what the model wrote."""
    assert ana.events(entries)[-1] == "STAGE"
    added = {entry["id"]: entry["memory"] for entry in entries if entry["event"] == "ADD"}
    listed = ana.memory.get_all(filters=ana.filters, top_k=100)["results"]
    assert {row["id"]: row["memory"] for row in listed} == added
    _body, found = extracted_memories(written) or ({}, [])
    assert set(added.values()) <= {memory["text"] for memory in found}
    gate = ana.memory.gate
    linked = gate.ledger.links(ana.memory.desk.name, subject=ana.subject)
    assert set(added) <= {link.native_id for link in linked}
    assert [fact.value for fact in gate.ledger.facts(ana.subject) if fact.attribute] == ["Leeds"]
    invariants.check(sql(gate))


@pytest_asyncio.fixture
async def graph_ana(way: Way, tmp_path: Path) -> AsyncIterator[GraphTalk]:
    """Ana and a Graphiti whose model is asked by Graphiti's own client for any such server."""
    config = LLMConfig(api_key="k", model="m", base_url=way.url, temperature=0)
    built_of = {
        **parts(opened("falkordb"), RecordedLLM([])),
        "llm_client": OpenAIGenericClient(config),
    }
    with MemoryGate.open(f"sqlite:///{tmp_path / 'ledger.db'}") as gate:
        graphiti = GatedGraphiti(**built_of, gate=gate)
        yield GraphTalk(graphiti)
        await graphiti.close()


@pytest.mark.falkordb
async def test_a_whole_episode(graph_ana: GraphTalk, way: Way) -> None:
    ana = graph_ana
    way.refuses_once()
    with pytest.raises(ModelFaultError):
        await ana.says(SAID, message_id="m1")
    await left_as_it_was(ana)

    result = await ended(ana)
    assert way.said()
    forms = [body["response_format"]["json_schema"]["name"] for body in way.asked()]
    assert forms[:2] == ["ExtractedEntities"] * 2
    if result is None:
        await left_as_it_was(ana)
    else:
        await carries(ana, result)
        assert (await ana.says(SAID, message_id="m1", after=AT_ONCE)).replayed
        assert len(way.asked()) == len(forms)

    assert "Leeds" in str(way.asked())
    assert "Seattle" not in str(way.asked())
    assert ana.value() == "Leeds"
    invariants.check(sql(ana.gate))
    assert await graph_reads.finding(ana, "Seattle") == {read.__name__ for read in graph_reads.HELD}


async def ended(ana: GraphTalk) -> GatedEpisodeResults | None:
    """The turn's result; None where the model wrote what cannot be read, and the error says so."""
    try:
        return await ana.says(SAID, message_id="m1", after=AT_ONCE)
    except ModelFaultError as fault:
        if isinstance(fault.__cause__, MALFORMED):
            return None
        raise


async def left_as_it_was(ana: GraphTalk) -> None:
    """The turn is recorded, its plan is held, and the graph has nothing of it."""
    assert ana.gate.ledger.turn(ana.subject, "m1") is not None
    assert len(await ana.held()) == 1
    assert await ana.readable() == []


async def carries(ana: GraphTalk, result: GatedEpisodeResults) -> None:
    """The graph has the episode without its plan, and the ledger knows every edge."""
    assert result.ingested
    assert len(result.held) == 1
    assert await ana.episodes() == [f"user: {GONE_ON}"] == [result.episode.content]
    links = ana.gate.ledger.links("graphiti", subject=ana.subject)
    known = " ".join(link.native_id for link in links)
    assert result.episode.uuid in known
    assert all(edge.uuid in known for edge in await ana.edges())


def sql(gate: MemoryGate) -> SqlLedger:
    """The gate's ledger, as what it is."""
    assert isinstance(gate.ledger, SqlLedger)
    return gate.ledger
