"""Changes that an application makes to stored memories itself: ledger and collections in step."""

from __future__ import annotations

import pytest

from memgate_core.model import FactStatus, StagedStatus
from memgate_mem0 import GatedMemory
from tests.mem0.talk import MemoryTalk
from tests.support.recorded_llm import RecordedLLM


def status_of(ana: MemoryTalk, value: str) -> FactStatus:
    facts = ana.memory.gate.ledger.facts(ana.subject, include_closed=True)
    return next(fact.status for fact in facts if fact.value == value)


def test_a_deleted_memory_revokes_its_fact(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    assert ana.memory.delete(entry["id"]) == {"message": "Memory deleted successfully!"}
    assert ana.all_texts() == []
    assert status_of(ana, "Leeds") is FactStatus.REVOKED
    assert ana.memory.gate.rollout.show().tripped is None


def test_deleting_a_promotion_revokes_it(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    (entry,) = ana.says("I have moved to Seattle.")
    ana.memory.delete(entry["id"])
    assert ana.all_texts() == []
    assert status_of(ana, "Seattle") is FactStatus.REVOKED
    assert ana.held() == []


def test_a_memory_without_a_fact_is_deleted_as_mem0_does(ana: MemoryTalk) -> None:
    (entry,) = ana.says("Thanks a lot.")
    ana.memory.delete(entry["id"])
    rows = ana.memory.history(entry["id"])
    assert [row["event"] for row in rows] == ["ADD", "DELETE"]


def test_a_closed_memory_can_be_deleted(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    ana.says("I moved to York.")
    ana.memory.delete(entry["id"])
    assert status_of(ana, "Leeds") is FactStatus.REVOKED
    natives = ana.memory.desk.projection.natives
    assert natives.rows(natives.closed) == []


def test_an_unknown_memory_is_mem0s_own_error(ana: MemoryTalk) -> None:
    with pytest.raises(ValueError, match="not found"):
        ana.memory.delete("11111111-1111-4111-8111-111111111111")


def test_delete_all_of_a_user_takes_held_and_past_values_too(ana: MemoryTalk) -> None:
    ben = MemoryTalk(ana.memory, "ben")
    ana.says("I live in Leeds.")
    ana.says("I moved to York.")
    ana.says("I might move to Seattle. Thanks a lot.")
    ben.says("I live in York.")
    ana.memory.delete_all(user_id="ana")
    assert ana.all_texts() == []
    assert ana.held() == []
    natives = ana.memory.desk.projection.natives
    assert natives.rows(natives.closed) == natives.rows(natives.staged) == []
    assert status_of(ana, "York") is FactStatus.REVOKED
    statuses = [i.status for i in ana.memory.gate.ledger.staged(ana.subject, status=None)]
    assert statuses == [StagedStatus.REVOKED]
    assert ben.all_texts() == ["I live in York."]


def test_delete_all_of_a_run_leaves_the_users_other_facts(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    ana.says("I work at Acme.", run_id="r1")
    ana.says("I might join Initech.", run_id="r1")
    ana.memory.delete_all(user_id="ana", run_id="r1")
    assert ana.all_texts() == ["I live in Leeds."]
    assert status_of(ana, "Leeds") is FactStatus.CURRENT
    assert status_of(ana, "Acme") is FactStatus.REVOKED
    assert ana.held() == []


def test_delete_all_for_nobody_is_mem0s_own_error(memory: GatedMemory) -> None:
    with pytest.raises(ValueError, match="At least one filter"):
        memory.delete_all()


def test_reset_empties_everything_and_the_memory_goes_on(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    ana.says("I might move to Seattle.")
    ana.memory.reset()
    assert ana.all_texts() == ana.held() == []
    assert status_of(ana, "Leeds") is FactStatus.REVOKED
    ana.says("I live in York.")
    ana.says("I might move to Seattle.")
    assert ana.all_texts() == ["I live in York."]
    assert len(ana.held()) == 1


def test_a_held_update_changes_nothing_and_says_so(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    answer = ana.memory.update(entry["id"], "I might move to Seattle")
    assert "held, not yet a fact" in answer["message"]
    assert answer["results"][0]["event"] == "STAGE"
    assert ana.all_texts() == ["I live in Leeds."]


def test_an_update_supersedes_and_keeps_the_past(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    answer = ana.memory.update(entry["id"], "I moved to York")
    assert answer["message"] == "Memory updated successfully!"
    assert ana.all_texts() == ["I moved to York"]
    assert status_of(ana, "Leeds") is FactStatus.SUPERSEDED
    natives = ana.memory.desk.projection.natives
    assert [p["data"] for _id, p in natives.rows(natives.closed)] == ["I live in Leeds."]


def test_an_update_of_a_promotion_carries_the_new_fact(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    (entry,) = ana.says("I have moved to Seattle.")
    ana.memory.update(entry["id"], "I moved to York")
    assert ana.all_texts() == ["I moved to York"]
    assert ana.memory.get(entry["id"]) is not None


def test_an_update_that_no_longer_says_a_fact_revokes_it(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    ana.memory.update(entry["id"], "Likes the smell of rain.")
    assert status_of(ana, "Leeds") is FactStatus.REVOKED
    assert ana.all_texts() == ["Likes the smell of rain."]


def test_an_update_with_the_old_argument_name_is_judged_too(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    ana.memory.update(entry["id"], data="I might move to Seattle")
    assert ana.all_texts() == ["I live in Leeds."]


def test_a_change_of_metadata_alone_is_mem0s_own(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    ana.memory.update(entry["id"], metadata={"seen": "yes"})
    row = ana.memory.get(entry["id"])
    assert row is not None
    assert row["metadata"] == {"seen": "yes"}


def test_updating_nothing_is_mem0s_own_error(ana: MemoryTalk) -> None:
    with pytest.raises(ValueError, match="not found"):
        ana.memory.update("11111111-1111-4111-8111-111111111111", "I live in York")


def test_a_memory_with_two_facts_keeps_the_words_of_the_current_one(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds and I work at Acme.")
    ana.says("I moved to York.")
    assert sorted(ana.all_texts()) == ["I moved to York.", "I work at Acme."]
    row = ana.memory.get(entry["id"])
    assert row is not None
    natives = ana.memory.desk.projection.natives
    assert [p["data"] for _id, p in natives.rows(natives.closed)] == ["User lives in Leeds"]


def test_revoking_one_of_two_facts_leaves_the_other(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds and I work at Acme.")
    facts = ana.memory.gate.ledger.facts(ana.subject)
    leeds = next(fact for fact in facts if fact.value == "Leeds")
    assert ana.memory.gate.revocation.revoke(leeds.fact_id, by="Ana").clean
    assert ana.all_texts() == ["I work at Acme."]
    assert ana.memory.gate.rollout.show().tripped is None


def test_an_extracted_memory_with_two_facts_keeps_the_current_one(
    memory: GatedMemory, llm: RecordedLLM
) -> None:
    llm.recordings = {"I live in Leeds": ["User lives in Leeds and works at Acme"]}
    ana = MemoryTalk(memory, infer=True)
    ana.says("I live in Leeds and I work at Acme.")
    ana.says("I moved to York.")
    assert not any("Leeds" in text for text in ana.all_texts())
    assert any("Acme" in text for text in ana.all_texts())
