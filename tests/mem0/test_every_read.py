"""Recall is zero after a revocation, through every read that a gated Mem0 has, by name (article).

Each read is shown to find the words first, where it should; a search that finds nothing proves
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memgate_core.model import StagedStatus
from tests.mem0.talk import DAY, START, MemoryTalk

Read = Callable[[MemoryTalk], Any]


def _ids(ana: MemoryTalk) -> list[str]:
    """Every native id that ever carried something of hers."""
    desk = ana.memory.desk
    links = desk.gate.ledger.links(desk.name, subject=ana.subject)
    return list(dict.fromkeys(link.native_id for link in links))


def _held_ids(ana: MemoryTalk) -> list[str]:
    items = ana.memory.gate.ledger.staged(ana.subject, status=None)
    return [item.staged_id for item in items]


def _ever(ana: MemoryTalk, read: Callable[[Any], Any]) -> list[Any]:
    """The read as of every day of the story."""
    return [read(START + DAY * number) for number in range(12)]


QUERY = "where does the user live, and where did they live or want to live"

FACTS: dict[str, Read] = {
    "get": lambda ana: [ana.memory.get(one) for one in _ids(ana)],
    "get_all": lambda ana: ana.memory.get_all(filters=ana.filters, top_k=100),
    "search": lambda ana: ana.memory.search(QUERY, filters=ana.filters, top_k=100, threshold=0.0),
    "history": lambda ana: [ana.memory.history(one) for one in _ids(ana)],
    "get_all as of any day": lambda ana: _ever(
        ana, lambda day: ana.memory.get_all(filters=ana.filters, top_k=100, as_of=day)
    ),
    "search as of any day": lambda ana: _ever(
        ana,
        lambda day: ana.memory.search(
            QUERY, filters=ana.filters, top_k=100, threshold=0.0, as_of=day
        ),
    ),
    "main collection": lambda ana: _rows(ana, "main"),
}
PAST: dict[str, Read] = {
    name: FACTS[name] for name in ("history", "get_all as of any day", "search as of any day")
} | {"closed collection": lambda ana: _rows(ana, "closed")}
HELD: dict[str, Read] = {
    "staged.get": lambda ana: [ana.memory.staged.get(one) for one in _held_ids(ana)],
    "staged.get_all": lambda ana: ana.memory.staged.get_all(filters=ana.filters, top_k=100),
    "staged.search": lambda ana: ana.memory.staged.search(QUERY, filters=ana.filters, top_k=100),
    "staged collection": lambda ana: _rows(ana, "staged"),
}
EVERY = {**FACTS, **PAST, **HELD}


def _rows(ana: MemoryTalk, collection: str) -> Any:
    natives = ana.memory.desk.projection.natives
    return natives.rows(getattr(natives, collection), ana.filters)


def finding(ana: MemoryTalk, word: str) -> set[str]:
    """Names of the reads that show a word."""
    return {name for name, read in EVERY.items() if word in str(read(ana))}


def fact_id(ana: MemoryTalk) -> str:
    fact = ana.memory.gate.profile("ana").current("home_city")
    assert fact is not None
    return fact.fact_id


@pytest.mark.parametrize("infer", [False, True])
def test_a_revoked_fact_is_found_by_no_read(ana: MemoryTalk, llm: Any, infer: bool) -> None:
    llm.recordings["I live in Leeds"] = ["User lives in Leeds"]
    ana.infer = infer
    ana.says("I live in Leeds.")
    assert finding(ana, "Leeds") == set(FACTS)
    assert ana.memory.gate.revocation.revoke(fact_id(ana), by="Mia").clean
    assert finding(ana, "Leeds") == set()


def test_a_revoked_promotion_is_found_by_no_read(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    assert finding(ana, "Seattle") == set(HELD)
    ana.says("I have moved to Seattle.")
    assert finding(ana, "Seattle") >= set(FACTS)
    (item,) = ana.memory.gate.profile("ana").staged(status=StagedStatus.PROMOTED)
    assert ana.memory.gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert finding(ana, "Seattle") == set()


def test_a_revoked_past_fact_is_found_by_no_read(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    leeds = fact_id(ana)
    ana.says("I moved to York.")
    assert finding(ana, "Leeds") == set(PAST)
    assert ana.memory.gate.revocation.revoke(leeds, by="Mia").clean
    assert finding(ana, "Leeds") == set()
    assert finding(ana, "York") == set(FACTS)


def test_a_revoked_plan_is_found_by_no_read(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    (item,) = ana.memory.gate.profile("ana").staged()
    assert ana.memory.gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert finding(ana, "Seattle") == set()


def test_what_a_revoked_message_brought_is_found_by_no_read(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    ana.says("I moved to York. I might join Initech.", message_id="m2")
    ana.memory.gate.revocation.message(ana.subject, "m2", by="Mia")
    assert finding(ana, "York") == finding(ana, "Initech") == set()
    assert finding(ana, "Leeds") >= {"get", "get_all", "search"}


def test_an_erased_user_is_found_by_no_read(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    ana.says("I moved to York. I might join Initech.")
    assert ana.memory.gate.revocation.erase(ana.subject, by="Mia").clean
    for word in ("Leeds", "York", "Initech"):
        assert finding(ana, word) == set()


def test_a_history_keeps_its_events_and_times(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I live in Leeds.")
    ana.memory.delete(entry["id"])
    rows = ana.memory.history(entry["id"])
    assert [row["event"] for row in rows] == ["ADD", "DELETE"]
    assert all(row["created_at"] or row["updated_at"] for row in rows)
    assert [row["new_memory"] for row in rows] == [None, None]


def test_of_a_memory_with_two_facts_only_the_revoked_words_go(ana: MemoryTalk) -> None:
    (entry,) = ana.says("I work at Acme.")
    ana.memory.update(entry["id"], "I live in Leeds")
    assert finding(ana, "Leeds") >= {"get", "history"}
    ana.memory.gate.revocation.revoke(fact_id(ana), by="Mia")
    assert finding(ana, "Leeds") == set()
