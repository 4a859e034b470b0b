"""Two workers at once: one native write each, and the losers get the winner's answer."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from memgate_core.model import Turn
from memgate_mem0 import GatedMemory
from tests.mem0.talk import START, MemoryTalk
from tests.support.recorded_llm import RecordedLLM


def in_parallel(count: int, call: Any) -> list[Any]:
    """Runs `call` in so many threads that start together."""
    barrier = threading.Barrier(count)

    def one(number: int) -> Any:
        barrier.wait()
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_parallel_adds_of_one_message_write_once(memory: GatedMemory) -> None:
    def add(_number: int) -> Any:
        return memory.add(
            "I live in Leeds.", user_id="ana", infer=False, message_id="m1", occurred_at=START
        )

    answers = in_parallel(4, add)
    assert all(answer == answers[0] for answer in answers)
    assert MemoryTalk(memory).all_texts() == ["I live in Leeds."]


def test_parallel_confirmations_promote_once(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")

    def confirm(_number: int) -> Any:
        return ana.memory.add(
            "I have moved to Seattle.",
            user_id="ana",
            infer=False,
            message_id="done",
            occurred_at=ana.now,
        )

    answers = in_parallel(4, confirm)
    assert {entry["id"] for answer in answers for entry in answer["results"]} == {
        answers[0]["results"][0]["id"]
    }
    assert ana.all_texts() == ["User lives in Seattle"]


def test_confirmations_by_two_messages_promote_once(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")

    def confirm(number: int) -> Any:
        return ana.memory.add(
            "I have moved to Seattle.",
            user_id="ana",
            infer=False,
            message_id=f"done-{number}",
            occurred_at=ana.now,
        )

    in_parallel(2, confirm)
    assert sorted(ana.all_texts()) == ["I have moved to Seattle.", "User lives in Seattle"]
    assert len(ana.memory.gate.ledger.facts(ana.subject)) == 1


def test_a_repetition_that_overtakes_the_promotion(ana: MemoryTalk) -> None:
    """What the confirming call answers with is there, though another message got to Mem0 first."""
    ana.says("I might move to Seattle.")
    confirming = Turn(
        subject=ana.subject,
        message_id="done",
        text="I have moved to Seattle.",
        occurred_at=ana.now,
    )
    ana.memory.gate.observe(confirming, carried=True)  # promoted, and not delivered yet
    ana.memory.add("I have moved to Seattle.", user_id="ana", infer=False, message_id="again")
    ana.memory.gate.deliver()
    assert sorted(ana.all_texts()) == ["I have moved to Seattle.", "User lives in Seattle"]


def test_holding_does_not_wait_for_a_slow_framework(memory: GatedMemory, llm: RecordedLLM) -> None:
    """A native write is under way in the same session; a held sentence returns at once."""
    entered, release = threading.Event(), threading.Event()
    answer = llm.generate_response

    def slow(messages: Any, *rest: Any, **options: Any) -> Any:
        entered.set()
        release.wait(30)
        return answer(messages, *rest, **options)

    llm.generate_response = slow  # type: ignore[method-assign]
    embed = memory.embedding_model.embed
    with ThreadPoolExecutor(1) as pool:
        slow_add = pool.submit(memory.add, "The tap drips again.", user_id="ana", run_id="r1")
        assert entered.wait(20)
        memory.embedding_model.embed = _no_embedding
        started = time.perf_counter()
        held = memory.add("I might move to Seattle.", user_id="ana", run_id="r1")
        took = time.perf_counter() - started
        memory.embedding_model.embed = embed
        assert not slow_add.done()
        release.set()
        slow_add.result(30)
    assert [entry["event"] for entry in held["results"]] == ["STAGE"]
    assert len(llm.prompts) == 1
    assert took < 5  # not the slow call's 30 seconds


def test_two_sessions_at_once_do_not_mix(memory: GatedMemory, llm: RecordedLLM) -> None:
    """Each call's extraction is judged on its own words, though both share one LLM."""
    llm.recordings = {
        "I live in Leeds": ["User lives in Leeds"],
        "I live in York": ["User lives in York"],
    }

    def add(number: int) -> Any:
        who, said = (("ana", "I live in Leeds."), ("ben", "I live in York."))[number]
        return memory.add(said, user_id=who)

    in_parallel(2, add)
    assert MemoryTalk(memory, "ana").all_texts() == ["User lives in Leeds"]
    assert MemoryTalk(memory, "ben").all_texts() == ["User lives in York"]


def _no_embedding(*_args: Any, **_kwargs: Any) -> Any:
    raise AssertionError("holding needs no embedding")
