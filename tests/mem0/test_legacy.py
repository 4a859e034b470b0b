"""Memories from before the gate: closed when sure, otherwise left and reported."""

from __future__ import annotations

from memgate_core.model import EvidenceType
from memgate_mem0 import GatedMemory
from tests.mem0.conftest import Open
from tests.mem0.talk import MemoryTalk
from tests.support.scripted import SCRIPT, Line, scripted_gate, state

OLD = {
    "User lives in Leeds": state("home_city", "Leeds"),
    "lives in Hull": state("home_city", "Hull"),
    "works at Acme": state("employer", "Acme"),
    "User thinks about Hull": Line(EvidenceType.SPECULATION, "home_city", "Hull"),
}


def opened(open_memory: Open) -> MemoryTalk:
    return MemoryTalk(open_memory(scripted_gate("sqlite://", {**SCRIPT, **OLD})))


def stored_before(memory: GatedMemory, text: str, user_id: str = "ana") -> str:
    """What ungated Mem0 put there."""
    vector = memory.embedding_model.embed(text, "add")
    return str(memory._create_memory(text, {text: vector}, {"user_id": user_id}))


def test_an_older_memory_of_the_field_is_closed_by_a_promotion(open_memory: Open) -> None:
    ana = opened(open_memory)
    native_id = stored_before(ana.memory, "User lives in Leeds")
    ana.says("I might move to Seattle.")
    ana.says("I have moved to Seattle.")
    assert ana.all_texts() == ["User lives in Seattle"]
    natives = ana.memory.desk.projection.natives
    closed = natives.get(natives.closed, native_id)
    assert closed is not None
    assert closed["valid_to"].startswith(ana.now.date().isoformat())


def test_an_older_memory_of_the_field_is_closed_by_a_plain_statement(open_memory: Open) -> None:
    ana = opened(open_memory)
    stored_before(ana.memory, "User lives in Leeds")
    ana.says("I moved to York.")
    assert ana.all_texts() == ["I moved to York."]


def test_one_that_says_more_is_left_and_reported(open_memory: Open) -> None:
    ana = opened(open_memory)
    stored_before(ana.memory, "User lives in Hull and works at Acme")
    entries = ana.says("I moved to York.")
    (doubt,) = [e for e in entries if e["event"] == "CONFIRM_REPLACE"]
    assert doubt["memory"] == "User lives in Hull and works at Acme"
    assert ana.shown("Hull")


def test_a_doubt_is_told_to_nobody_else(open_memory: Open) -> None:
    ana = opened(open_memory)
    ben = MemoryTalk(ana.memory, "ben")
    stored_before(ana.memory, "User lives in Hull and works at Acme")
    turn = ana.memory.gate.turn("I moved to York.", user_id="ana", occurred_at=ana.now)
    ana.memory.gate.observe(turn, carried=True)
    ana.memory.deliver()
    assert ben.events(ben.says("I moved to York.")) == ["ADD"]
    assert "CONFIRM_REPLACE" in ana.events(ana.says("Thanks a lot."))


def test_what_is_of_another_user_or_field_or_no_fact_is_left(open_memory: Open) -> None:
    ana = opened(open_memory)
    stored_before(ana.memory, "User lives in Leeds", user_id="ben")
    stored_before(ana.memory, "User works at Acme")
    stored_before(ana.memory, "User thinks about Hull")
    entries = ana.says("I moved to York.")
    assert ana.events(entries) == ["ADD"]
    assert len(ana.all_texts()) == 3
    assert MemoryTalk(ana.memory, "ben").all_texts() == ["User lives in Leeds"]


def test_an_unlinked_copy_of_the_old_value_goes_with_it(open_memory: Open) -> None:
    ana = opened(open_memory)
    ana.says("I live in Leeds.")
    (row,) = ana.memory.get_all(filters=ana.filters)["results"]
    ana.memory.vector_store.delete(vector_id=row["id"])
    stored_before(ana.memory, "User lives in Leeds")
    ana.says("I moved to York.")
    assert ana.all_texts() == ["I moved to York."]
