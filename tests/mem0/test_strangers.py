"""A memory from outside the gate is found, whatever was remembered about there being none.

Each test first lets the gate find that Ana has no such memory, then stores one past it.
"""

from __future__ import annotations

from typing import Any

import pytest

from memgate_mem0 import GatedMemory
from memgate_mem0.strangers import Contents, NoStrangers
from tests.mem0.conftest import Open
from tests.mem0.talk import MemoryTalk
from tests.mem0.test_legacy import OLD, stored_before
from tests.support.scripted import SCRIPT, scripted_gate, state

NEAR = {"I live in Leeds, near the park": state("home_city", "Leeds")}


@pytest.fixture
def ana(open_memory: Open) -> MemoryTalk:
    talk = MemoryTalk(open_memory(scripted_gate("sqlite://", {**SCRIPT, **OLD, **NEAR})))
    talk.says("I work at Acme.")
    assert talk.memory.desk.projection.natives.strangers.has_none(talk.subject)
    return talk


def moved(ana: MemoryTalk) -> list[str]:
    ana.says("I moved to York.")
    return ana.shown("Leeds")


def test_it_is_seen_though_a_closed_memory_came_back_meanwhile(ana: MemoryTalk) -> None:
    """A point that comes again under its id adds none to those that ever were."""
    bob = MemoryTalk(ana.memory, "bob")
    bob.says("I live in Leeds.")
    bob.says("I moved to York.")
    stored_before(ana.memory, "User lives in Leeds")
    (fact,) = ana.memory.gate.ledger.facts(bob.subject)
    ana.memory.gate.revocation.revoke(fact.fact_id, by="dana", reopen=True)
    ana.memory.deliver()
    assert moved(ana) == []


def test_it_is_seen_though_a_write_of_ours_failed(
    ana: MemoryTalk, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = MemoryTalk(ana.memory, "bob")
    bob.says("I might move to Seattle.")
    with monkeypatch.context() as broken:
        broken.setattr(ana.memory.vector_store, "insert", _down)
        bob.says("I have moved to Seattle.")
    stored_before(ana.memory, "User lives in Leeds")
    assert moved(ana) == []


def test_it_is_seen_after_a_reset(ana: MemoryTalk) -> None:
    ana.memory.reset()
    stored_before(ana.memory, "User lives in Leeds")
    assert moved(ana) == []


def test_it_is_seen_in_a_collection_made_anew(ana: MemoryTalk) -> None:
    store = ana.memory.vector_store
    size = store.embedding_model_dims
    store.delete_col()
    store.create_col(size, on_disk=False)
    stored_before(ana.memory, "User lives in Leeds")
    assert moved(ana) == []


def test_it_is_seen_when_it_comes_back_under_its_id(ana: MemoryTalk) -> None:
    """Restored from a copy, say."""
    native_id = stored_before(ana.memory, "User lives in Leeds")
    store = ana.memory.vector_store
    payload = dict(store.get(vector_id=native_id).payload)
    store.delete(vector_id=native_id)
    ana.says("I like tea.")
    vector = ana.memory.embedding_model.embed("User lives in Leeds", "add")
    store.insert(vectors=[vector], ids=[native_id], payloads=[payload])
    assert moved(ana) == []


def test_a_fact_that_holds_again_has_its_memory_again_and_no_other(ana: MemoryTalk) -> None:
    """Its memory was reworded by a later message, and is its memory still."""
    (added,) = ana.says("I live in Leeds.")
    ana.memory.update(added["id"], "I live in Leeds, near the park.", occurred_at=ana.now)
    ana.says("I moved to York.")
    (york,) = (f for f in ana.memory.gate.ledger.facts(ana.subject) if f.value == "York")
    ana.memory.gate.revocation.revoke(york.fact_id, by="dana", reopen=True)
    ana.memory.deliver()
    assert ana.shown("Leeds") == ["I live in Leeds, near the park."]


def test_writes_that_overlap_are_no_proof(memory: GatedMemory) -> None:
    subject, there = MemoryTalk(memory).subject, 0
    collection = object()
    strangers = NoStrangers(lambda: Contents(collection, there, there))

    def know() -> None:
        with strangers.looking(subject) as found_none:
            found_none()
        assert strangers.has_none(subject)

    know()
    with strangers.own_write(1):
        there += 1
    assert strangers.has_none(subject)
    with strangers.own_write(1):
        assert not strangers.has_none(subject)
        there += 1
        with strangers.own_write(1):
            there += 1
    assert not strangers.has_none(subject)
    know()
    with strangers.looking(subject) as found_none, strangers.own_write(0):
        found_none()  # a search beside a write proves nothing new
    with strangers.own_write(1):
        there += 2  # one of them was somebody else's
    assert not strangers.has_none(subject)


def _down(*_args: Any, **_kwargs: Any) -> Any:
    raise ConnectionError("the store is down")
