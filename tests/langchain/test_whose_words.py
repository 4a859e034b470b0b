"""Puts that name what is held: the user's own words stand as judged, a paraphrase is kept back.

Whose words a put is, is told by the application (`writer=`), or shown by a message of the user's
that has them letter for letter. A model's word for it counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from memgate_core import MemoryGate
from memgate_core.model import EvidenceType, StagedStatus, Standing
from memgate_langchain import GatedStore, KeptBack
from tests.langchain.conftest import ANA, LINES, NOW
from tests.langchain.scripted_chat import calls
from tests.langchain.test_middleware import RUN, agent, ask, create_manage_memory_tool
from tests.langchain.test_store import says, texts
from tests.support.scripted import Line, scripted_gate

DAD = "My dad lives in Seattle"
VISITED = "I visited Seattle in 2019"
SCRIPT = {
    **LINES,
    DAD: Line(standing=Standing.OTHER_PERSON),
    VISITED: Line(EvidenceType.COMPLETED_EVENT),
}


@pytest.fixture
def gate() -> Iterator[MemoryGate]:
    with scripted_gate(script=SCRIPT) as opened:
        yield opened


@pytest.fixture
def told() -> list[KeptBack]:
    return []


@pytest.fixture
def store(gate: MemoryGate, told: list[KeptBack]) -> GatedStore:
    return GatedStore(InMemoryStore(), gate, clock=lambda: NOW, on_kept_back=told.append)


def plans(gate: MemoryGate) -> list[tuple[str | None, StagedStatus]]:
    return [(item.value, item.status) for item in gate.profile("ana").staged(status=None)]


HELD = [("Seattle", StagedStatus.PENDING)]


@pytest.mark.parametrize("said", [DAD, VISITED, f"I prefer aisle seats. {VISITED}."])
def test_what_the_user_said_and_the_gate_committed_is_stored(
    said: str, gate: MemoryGate, store: GatedStore
) -> None:
    says(gate, "I might move to Seattle")
    says(gate, said)
    store.put(ANA, "k", {"text": said})
    item = store.get(ANA, "k")
    assert item is not None
    assert item.value == {"text": said}
    assert plans(gate) == HELD
    links = gate.ledger.links(store.projection.name, subject=gate.profile("ana").subject)
    assert any(link.fact_ids for link in links)


def test_what_the_user_said_and_the_gate_held_is_kept_back(
    gate: MemoryGate, store: GatedStore, told: list[KeptBack]
) -> None:
    says(gate, "I live in Leeds. I might move to Seattle.")
    store.put(ANA, "k", {"text": "I live in Leeds. I might move to Seattle."})
    assert texts(store) == ["I live in Leeds."]
    assert [kept.reason for kept in told] == ["held, not yet a fact"]
    assert plans(gate) == HELD


@pytest.mark.parametrize(
    "written",
    [
        "I have moved to Seattle",
        "User lives in Seattle",
        "Ana lives in Seattle",
        "Seattle is home now",
        "My new home is Seattle",
        "My dad says I live in Seattle",
        "My wife and I moved to Seattle",
        "My dad lives in Seattle. So does Ana: Seattle.",
    ],
)
def test_what_nobody_said_is_kept_back(
    written: str, gate: MemoryGate, store: GatedStore, told: list[KeptBack]
) -> None:
    says(gate, "I might move to Seattle")
    store.put(ANA, "k", {"text": written})
    assert store.search(()) == []
    assert [kept.reason for kept in told] == ["rests on held words"]
    assert plans(gate) == HELD
    assert gate.profile("ana").current("home_city") is None


def test_what_is_said_of_a_relative_is_no_word_on_the_users_plan(
    gate: MemoryGate, store: GatedStore, told: list[KeptBack]
) -> None:
    says(gate, "I might move to Seattle")
    store.put(ANA, "k", {"text": DAD})
    assert texts(store) == [DAD]
    assert told == []
    assert plans(gate) == HELD
    assert gate.profile("ana").current("home_city") is None


def test_words_whose_fact_was_taken_back_do_not_come_back(
    gate: MemoryGate, store: GatedStore
) -> None:
    says(gate, "I might move to Seattle")
    (judged,) = says(gate, VISITED).judged
    assert gate.revocation.revoke(judged.fact_id, by="Mia").clean
    store.put(ANA, "k", {"text": VISITED})
    assert store.search(()) == []


def test_the_application_may_say_whose_words_each_put_is(gate: MemoryGate) -> None:
    def writer(op: PutOp) -> str:
        return "user" if op.value and op.value.get("role") == "user" else "model"

    store = GatedStore(InMemoryStore(), gate, writer=writer, clock=lambda: NOW)
    store.put(ANA, "a", {"role": "user", "content": "I might move to Seattle"})
    store.put(ANA, "b", {"role": "assistant", "content": "I have moved to Seattle"})
    assert store.search(()) == []
    assert plans(gate) == HELD
    store.put(ANA, "c", {"role": "user", "content": "I have moved to Seattle"})
    assert plans(gate) == [("Seattle", StagedStatus.PROMOTED)]
    (item,) = store.search(())
    assert item.value["content"] == "User lives in Seattle"


# --- LangMem's tools -------------------------------------------------------------------------------


def memory_agent(written: str, gate: MemoryGate, **options: Any) -> tuple[Any, GatedStore]:
    store = GatedStore(InMemoryStore(), gate, clock=lambda: NOW, **options)
    tool = create_manage_memory_tool(("memories", "{user_id}"))
    model = calls("manage_memory", {"content": written}, then="Noted.")
    return agent(model, gate, tool, store=store), store


@pytest.mark.parametrize("said", [DAD, VISITED])
def test_a_tool_may_keep_the_users_own_words(said: str, gate: MemoryGate) -> None:
    says(gate, "I might move to Seattle")
    running, store = memory_agent(said, gate)
    answer = ask(running, f"{said}.")
    assert [item.value["content"] for item in store.search(ANA)] == [said]
    assert not any(str(m.text).startswith("NOT SAVED") for m in answer["messages"])
    assert plans(gate) == HELD


@pytest.mark.parametrize("writer", ["model", "user"])
@pytest.mark.parametrize(
    "written", ["User lives in Seattle", "I might move to Seattle", "I have moved to Seattle"]
)
def test_a_tool_may_not_make_a_fact_of_a_plan_whoever_the_writer_is_said_to_be(
    written: str, writer: str, gate: MemoryGate
) -> None:
    running, store = memory_agent(written, gate, writer=writer)
    answer = ask(running, "I might move to Seattle.")
    assert store.search(()) == []
    assert any(str(m.text).startswith("NOT SAVED: ") for m in answer["messages"])
    assert plans(gate) == HELD


async def test_likewise_through_the_async_tools(gate: MemoryGate) -> None:
    says(gate, "I might move to Seattle")
    running, store = memory_agent(VISITED, gate)
    await running.ainvoke({"messages": [HumanMessage(f"{VISITED}.")]}, RUN)
    assert [item.value["content"] for item in await store.asearch(ANA)] == [VISITED]
    assert plans(gate) == HELD


def test_a_bare_value_from_a_tool_is_no_way_around(gate: MemoryGate) -> None:
    running, store = memory_agent("Seattle", gate, writer="user")
    ask(running, "I might move to Seattle.")
    assert store.search(()) == []
