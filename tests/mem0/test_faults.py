"""A fault at any call of Mem0's stores, then a retry with the same message id: as if run once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memgate_core.model import StagedStatus
from memgate_mem0 import GatedMemory
from tests.mem0.conftest import Open
from tests.mem0.talk import MemoryTalk
from tests.support.recorded_llm import RecordedLLM

RECORDINGS = {
    "I live in Leeds": ["User lives in Leeds"],
    "The tap drips": ["User has a dripping tap"],
    "I moved to York": ["User moved to York"],
    "I work at Acme": ["User works at Acme"],
}
STEPS: list[Any] = [
    "I live in Leeds.",
    "I might move to Seattle. The tap drips again.",
    [
        {"role": "user", "content": "I work at Acme."},
        {"role": "user", "content": "I have moved to Seattle."},
    ],
    "I moved to York.",
]
"""A plain add, a held one with a harmless half, a promotion beside a fact, a supersession."""


class Faults:
    """Counts every call into a memory's stores and raises at the chosen one."""

    def __init__(self) -> None:
        self.count, self.raise_at, self.raised = 0, 0, False

    def step(self) -> None:
        self.count += 1
        if self.count == self.raise_at:
            self.raised = True
            raise ConnectionError("injected")

    @contextmanager
    def inside(self, memory: GatedMemory) -> Iterator[None]:
        """While inside, every store call of the memory is counted."""
        natives = memory.desk.projection.natives
        stores = (natives.main, natives.staged, natives.closed)
        names = ("insert", "update", "delete", "get", "search", "list")
        watched = [(store, name) for store in stores for name in names]
        watched += [
            (memory.db, name)
            for name in (
                "add_history",
                "batch_add_history",
                "get_history",
                "save_messages",
                "get_last_messages",
            )
        ]
        watched += [(memory.embedding_model, "embed"), (memory.embedding_model, "embed_batch")]
        watched.append((memory.__dict__["llm"], "generate_response"))
        for owner, name in watched:
            setattr(owner, name, self._counted(getattr(owner, name)))
        try:
            yield
        finally:
            for owner, name in watched:
                delattr(owner, name)

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.step()
            return call(*args, **kwargs)

        return counted


EVERY = pytest.param(1, marks=pytest.mark.slow, id="every-call")
SAMPLE = pytest.param(7, id="every-seventh-call")


@pytest.mark.parametrize("stride", [SAMPLE, EVERY])
@pytest.mark.parametrize("infer", [False, True], ids=["raw", "infer"])
def test_a_fault_at_any_call_ends_as_if_run_once(
    open_in_memory: Callable[[], GatedMemory], infer: bool, stride: int
) -> None:
    undisturbed = _life(open_in_memory(), infer, Faults())
    total = undisturbed.faults.count
    assert total > 40
    for raise_at in range(1, total + 1, stride):
        faults = Faults()
        faults.raise_at = raise_at
        life = _life(open_in_memory(), infer, faults)
        assert faults.raised
        assert life.state() == undisturbed.state(), f"call {raise_at} of {total}"


class _Life:
    def __init__(self, talk: MemoryTalk, faults: Faults) -> None:
        self.talk, self.faults = talk, faults

    def state(self) -> dict[str, Any]:
        """What anybody can see, without ids and clock times that Mem0 mints."""
        memory, talk = self.talk.memory, self.talk
        natives = memory.desk.projection.natives
        ledger = memory.gate.ledger
        rows = {
            name: sorted(str(payload["data"]) for _id, payload in natives.rows(store))
            for name, store in (
                ("main", natives.main),
                ("staged", natives.staged),
                ("closed", natives.closed),
            )
        }
        ids = [row_id for row_id, _payload in natives.rows(natives.main)]
        facts = ledger.facts(talk.subject, include_closed=True, include_pending_native=True)
        return {
            **rows,
            "history": sorted(text for i in ids for text in natives.history_words(i)),
            "messages": talk.raw_messages(),
            "facts": [(f.words, f.value, f.status, f.native, f.valid_from) for f in facts],
            "staged items": [
                (item.text, item.status) for item in ledger.staged(talk.subject, status=None)
            ],
            "links": sorted(
                sorted(link.fact_ids)
                for link in ledger.links(memory.desk.name, subject=talk.subject)
            ),
        }


def _life(memory: GatedMemory, infer: bool, faults: Faults) -> _Life:
    """The steps, one after another; a step that raises is tried again with the same message id."""
    memory.llm = RecordedLLM(RECORDINGS)
    talk = MemoryTalk(memory, infer=infer)
    with faults.inside(memory):
        for number, said in enumerate(STEPS):
            try:
                talk.says(said, message_id=f"m{number}")
            except Exception:
                memory.add(
                    said,
                    user_id=talk.user_id,
                    infer=infer,
                    occurred_at=talk.now,
                    message_id=f"m{number}",
                )
    memory.gate.ledger.retry_now(memory.desk.name)
    assert memory.deliver().failed == 0
    return _Life(talk, faults)


def test_a_promotion_whose_write_fails_is_unreadable_and_says_so(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    store = ana.memory.vector_store
    store.insert = _down
    entries = ana.says("I have moved to Seattle.")
    assert entries[0]["event"] == "PROMOTE"
    assert entries[0]["pending"] is True
    assert ana.shown("Seattle") == []
    (item,) = ana.memory.gate.ledger.staged(ana.subject, status=None)
    assert item.status is StagedStatus.PROMOTING
    del store.insert
    ana.memory.gate.ledger.retry_now(ana.memory.desk.name)
    assert ana.memory.deliver().failed == 0
    assert ana.shown("Seattle") == ["User lives in Seattle"]


def test_a_promotion_that_is_written_but_not_acknowledged_is_not_read(ana: MemoryTalk) -> None:
    ana.says("I might move to Seattle.")
    desk = ana.memory.desk
    ana.memory.gate.observe(
        ana.memory.gate.turn("I have moved to Seattle.", user_id="ana", occurred_at=ana.now),
        carried=True,
    )
    for delivery in desk.gate.ledger.due(desk.name):
        desk.projection.apply(delivery.event)
    (row,) = desk.projection.natives.rows(desk.projection.natives.main)
    assert desk.readable_one({"id": row[0], "memory": row[1]["data"], "metadata": row[1]}) is None


def test_a_crash_after_the_native_write_leaves_one_memory(open_memory: Open) -> None:
    """The process dies between Mem0's insert and the recorded answer; a new one gets the retry."""
    memory = open_memory()
    desk = memory.desk
    desk._record = _down  # type: ignore[method-assign]
    desk.give_up = _nothing  # type: ignore[method-assign]
    with pytest.raises(ConnectionError):
        memory.add("I live in Leeds.", user_id="ana", infer=False, message_id="m1")
    del desk._record, desk.give_up
    natives = desk.projection.natives
    assert len(natives.rows(natives.main)) == 1
    _pretend_another_process(memory)
    memory.add("I live in Leeds.", user_id="ana", infer=False, message_id="m1")
    assert len(natives.rows(natives.main)) == 1
    assert len(memory.gate.ledger.links(desk.name, subject=MemoryTalk(memory).subject)) == 1


def _pretend_another_process(memory: GatedMemory) -> None:
    """The claim in the ledger gets another worker's name, as after a restart."""
    ledger, subject = memory.gate.ledger, MemoryTalk(memory).subject
    with ledger.write(subject) as tx:
        record = tx.turn("m1")
        assert record is not None
        assert record.answer is not None
        part = {**record.answer[memory.desk.name], "by": "host:1:gone"}
        tx.save_answer("m1", {memory.desk.name: part})


def _down(*_args: Any, **_kwargs: Any) -> Any:
    raise ConnectionError("the store is down")


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    return None
