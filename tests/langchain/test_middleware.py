"""`MemgateMiddleware` in real agents with scripted models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_search_memory_tool

from memgate_core import MemoryGate, Receipt
from memgate_core.errors import InvalidTurnError
from memgate_core.model import StagedStatus
from memgate_langchain import GatedStore, MemgateMiddleware
from tests.langchain.conftest import ANA, NOW
from tests.langchain.scripted_chat import ScriptedChat, calls, says

RUN: Any = {"configurable": {"user_id": "ana", "thread_id": "t1"}}


def agent(model: ScriptedChat, gate: MemoryGate, *tools: Any, **options: Any) -> Any:
    kept = {name: options.pop(name) for name in ("store", "context_schema") if name in options}
    options.setdefault("clock", lambda: NOW)
    middleware = MemgateMiddleware(gate, **options)
    return create_agent(
        model, list(tools), middleware=[middleware], checkpointer=InMemorySaver(), **kept
    )


def ask(running: Any, text: str, config: Any = RUN, **rest: Any) -> dict[str, Any]:
    answer: dict[str, Any] = running.invoke({"messages": [HumanMessage(text)]}, config, **rest)
    return answer


def test_the_profile_goes_into_the_model_call_and_plans_do_not(gate: MemoryGate) -> None:
    model = says("Nice.", "Seattle!", "Leeds it is.")
    running = agent(model, gate, offer=0)
    ask(running, "I live in Leeds.")
    ask(running, "I might move to Seattle.")
    ask(running, "Where do I live?")
    assert "home city: Leeds (since 2026-03-02)" in model.system()
    assert "Seattle" not in model.system()
    assert [item.value for item in gate.profile("ana").staged()] == ["Seattle"]


def test_19_the_model_is_told_the_truth_about_what_it_heard(gate: MemoryGate) -> None:
    model = says("I will keep it in mind.")
    answer = ask(agent(model, gate), "Please remember: my exam may move to Friday")
    assert "held, not yet a fact: " in model.system()
    assert "noted" not in model.system()
    (receipt,) = [Receipt.model_validate(r) for r in answer["memgate_receipts"]]
    assert "held, not yet a fact" in receipt.say()
    assert "saved" not in receipt.say()


def test_the_own_system_prompt_stays_in_front(gate: MemoryGate) -> None:
    model = says("Yes.")
    running = create_agent(
        model, [], system_prompt="Speak plainly.", middleware=[MemgateMiddleware(gate)]
    )
    ask(running, "I live in Leeds.")
    assert model.system().startswith("Speak plainly.")
    assert "home city: Leeds" in model.system()


def test_18_no_tool_promotes_or_discards(gate: MemoryGate) -> None:
    def weather(city: str) -> str:
        """The weather."""
        return city

    model = says("Fine.")
    ask(agent(model, gate, weather), "I might move to Seattle.")
    assert model.tools_seen == ["weather"]


def test_18_a_promotion_whose_native_write_raises_stays_unreadable(gate: MemoryGate) -> None:
    class Failing(InMemoryStore):
        down = False

        def batch(self, ops: Any) -> Any:
            if self.down:
                raise ConnectionError("down")
            return super().batch(ops)

    bare = Failing()
    store = GatedStore(bare, gate, clock=lambda: NOW)
    running = agent(says("Good luck.", "Congratulations!"), gate)
    ask(running, "I might move to Seattle.")
    bare.down = True
    ask(running, "I have moved to Seattle.")
    (item,) = gate.profile("ana").staged(status=None)
    assert item.status is StagedStatus.PROMOTING
    assert gate.profile("ana").facts() == []
    bare.down = False
    gate.ledger.retry_now(store.projection.name)
    store.deliver()
    assert [i.value["text"] for i in store.search(ANA)] == ["User lives in Seattle"]


@pytest.fixture
def judging() -> Iterator[MemoryGate]:
    """A gate with the real local judges."""
    with MemoryGate.open("sqlite://") as opened:
        yield opened


def test_17_bare_assent_settles_only_the_one_plan_that_was_put(judging: MemoryGate) -> None:
    model = says(
        "Nice.",
        "Shall I draft the email to your landlord?",
        "Did you sell the piano in the end?",
        "So you did!",
    )
    running = agent(model, judging)
    ask(running, "I might sell the piano.")
    ask(running, "I'm thinking of joining the choir.")
    ask(running, "OK.")
    assert len(judging.profile("ana").staged()) == 2
    answer = ask(running, "Yes.")
    (receipt,) = [Receipt.model_validate(r) for r in answer["memgate_receipts"]]
    assert [done.text for done in receipt.resolved] == ["sold the piano"]
    assert len(judging.profile("ana").staged()) == 1


def test_05_an_assistants_suggestion_is_no_fact_until_it_was_done(judging: MemoryGate) -> None:
    model = says("You might enjoy the coastal path at Merrow.", "You're welcome.", "Lovely!")
    running = agent(model, judging)
    ask(running, "Any ideas for a walk?")
    ask(running, "Thanks.")
    assert judging.profile("ana").facts() == []
    ask(running, "yes, I walked it on Sunday")
    assert len(judging.profile("ana").facts()) == 1


def test_pending_plans_are_offered_a_few_at_a_time_and_labelled(gate: MemoryGate) -> None:
    model = says("Ok.")
    running = agent(model, gate, offer=1)
    ask(running, "I might move to Seattle.")
    ask(running, "I might visit Oslo.")
    assert "plan, not a fact" not in model.system()  # nothing touches them, no day has come
    ask(running, "Tell me of Seattle and of Oslo.")
    assert model.system().count("plan, not a fact: ") == 1
    assert "only the user's own answer settles it" in model.system()


def test_what_was_just_said_is_not_offered_back(gate: MemoryGate) -> None:
    model = says("Ok.")
    ask(agent(model, gate), "I might move to Seattle.")
    assert "plan, not a fact" not in model.system()


def test_after_the_reply_is_possible_too(gate: MemoryGate) -> None:
    model = says("Nice.", "Hm.")
    running = agent(model, gate, when="after_reply")
    answer = ask(running, "I live in Leeds.")
    assert "Nothing is known" in model.system()
    assert len(answer["memgate_receipts"]) == 1
    ask(running, "Where do I live?")
    assert "home city: Leeds" in model.system()
    assert "noted: I live in Leeds" in model.system()


def test_a_repeated_run_with_the_same_message_is_one_turn(gate: MemoryGate) -> None:
    running = agent(says("Ok."), gate)
    message = HumanMessage("I might move to Seattle.", id="m1")
    for thread in ("t1", "t2"):
        running.invoke(
            {"messages": [message]}, {"configurable": {**RUN["configurable"], "thread_id": thread}}
        )
    (item,) = gate.profile("ana").staged()
    assert item.times_stated == 1


def test_an_agent_that_does_not_know_whose_it_is_reads_and_writes_nothing(gate: MemoryGate) -> None:
    model = says("Hello.")
    with pytest.raises(InvalidTurnError, match="whose memory"):
        ask(agent(model, gate), "I live in Leeds.", {"configurable": {"thread_id": "t1"}})
    assert model.shown == []
    assert gate.ledger.subjects() == []


def test_07_another_user_settles_nothing_and_sees_nothing(gate: MemoryGate) -> None:
    model = says("Ok.")
    running = agent(model, gate)
    ask(running, "I live in Leeds. I might move to Seattle.")
    ben = {"configurable": {"user_id": "ben", "thread_id": "t2"}}
    ask(running, "I have moved to Seattle.", ben)
    assert "Leeds" not in model.system()
    assert [item.status for item in gate.profile("ana").staged()] == [StagedStatus.PENDING]


@dataclass
class Context:
    user_id: str


def test_the_runs_context_says_whose_it_is(gate: MemoryGate) -> None:
    running = agent(says("Ok."), gate, context_schema=Context)
    ask(running, "I live in Leeds.", {"configurable": {"thread_id": "t"}}, context=Context("cleo"))
    assert len(gate.profile("cleo").facts()) == 1


async def test_the_async_way(gate: MemoryGate) -> None:
    model = says("Nice.", "Hm.")
    running = agent(model, gate)
    for text in ("I live in Leeds. I might move to Seattle.", "Where do I live?"):
        await running.ainvoke({"messages": [HumanMessage(text)]}, RUN)
    assert "home city: Leeds" in model.system()
    assert len(gate.profile("ana").staged()) == 1


# --- LangMem's own tools over a gated store ---------------------------------------------------------


def memory_agent(model: ScriptedChat, gate: MemoryGate) -> tuple[Any, GatedStore]:
    store = GatedStore(InMemoryStore(), gate, clock=lambda: NOW)
    namespace = ("memories", "{user_id}")
    tools = [create_manage_memory_tool(namespace), create_search_memory_tool(namespace)]
    return agent(model, gate, *tools, store=store), store


@pytest.mark.parametrize(
    "written",
    ["User might move to Seattle", "User lives in Seattle", "The user's home is Seattle"],
)
def test_a_memory_tools_paraphrase_of_a_plan_is_not_stored(written: str, gate: MemoryGate) -> None:
    model = calls("manage_memory", {"content": written}, then="I will keep that in mind.")
    running, store = memory_agent(model, gate)
    answer = ask(running, "I might move to Seattle.")
    assert store.search(ANA) == []
    tool = next(m for m in answer["messages"] if m.type == "tool")
    assert str(tool.text).startswith("NOT SAVED: ")
    assert [item.value for item in gate.profile("ana").staged()] == ["Seattle"]


def test_a_memory_tools_invention_is_not_stored(gate: MemoryGate) -> None:
    model = calls("manage_memory", {"content": "User owns a kiln in Merrow"}, then="Noted.")
    running, store = memory_agent(model, gate)
    ask(running, "I live in Leeds. I might move to Seattle.")
    assert all("kiln" not in str(item.value) for item in store.search(ANA))


def test_a_memory_tools_paraphrase_of_a_fact_is_stored_once(gate: MemoryGate) -> None:
    model = calls("manage_memory", {"content": "User lives in Leeds"}, then="Noted.")
    running, store = memory_agent(model, gate)
    ask(running, "I live in Leeds.")
    found = [str(item.value) for item in store.search(ANA)]
    assert len(found) == 1
    assert "Leeds" in found[0]


def test_the_search_tool_finds_no_plan(gate: MemoryGate) -> None:
    model = calls("search_memory", {"query": "Seattle"}, then="Nothing there.")
    running, store = memory_agent(model, gate)
    store.put(ANA, "p", {"content": "I might move to Seattle"})
    answer = ask(running, "What do you know of my plans?")
    tool = next(m for m in answer["messages"] if m.type == "tool")
    assert str(tool.text) == "[]"


async def test_the_async_tools(gate: MemoryGate) -> None:
    model = calls("manage_memory", {"content": "User might move to Seattle"}, then="Ok.")
    running, store = memory_agent(model, gate)
    answer = await running.ainvoke({"messages": [HumanMessage("I might move to Seattle.")]}, RUN)
    assert await store.asearch(ANA) == []
    tool = next(m for m in answer["messages"] if m.type == "tool")
    assert str(tool.text).startswith("NOT SAVED: ")
