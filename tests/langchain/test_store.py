"""`GatedStore` on LangGraph's own stores: what is held is found by no read, all else is theirs."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from memgate_core import MemoryGate
from memgate_core.errors import ConfigurationError, InvalidTurnError
from memgate_core.model import FactStatus, StagedStatus
from memgate_langchain import GatedStore, KeptBack, Namespaces, rebuild
from tests.langchain.conftest import ANA, NOW

BEN = ("memories", "ben")


def says(gate: MemoryGate, text: str, **rest: Any) -> Any:
    return gate.observe(gate.turn(text, user_id="ana", occurred_at=NOW, **rest))


def texts(store: BaseStore, namespace: tuple[str, ...] = ANA) -> list[str]:
    return sorted(str(item.value.get("text")) for item in store.search(namespace, limit=100))


def test_23_a_held_put_is_found_by_no_read(store: GatedStore, bare: BaseStore) -> None:
    put = PutOp(ANA, "k", {"text": "may switch to oat milk"})
    assert store.batch([put]) == [None]
    assert bare.list_namespaces() == store.list_namespaces() == []
    assert store.get(ANA, "k") is None
    assert store.search(ANA) == store.search(ANA, query="oat milk") == store.search(()) == []
    assert bare.search(()) == []
    (item,) = store.profile(ANA).staged()
    assert item.words == "may switch to oat milk"


async def test_23_likewise_through_abatch(memory_store: GatedStore) -> None:
    put = PutOp(ANA, "k", {"text": "may switch to oat milk"})
    assert await memory_store.abatch([put, GetOp(ANA, "k")]) == [None, None]
    assert await memory_store.asearch(ANA, query="oat milk") == []
    assert len(memory_store.profile(ANA).staged()) == 1


def test_results_keep_the_order_of_their_ops(store: GatedStore) -> None:
    store.put(ANA, "seat", {"text": "I prefer aisle seats"})
    results = store.batch(
        [
            PutOp(ANA, "plan", {"text": "I might move to Seattle"}),
            GetOp(ANA, "seat"),
            PutOp(ANA, "city", {"text": "I live in Leeds"}),
            SearchOp(ANA, limit=5),
            PutOp(BEN, "city", {"text": "I live in York"}),
            GetOp(ANA, "plan"),
            ListNamespacesOp(),
        ]
    )
    put_1, seat, put_2, found, put_3, plan, namespaces = results
    assert put_1 is put_2 is put_3 is plan is None
    assert seat.value == {"text": "I prefer aisle seats"}  # type: ignore[union-attr]
    assert [item.key for item in found if item.key == "seat"] == ["seat"]  # type: ignore[union-attr]
    assert ANA in namespaces  # type: ignore[operator]
    assert texts(store) == ["I live in Leeds", "I prefer aisle seats"]
    assert texts(store, BEN) == ["I live in York"]


def test_a_batch_with_nothing_to_hold_is_the_wrapped_stores_own(
    bare: BaseStore, gate: MemoryGate
) -> None:
    passed: list[list[Op]] = []

    class Seen(InMemoryStore):
        def batch(self, ops: Any) -> Any:
            passed.append(list(ops))
            return super().batch(passed[-1])

    ops = [PutOp(ANA, "a", {"text": "I live in Leeds", "n": [1]}, index=["text"]), GetOp(ANA, "b")]
    GatedStore(Seen(), gate, clock=lambda: NOW).batch(ops)
    assert passed[0] == ops
    assert all(mine is given for mine, given in zip(passed[0], ops, strict=True))


def test_a_promotion_is_a_put_with_its_validity_under_the_held_key(
    store: GatedStore, gate: MemoryGate
) -> None:
    store.put(ANA, "home", {"text": "I live in Leeds"})
    store.put(ANA, "plan", {"text": "I might move to Seattle", "source": "chat", "n": 3})
    says(gate, "I have moved to Seattle")
    store.deliver()
    promoted = store.get(ANA, "plan")
    assert promoted is not None
    assert promoted.value["text"] == "User lives in Seattle"
    assert promoted.value["valid_from"] == NOW.isoformat()
    assert promoted.value["valid_to"] is None
    assert (promoted.value["source"], promoted.value["n"]) == ("chat", 3)
    assert store.get(ANA, "home") is None
    assert texts(store) == ["User lives in Seattle"]
    then = store.profile(ANA).history("home_city")
    assert [(f.value, f.status) for f in then] == [
        ("Leeds", FactStatus.SUPERSEDED),
        ("Seattle", FactStatus.CURRENT),
    ]


def test_part_of_a_put_is_kept_back_and_said_to_be(bare: BaseStore, gate: MemoryGate) -> None:
    told: list[KeptBack] = []
    store = GatedStore(bare, gate, clock=lambda: NOW, on_kept_back=told.append)
    store.put(ANA, "k", {"text": "I live in Leeds. I might sell the piano.", "tags": ["x"]})
    item = store.get(ANA, "k")
    assert item is not None
    assert item.value == {"text": "I live in Leeds.", "tags": ["x"]}
    (kept,) = told
    assert kept.reason == "held, not yet a fact"
    assert gate.ledger.staged_item(kept.staged_ids[0]) is not None


def test_nested_values_are_read_to_the_bottom(memory_store: GatedStore) -> None:
    value = {"content": {"notes": ["I live in Leeds", "I might move to Seattle"], "count": 2}}
    memory_store.put(ANA, "k", value)
    item = memory_store.get(ANA, "k")
    assert item is not None
    assert item.value == {"content": {"notes": ["I live in Leeds"], "count": 2}}


def test_a_models_paraphrase_does_not_settle_what_is_held(
    store: GatedStore, gate: MemoryGate
) -> None:
    says(gate, "I might move to Seattle")
    store.put(ANA, "k", {"text": "I have moved to Seattle"})
    store.put(ANA, "bare", {"home_city": "Seattle"})
    assert store.get(ANA, "k") is store.get(ANA, "bare") is None
    (item,) = gate.profile("ana").staged()
    assert item.status is StagedStatus.PENDING


def test_the_users_own_put_may_settle(bare: BaseStore, gate: MemoryGate) -> None:
    store = GatedStore(bare, gate, writer="user", clock=lambda: NOW)
    store.put(ANA, "k", {"text": "I might move to Seattle"})
    store.put(ANA, "done", {"text": "I have moved to Seattle"})
    assert texts(store) == ["User lives in Seattle"]
    assert gate.profile("ana").staged() == []


def test_an_overwritten_or_deleted_fact_is_taken_back(store: GatedStore, gate: MemoryGate) -> None:
    store.put(ANA, "home", {"text": "I live in Leeds"})
    store.put(ANA, "home", {"text": "I prefer aisle seats"})
    assert gate.profile("ana").current("home_city") is None
    store.delete(ANA, "home")
    assert gate.profile("ana").facts() == []
    assert store.search(ANA) == []


def test_an_update_in_place_supersedes(store: GatedStore, gate: MemoryGate) -> None:
    store.put(ANA, "home", {"text": "I live in Leeds"})
    store.put(ANA, "home", {"text": "I moved to York"})
    assert texts(store) == ["I moved to York"]
    values = [(f.value, f.status) for f in gate.profile("ana").history("home_city")]
    assert values == [("Leeds", FactStatus.SUPERSEDED), ("York", FactStatus.CURRENT)]


def test_a_held_put_whose_key_the_application_deletes_is_dropped(
    bare: BaseStore, gate: MemoryGate
) -> None:
    store = GatedStore(bare, gate, writer="user", clock=lambda: NOW)
    store.put(ANA, "k", {"text": "I might move to Seattle"})
    store.delete(ANA, "k")
    assert gate.profile("ana").staged() == []
    (item,) = gate.profile("ana").staged(status=None)
    assert item.status is StagedStatus.DISCARDED


def test_an_item_that_carries_two_facts_keeps_the_one_that_holds(store: GatedStore) -> None:
    store.put(ANA, "k", {"text": "I live in Leeds. I prefer aisle seats."})
    store.put(ANA, "new", {"text": "I moved to York"})
    assert texts(store) == ["I moved to York", "I prefer aisle seats."]


def test_ttl_and_index_options_reach_the_wrapped_store(made: Any, tmp_path: Any, gate: Any) -> None:
    from langgraph.store.sqlite import SqliteStore

    bare = made.enter_context(
        SqliteStore.from_conn_string(str(tmp_path / "s.db"), ttl={"default_ttl": 30})
    )
    bare.setup()
    store = GatedStore(bare, gate, clock=lambda: NOW)
    assert store.supports_ttl
    assert store.ttl_config == bare.ttl_config
    store.put(ANA, "default", {"text": "I live in Leeds"})
    store.put(ANA, "own", {"text": "I prefer aisle seats"}, ttl=5)
    store.put(ANA, "plan", {"text": "I might move to Seattle"}, ttl=7)
    says(gate, "I have moved to Seattle")
    store.deliver()
    with bare._cursor() as cursor:
        cursor.execute("SELECT key, ttl_minutes FROM store ORDER BY key")
        kept = dict(cursor.fetchall())
    assert kept == {"own": 5, "plan": 7}


def test_a_store_without_ttl_says_so_as_ever(memory_store: GatedStore) -> None:
    with pytest.raises(NotImplementedError):
        memory_store.put(ANA, "k", {"text": "I live in Leeds"}, ttl=5)


def test_an_item_that_is_not_indexed_is_not_ranked(memory_store: GatedStore) -> None:
    memory_store.put(ANA, "seen", {"text": "I live in Leeds"})
    memory_store.put(ANA, "unseen", {"text": "I prefer aisle seats"}, index=False)
    ranked = memory_store.search(ANA, query="aisle seats")
    assert {item.key: item.score is not None for item in ranked} == {"seen": True, "unseen": False}


def test_namespaces_are_listed_as_ever(store: GatedStore) -> None:
    store.put(("memories", "ana", "work"), "a", {"text": "I live in Leeds"})
    store.put(BEN, "b", {"text": "I live in York"})
    store.put(("memories", "cleo"), "c", {"text": "I might move to Seattle"})
    assert store.list_namespaces(prefix=("memories",)) == [("memories", "ana", "work"), BEN]
    assert store.list_namespaces(max_depth=2) == [ANA, BEN]


def test_a_namespace_that_is_nobodys_memory_passes(bare: BaseStore, gate: MemoryGate) -> None:
    store = GatedStore(bare, gate, namespaces=Namespaces(ungated=(("docs",),)))
    store.put(("docs", "guide"), "k", {"text": "I might move to Seattle"})
    assert texts(store, ("docs",)) == ["I might move to Seattle"]
    assert gate.ledger.subjects() == []


def test_user_ids_with_dots_have_a_namespace_of_their_own(gate: MemoryGate) -> None:
    store = GatedStore(InMemoryStore(), gate)
    turn = gate.turn("I live in Leeds", user_id="ana@example.com", occurred_at=NOW)
    gate.observe(turn)
    store.deliver()
    namespace = store.namespaces.namespace_of(turn.subject)
    assert store.namespaces.subject_of(namespace) == turn.subject
    assert texts(store, namespace) == ["User lives in Leeds"]


@pytest.mark.parametrize("text", ["a\x00b is here", "lone \ud800 here"])
def test_text_that_cannot_be_judged_stores_nothing(text: str, memory_store: GatedStore) -> None:
    good = PutOp(ANA, "a", {"text": "I live in Leeds"})
    with pytest.raises(InvalidTurnError):
        memory_store.batch([good, PutOp(ANA, "k", {"text": text})])
    assert memory_store.search(ANA) == []


def test_a_store_that_fails_may_be_asked_again(gate: MemoryGate) -> None:
    class Failing(InMemoryStore):
        failed = False

        def batch(self, ops: Any) -> Any:
            if not self.failed:
                self.failed = True
                raise ConnectionError("down")
            return super().batch(ops)

    store = GatedStore(Failing(), gate, clock=lambda: NOW)
    for _ in range(2):
        try:
            store.put(ANA, "k", {"text": "I live in Leeds"})
        except ConnectionError:
            continue
    assert texts(store) == ["I live in Leeds"]
    assert [fact.value for fact in gate.profile("ana").facts()] == ["Leeds"]
    links = gate.ledger.links("langgraph:store", subject=gate.profile("ana").subject)
    assert [len(link.fact_ids) for link in links] == [1]


def test_a_gated_store_is_not_gated_again(memory_store: GatedStore) -> None:
    with pytest.raises(ConfigurationError, match="gated already"):
        GatedStore(memory_store, memory_store.gate)


def test_20_every_public_method_of_langgraphs_store_is_known() -> None:
    """A release of LangGraph that adds a method fails here until somebody looked at it."""
    reads = {"get", "search", "list_namespaces", "aget", "asearch", "alist_namespaces"}
    writes = {"put", "delete", "aput", "adelete"}
    narrow = {"batch", "abatch"}
    public = {
        name for name, member in inspect.getmembers(BaseStore, callable) if not name.startswith("_")
    }
    assert public == reads | writes | narrow
    assert {name for name in narrow if name in vars(GatedStore)} == narrow
    assert not writes & set(vars(GatedStore))


@pytest.mark.parametrize(
    "write",
    [
        lambda s: s.put(ANA, "k", {"text": "I might move to Seattle"}),
        lambda s: s.batch([PutOp(ANA, "k", {"text": "I might move to Seattle"})]),
        lambda s: s.aput(ANA, "k", {"text": "I might move to Seattle"}),
        lambda s: s.abatch([PutOp(ANA, "k", {"text": "I might move to Seattle"})]),
    ],
    ids=["put", "batch", "aput", "abatch"],
)
async def test_20_every_way_of_writing_is_gated(write: Any, memory_store: GatedStore) -> None:
    done = write(memory_store)
    if inspect.isawaitable(done):
        await done
    assert memory_store.search(()) == []
    assert len(memory_store.profile(ANA).staged()) == 1


def test_ways_of_concrete_stores_that_nobody_looked_at_are_not_offered(
    memory_store: GatedStore,
) -> None:
    assert memory_store.index_config is memory_store.store.index_config  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        memory_store._data  # noqa: B018
    with pytest.raises(AttributeError):
        memory_store.bulk_write  # type: ignore[attr-defined]  # noqa: B018


def test_rebuild_writes_the_ledgers_state(gate: MemoryGate) -> None:
    store = GatedStore(InMemoryStore(), gate, clock=lambda: NOW)
    store.put(ANA, "home", {"text": "I live in Leeds"})
    store.put(ANA, "plan", {"text": "I might move to Seattle"})
    store.store.delete(ANA, "home")  # lost behind the gate's back
    report = rebuild(store)
    assert (report.removed, report.current) == (1, 1)
    assert texts(store) == ["User lives in Leeds"]
    assert rebuild(store).current == 1
    assert len(store.search(ANA)) == 1


def test_in_shadow_mode_puts_pass_unchanged(memory_store: GatedStore, gate: MemoryGate) -> None:
    gate.rollout.set("shadow", by="olga")
    memory_store.put(ANA, "k", {"text": "I might move to Seattle"})
    assert texts(memory_store) == ["I might move to Seattle"]
    assert gate.profile("ana").staged() == []


def test_deleting_does_not_stop_commits_for_fear_of_residue(store: GatedStore, gate: Any) -> None:
    store.put(ANA, "home", {"text": "I live in Leeds"})
    store.put(ANA, "dad", {"text": "my dad also lives in Leeds"})
    store.delete(ANA, "home")
    assert gate.rollout.show().tripped is None
    assert texts(store) == ["my dad also lives in Leeds"]
