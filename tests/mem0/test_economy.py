"""What the gate adds to an add call: texts to embed, and calls into Mem0's collections.

The numbers are pinned. Mem0 alone embeds a message once and inserts it once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memgate_mem0 import GatedMemory
from tests.mem0.talk import MemoryTalk
from tests.mem0.test_legacy import stored_before

_CALLS = ("insert", "update", "delete", "get", "search", "list")
_WRITES = {"insert", "update", "delete"}
ALONE = Counter({"main.insert": 1})


@pytest.fixture
def talk(open_in_memory: Callable[[], GatedMemory]) -> MemoryTalk:
    return MemoryTalk(open_in_memory())


class Spent:
    """Texts given to the memory's embedder, and calls into its three collections."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.calls: Counter[str] = Counter()

    @property
    def writes(self) -> Counter[str]:
        return Counter({name: n for name, n in self.calls.items() if name.split(".")[1] in _WRITES})

    @property
    def searches(self) -> int:
        return sum(n for name, n in self.calls.items() if name.endswith(".search"))


@contextmanager
def spending(memory: GatedMemory) -> Iterator[Spent]:
    """Counts what happens inside the block."""
    spent, natives = Spent(), memory.desk.projection.natives
    stores = {"main": natives.main, "staged": natives.staged, "closed": natives.closed}
    embed = memory.embedding_model.embed_batch

    def embedding(texts: Any, *rest: Any) -> Any:
        spent.embedded += list(texts)
        return embed(texts, *rest)

    memory.embedding_model.embed_batch = embedding
    for place, store in stores.items():
        for name in _CALLS:
            setattr(store, name, _counted(getattr(store, name), spent, f"{place}.{name}"))
    try:
        yield spent
    finally:
        del memory.embedding_model.embed_batch
        for store in stores.values():
            for name in _CALLS:
                delattr(store, name)


def _counted(call: Callable[..., Any], spent: Spent, name: str) -> Callable[..., Any]:
    def counted(*args: Any, **kwargs: Any) -> Any:
        spent.calls[name] += 1
        return call(*args, **kwargs)

    return counted


def test_a_fact_costs_what_mem0_alone_costs(talk: MemoryTalk) -> None:
    """One listing of the scope tells that nothing from before the gate can contradict it."""
    with spending(talk.memory) as spent:
        talk.says("I live in Leeds.")
    assert spent.embedded == ["I live in Leeds."]
    assert spent.calls == ALONE + Counter({"main.list": 1})


def test_chatter_costs_nothing_more(talk: MemoryTalk) -> None:
    with spending(talk.memory) as spent:
        talk.says("The tap drips again.")
    assert spent.embedded == ["The tap drips again."]
    assert spent.calls == ALONE


def test_a_fact_that_replaces_one_embeds_nothing_else(talk: MemoryTalk) -> None:
    """The old memory takes its vector with it into the closed collection."""
    talk.says("I live in Leeds.")
    with spending(talk.memory) as spent:
        talk.says("I moved to York.")
    assert spent.embedded == ["I moved to York."]
    assert spent.writes == ALONE + Counter({"closed.insert": 1, "main.delete": 1})
    assert spent.searches == 0


def test_the_vector_that_went_along_is_the_one_that_was_there(talk: MemoryTalk) -> None:
    talk.says("I live in Leeds.")
    talk.says("I moved to York.")
    natives = talk.memory.desk.projection.natives
    ((native_id, _payload),) = natives.rows(natives.closed)
    moved = natives.vector_of(natives.closed, native_id)
    assert moved == pytest.approx(natives.vectors(["I live in Leeds."])[0], abs=1e-6)


def test_a_memory_of_two_facts_is_reworded_in_one_call_of_the_embedder(talk: MemoryTalk) -> None:
    talk.says("I live in Leeds. I work at Acme.")
    with spending(talk.memory) as spent:
        talk.says("I moved to York.")
    assert spent.embedded == ["I moved to York.", "User lives in Leeds", "I work at Acme."]
    assert spent.writes == ALONE + Counter({"closed.insert": 1, "main.update": 1})


def test_a_held_statement_embeds_nothing_in_the_call(talk: MemoryTalk) -> None:
    """Staging needs one vector, and the next delivery makes it."""
    with spending(talk.memory) as spent:
        talk.says("I might move to Seattle.")
    assert spent.embedded == []
    assert spent.calls == Counter()
    with spending(talk.memory) as spent:
        talk.memory.deliver()
    assert len(spent.embedded) == 1
    assert spent.writes == Counter({"staged.insert": 1})


def test_a_promotion_embeds_what_it_writes(talk: MemoryTalk) -> None:
    talk.says("I live in Leeds.")
    talk.says("I might move to Seattle.")
    talk.memory.deliver()
    with spending(talk.memory) as spent:
        talk.says("I have moved to Seattle.")
    assert spent.embedded == ["User lives in Seattle"]
    assert spent.writes == Counter(
        {"main.insert": 1, "staged.delete": 1, "closed.insert": 1, "main.delete": 1}
    )
    assert spent.searches == 0


def test_without_older_memories_a_fact_waits_for_no_delivery(talk: MemoryTalk) -> None:
    talk.says("I live in Leeds.")
    projections = talk.memory.gate.ledger.projections()
    assert projections[talk.memory.desk.name] == 1
    assert talk.all_texts() == ["I live in Leeds."]
    assert talk.memory.gate.ledger.projections()[talk.memory.desk.name] == 0


def test_the_scope_is_listed_once_while_only_the_gate_writes(talk: MemoryTalk) -> None:
    """A listing goes through the whole of an embedded collection."""
    talk.says("I live in Leeds.")
    with spending(talk.memory) as spent:
        talk.says("I work at Acme.")
        talk.says("I moved to York.")
        talk.says("I might move to Seattle.")
        talk.says("I have moved to Seattle.")
        talk.says("I work at Initech.")
    assert spent.calls["main.list"] == 0


def test_a_foreign_memory_in_place_of_one_of_ours_is_seen(talk: MemoryTalk) -> None:
    """One goes and another comes: the number of memories does not change."""
    talk.says("I work at Acme.")
    (row,) = talk.memory.get_all(filters=talk.filters)["results"]
    talk.memory.vector_store.delete(vector_id=row["id"])
    stored_before(talk.memory, "I live in Leeds")
    talk.says("I moved to York.")
    assert talk.shown("Leeds") == []


def test_what_a_failed_call_left_behind_is_seen(talk: MemoryTalk) -> None:
    talk.says("I work at Acme.")
    native, gate = talk.memory.desk.projection.natives, talk.memory.gate
    answered, gate.answered = gate.answered, _down  # type: ignore[method-assign]
    with pytest.raises(ConnectionError):
        talk.says("I live in Leeds.")
    gate.answered = answered  # type: ignore[method-assign]
    assert not native.strangers.has_none(talk.subject)


def test_what_was_written_beside_the_gate_is_still_seen(talk: MemoryTalk) -> None:
    """That a scope had no foreign memory is remembered only while nobody else writes."""
    talk.says("I work at Acme.")
    stored_before(talk.memory, "I live in Leeds")
    with spending(talk.memory) as spent:
        talk.says("I moved to York.")
    assert spent.searches == 0
    assert talk.shown("Leeds") == []
    assert talk.shown("York") == ["I moved to York."]


def test_a_store_that_cannot_list_is_no_reason_to_fail(talk: MemoryTalk) -> None:
    store = talk.memory.vector_store
    store.list = _down
    try:
        entries = talk.says("I live in Leeds.")
    finally:
        del store.list
    assert talk.events(entries) == ["ADD"]
    talk.memory.gate.ledger.retry_now(talk.memory.desk.name)
    assert talk.memory.deliver().failed == 0


def _down(*_args: Any, **_kwargs: Any) -> Any:
    raise ConnectionError("the store is down")
