"""Held items for people, reads as of a time, and what no read may show."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memgate_core.errors import InvalidInputError, NotAllowedError, NotFoundError
from memgate_core.model import StagedStatus
from memgate_mem0 import GatedMemory
from memgate_mem0.payloads import PLAN
from tests.mem0.talk import START, MemoryTalk

HOUR = timedelta(hours=1)


def test_held_items_are_listed_as_plans(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.", run_id="r1")
    (row,) = ana.memory.staged.get_all(filters=ana.filters)["results"]
    assert row["memory"].startswith(PLAN)
    assert row["words"] == "I might move to Seattle"
    assert (row["attribute"], row["value"]) == ("home_city", "Seattle")
    assert row["promote_when"]
    assert row["discard_when"]
    assert (row["user_id"], row["run_id"]) == ("ana", "r1")
    assert ana.memory.staged.get_all(filters={**ana.filters, "run_id": "r2"}) == {"results": []}


def test_held_items_are_found_by_meaning(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    ana.says("I might join Initech.")
    found = ana.memory.staged.search("a new employer", filters=ana.filters, top_k=1)["results"]
    assert [row["value"] for row in found] == ["Initech"]
    assert found[0]["memory"].startswith(PLAN)


def test_a_person_confirms_a_held_item(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    (entry,) = ana.says("I might move to Seattle.")
    on = ana.now + 2 * HOUR
    answer = ana.memory.staged.confirm(entry["id"], by="Ana Reyes", on=on)
    assert answer["results"][0]["event"] == "PROMOTE"
    assert ana.all_texts() == ["User lives in Seattle"]
    fact = ana.memory.gate.profile("ana").current("home_city")
    assert fact is not None
    assert (fact.valid_from, fact.approved_by) == (on, "approver:Ana Reyes")
    with pytest.raises(NotAllowedError):
        ana.memory.staged.confirm(entry["id"], by="Ana Reyes")


def test_a_person_discards_a_held_item(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I might move to Seattle.")
    ana.memory.staged.discard(entry["id"], by="Ana Reyes", reason="changed her mind")
    assert ana.held() == []
    row = ana.memory.staged.get(entry["id"])
    assert row is not None
    assert row["status"] == StagedStatus.DISCARDED


def test_nobody_and_nothing_are_refused(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I might move to Seattle.")
    with pytest.raises(InvalidInputError):
        ana.memory.staged.confirm(entry["id"], by=" ")
    with pytest.raises(NotFoundError):
        ana.memory.staged.confirm("unknown", by="Ana")
    with pytest.raises(InvalidInputError):
        ana.memory.staged.get_all(filters={})
    with pytest.raises(InvalidInputError):
        ana.memory.staged.search("x", filters={"topic": "y"})
    with pytest.raises(InvalidInputError):
        ana.memory.staged.search(" ", filters=ana.filters)
    assert ana.memory.staged.get("unknown") is None


def test_another_users_plans_are_not_shown(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    assert ana.memory.staged.get_all(filters={"user_id": "ben"}) == {"results": []}
    assert ana.memory.staged.search("Seattle", filters={"user_id": "ben"}) == {"results": []}


def test_reads_as_of_a_time(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    leeds = ana.now
    ana.says("I might move to Seattle.")
    ana.says("I have moved to Seattle.")
    seattle = ana.now

    def at(when: datetime) -> list[str]:
        listed = ana.memory.get_all(filters=ana.filters, as_of=when)["results"]
        found = ana.memory.search("where is home", filters=ana.filters, as_of=when)["results"]
        assert {row["memory"] for row in listed} == {row["memory"] for row in found}
        return [row["memory"] for row in listed]

    assert at(leeds - HOUR) == []
    assert at(leeds + HOUR) == at(seattle - HOUR) == ["I live in Leeds."]
    assert at(seattle + HOUR) == ["User lives in Seattle"]


def test_chatter_is_as_old_as_its_message(ana: MemoryTalk) -> None:
    ana.says("Thanks a lot.")
    assert ana.memory.get_all(filters=ana.filters, as_of=ana.now - HOUR)["results"] == []
    assert ana.memory.get_all(filters=ana.filters, as_of=ana.now + HOUR)["results"]


def test_a_corrected_value_held_at_no_time(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    then = ana.now + HOUR
    ana.says("it was Hull all along")
    shown = ana.memory.get_all(filters=ana.filters, as_of=then)["results"]
    assert [row["memory"] for row in shown] == ["it was Hull all along"]


def test_a_naive_as_of_is_refused(ana: MemoryTalk) -> None:
    with pytest.raises(InvalidInputError, match="time zone"):
        ana.memory.get_all(filters=ana.filters, as_of=START.replace(tzinfo=None))
    with pytest.raises(InvalidInputError, match="time zone"):
        ana.memory.search("x", filters=ana.filters, as_of=START.replace(tzinfo=None))


def test_reads_without_a_scope_fail_closed(memory: GatedMemory) -> None:
    for read in (memory.get_all, lambda **kw: memory.search("x", **kw)):
        with pytest.raises(ValueError, match="at least one of"):
            read(filters={})
        with pytest.raises(ValueError, match="at least one of"):
            read(filters={}, as_of=START)


def test_what_another_process_revoked_is_gone_at_the_next_read(ana: MemoryTalk) -> None:
    """A ledger write by the CLI: the owning process delivers before it reads."""
    (entry,) = ana.says("I live in Leeds.")
    fact = ana.memory.gate.profile("ana").current("home_city")
    assert fact is not None
    _revoke_elsewhere(ana, fact.fact_id)
    assert ana.memory.get(entry["id"]) is None
    assert ana.all_texts() == []


def test_a_revoked_memory_is_not_read_even_while_the_store_refuses_to_delete_it(
    ana: MemoryTalk,
) -> None:
    (entry,) = ana.says("I live in Leeds.")
    fact = ana.memory.gate.profile("ana").current("home_city")
    assert fact is not None
    store = ana.memory.vector_store
    store.delete = _down
    _revoke_elsewhere(ana, fact.fact_id)
    assert ana.all_texts() == []
    assert ana.memory.get(entry["id"]) is None
    del store.delete


def _down(*_args: object, **_kwargs: object) -> None:
    raise ConnectionError("the store is down")


def _revoke_elsewhere(ana: MemoryTalk, fact_id: str) -> None:
    """Revokes through a gate of its own on the same ledger file, with nothing attached."""
    from tests.support.scripted import scripted_gate

    with scripted_gate(ana.memory.gate.ledger.url) as other:
        other.revocation.revoke(fact_id, by="Operator")
