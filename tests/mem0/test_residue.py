"""Nothing of what was taken back is left, and what Mem0 keeps on the side is named."""

from __future__ import annotations

from memgate_core.model import Event, EventType
from memgate_mem0 import GatedMemory, residue
from tests.mem0.talk import MemoryTalk


def link_entity(memory: GatedMemory, text: str, native_id: str, user_id: str = "ana") -> None:
    """What Mem0's own entity linking does where spaCy is installed."""
    memory._upsert_entity(text, "PROPER", native_id, {"user_id": user_id})


def entities(memory: GatedMemory) -> list[str]:
    rows = memory.desk.projection.natives.entity_rows({"user_id": "ana"})
    return sorted(str(payload["data"]) for _id, payload in rows)


def last(ana: MemoryTalk, kind: EventType) -> Event:
    found = [e for e in ana.memory.gate.ledger.events() if e.event_type is kind]
    return found[-1]


def promoted(ana: MemoryTalk) -> str:
    ana.says("I might move to Seattle.")
    (entry,) = ana.says("I have moved to Seattle.")
    return str(entry["id"])


def test_entity_links_go_with_a_revoked_promotion(ana: MemoryTalk) -> None:
    native_id = promoted(ana)
    (other,) = ana.says("I work at Acme.")
    link_entity(ana.memory, "Seattle", native_id)
    link_entity(ana.memory, "Acme", other["id"])
    link_entity(ana.memory, "Acme", native_id)
    fact = ana.memory.gate.profile("ana").current("home_city")
    assert fact is not None
    report = ana.memory.gate.revocation.revoke(fact.fact_id, by="Ana")
    assert report.clean
    assert entities(ana.memory) == ["Acme"]
    rows = ana.memory.desk.projection.natives.entity_rows({"user_id": "ana"})
    assert rows[0][1]["linked_memory_ids"] == [other["id"]]


def test_entity_links_go_in_a_process_that_never_opened_them(ana: MemoryTalk) -> None:
    """Mem0's own cleaning does nothing there."""
    (entry,) = ana.says("I live in Leeds.")
    link_entity(ana.memory, "Leeds", entry["id"])
    ana.memory._entity_store = None
    ana.memory.delete(entry["id"])
    assert entities(ana.memory) == []


def test_superseded_and_corrected_memories_lose_their_links(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    link_entity(ana.memory, "Leeds", entry["id"])
    ana.says("it was Hull all along")
    assert entities(ana.memory) == []


def test_history_and_raw_messages_are_named_and_can_be_purged(ana: MemoryTalk) -> None:
    ana.memory.db.save_messages([{"role": "user", "content": "x"}], "user_id=ana")
    (entry,) = ana.says("I live in Leeds.")
    ana.memory.db.save_messages([{"role": "user", "content": "I live in Leeds."}], "user_id=ana")
    fact = ana.memory.gate.profile("ana").current("home_city")
    assert fact is not None
    report = ana.memory.gate.revocation.revoke(fact.fact_id, by="Ana")
    places = sorted(place.place for place in report.residue)
    assert len(places) == 2
    assert places[0].startswith("history (Mem0's history table)")
    assert entry["id"] in places[0]
    assert places[1].startswith("raw messages (Mem0's messages table)")
    assert report.clean  # no read shows either
    event = last(ana, EventType.REVOKED)
    projection, ledger = ana.memory.desk.projection, ana.memory.gate.ledger
    purged = residue.purge(projection.natives, ledger, projection.name, event)
    assert purged >= 2
    assert list(projection.residue(event)) == []
    assert ana.raw_messages() == ["x"]


def test_an_erased_user_is_nowhere(ana: MemoryTalk) -> None:
    ben = MemoryTalk(ana.memory, "ben")
    ana.says("I live in Leeds.")
    ana.says("I moved to York.", run_id="r1")
    ana.says("I might see a heart doctor. I might move to Seattle.")
    ana.says("Thanks a lot.")
    ben.says("I live in York.")
    link_entity(ana.memory, "York", "some-memory")
    for key in ("user_id=ana", "run_id=r1&user_id=ana", "user_id=ben"):
        ana.memory.db.save_messages([{"role": "user", "content": f"said in {key}"}], key)
    report = ana.memory.gate.revocation.erase(ana.subject, by="Operator")
    assert report.clean
    assert report.residue == ()
    assert ana.all_texts() == ana.held() == []
    assert ana.raw_messages() == ["said in user_id=ben"]
    assert entities(ana.memory) == []
    rows = ana.memory.db.connection.execute("SELECT new_memory FROM history").fetchall()
    assert rows == [("I live in York.",)]
    assert ben.all_texts() == ["I live in York."]


def test_an_agents_memories_are_not_a_users(memory: GatedMemory) -> None:
    """Erasing agent a1 leaves what user ana said to it: that is ana's."""
    memory.add("I live in Leeds.", agent_id="a1", infer=False)
    memory.add("I live in York.", agent_id="a1", user_id="ana", infer=False)
    agent = next(s for s in memory.gate.ledger.subjects() if s.user_id == "agent:a1")
    assert memory.gate.revocation.erase(agent, by="Operator").clean
    shown = memory.get_all(filters={"agent_id": "a1"})["results"]
    assert [row["memory"] for row in shown] == ["I live in York."]
