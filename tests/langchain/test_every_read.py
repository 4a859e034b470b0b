"""Recall is zero after a revocation, through every read of the LangChain adapter, by name (article).

Each read is shown to find the words first, where it should; a search that finds nothing proves
nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from memgate_core import MemoryGate, Subject
from memgate_core.model import StagedStatus
from memgate_langchain import GatedStore, MemgateMemory, MemgateMiddleware
from tests.langchain.conftest import ANA, NOW
from tests.langchain.scripted_chat import ScriptedChat, says

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Ana:
    """One person whose facts stand in a store, a memory and an agent's briefing."""

    subject = Subject(user_id="ana")

    def __init__(self, gate: MemoryGate, store: GatedStore) -> None:
        self.gate, self.store = gate, store
        self.memory = MemgateMemory(gate=gate, user_id="ana", clock=lambda: NOW)

    def says(self, text: str, key: str) -> None:
        """Put into the store by the application."""
        self.store.put(ANA, key, {"text": text})

    def tells_agent(self, text: str) -> None:
        """Said to an agent: no store carries the words, the gate writes the facts."""
        asked(self, text)

    def fact_id(self) -> str:
        fact = self.gate.profile("ana").current("home_city")
        assert fact is not None
        return fact.fact_id


def asked(ana: Ana, text: str) -> str:
    """What an agent's model was shown when it was asked."""
    model: ScriptedChat = says("I see.")
    middleware = MemgateMiddleware(ana.gate, clock=lambda: NOW)
    running = create_agent(model, [], middleware=[middleware])
    running.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"user_id": "ana"}})
    return model.system()


def keys(ana: Ana) -> list[str]:
    """Every key that ever carried something of hers."""
    name = ana.store.projection.name
    links = ana.gate.ledger.links(name, subject=ana.subject)
    linked = [json.loads(link.native_id)[-1] for link in links]
    return [*linked, "one", "two", "three"]


STORE: dict[str, Callable[[Ana], Any]] = {
    "get": lambda ana: [ana.store.get(ANA, key) for key in keys(ana)],
    "aget": lambda ana: [asyncio.run(ana.store.aget(ANA, key)) for key in keys(ana)],
    "search": lambda ana: ana.store.search(ANA, limit=100),
    "asearch": lambda ana: asyncio.run(ana.store.asearch(ANA, limit=100)),
    "search by meaning": lambda ana: ana.store.search(ANA, query="where I live", limit=100),
    "search of everything": lambda ana: ana.store.search((), limit=1000),
}
SHOWN: dict[str, Callable[[Ana], Any]] = {
    "MemgateMemory": lambda ana: ana.memory.load_memory_variables({}),
    "MemgateMemory, async": lambda ana: asyncio.run(ana.memory.aload_memory_variables({})),
    "MemgateMiddleware's briefing": lambda ana: asked(ana, "What do you know about me?"),
}
OTHER: dict[str, Callable[[Ana], Any]] = {
    "list_namespaces": lambda ana: ana.store.list_namespaces(limit=1000),
    "store.profile": lambda ana: ana.store.profile(ANA).facts(),
}
EVERY = {**STORE, **SHOWN, **OTHER}
FACT_READS = {*STORE, *SHOWN, "store.profile"}


def finding(ana: Ana, word: str) -> set[str]:
    """Names of the reads that show a word."""
    return {name for name, read in EVERY.items() if word in str(read(ana))}


@pytest.fixture
def ana(gate: MemoryGate, memory_store: GatedStore) -> Ana:
    return Ana(gate, memory_store)


def test_a_revoked_fact_is_found_by_no_read(ana: Ana) -> None:
    ana.says("I live in Leeds", "one")
    assert finding(ana, "Leeds") == FACT_READS
    assert ana.gate.revocation.revoke(ana.fact_id(), by="Mia").clean
    assert finding(ana, "Leeds") == set()


def test_a_fact_that_an_agent_heard_is_found_by_no_read_either(ana: Ana) -> None:
    ana.tells_agent("I live in Leeds")
    assert finding(ana, "Leeds") == FACT_READS
    assert ana.gate.revocation.revoke(ana.fact_id(), by="Mia").clean
    assert finding(ana, "Leeds") == set()


def test_a_revoked_promotion_is_found_by_no_read(ana: Ana) -> None:
    ana.says("I might move to Seattle", "one")
    assert finding(ana, "Seattle") == set()
    ana.tells_agent("I have moved to Seattle")
    assert finding(ana, "Seattle") == FACT_READS
    (item,) = ana.gate.profile("ana").staged(status=StagedStatus.PROMOTED)
    assert ana.gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert finding(ana, "Seattle") == set()


def test_a_plan_that_is_offered_is_not_offered_once_revoked(ana: Ana) -> None:
    ana.tells_agent("I might move to Seattle")
    assert "Seattle" in asked(ana, "How might I move to Seattle?")
    (item,) = ana.gate.profile("ana").staged()
    assert ana.gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert "Seattle" not in asked(ana, "And what of my move?")
    assert finding(ana, "Seattle") == set()


def test_a_revoked_past_fact_is_found_by_no_read(ana: Ana) -> None:
    ana.says("I live in Leeds", "one")
    leeds = ana.fact_id()
    ana.says("I moved to York", "two")
    assert ana.gate.revocation.revoke(leeds, by="Mia").clean
    assert finding(ana, "Leeds") == set()
    assert finding(ana, "York") == FACT_READS


def test_an_erased_user_is_found_by_no_read(ana: Ana) -> None:
    ana.says("I live in Leeds", "one")
    ana.says("I moved to York", "two")
    ana.tells_agent("I might join Initech")
    assert ana.gate.revocation.erase(ana.subject, by="Mia").clean
    for word in ("Leeds", "York", "Initech"):
        assert finding(ana, word) == set()
