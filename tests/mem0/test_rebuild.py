"""The ledger's state written anew into a store that lost it, or into another one."""

from __future__ import annotations

from memgate_mem0 import rebuild
from tests.mem0.conftest import Open
from tests.mem0.talk import MemoryTalk


def life(ana: MemoryTalk) -> None:
    ana.says("I live in Leeds.")
    ana.says("I work at Acme.")
    ana.says("I might move to Seattle.")
    ana.says("I have moved to Seattle.")
    ana.says("I might join Initech.")


def test_a_damaged_store_is_made_whole(ana: MemoryTalk) -> None:
    life(ana)
    natives = ana.memory.desk.projection.natives
    for native_id, _payload in natives.rows(natives.main):
        natives.remove(natives.main, native_id)
    report = rebuild(ana.memory.desk)
    assert (report.current, report.closed, report.staged) == (2, 1, 1)
    assert sorted(ana.all_texts()) == ["User lives in Seattle", "User works at Acme"]
    assert [p["data"] for _id, p in natives.rows(natives.closed)] == ["User lives in Leeds"]
    assert len(natives.rows(natives.staged)) == 1


def test_a_rebuild_leaves_what_no_fact_rests_on(ana: MemoryTalk) -> None:
    life(ana)
    ana.says("Thanks a lot.")
    for _ in range(2):
        rebuild(ana.memory.desk)
        assert sorted(ana.all_texts()) == [
            "Thanks a lot.",
            "User lives in Seattle",
            "User works at Acme",
        ]


def test_a_rebuilt_store_goes_on(ana: MemoryTalk) -> None:
    life(ana)
    rebuild(ana.memory.desk)
    ana.says("I moved to York.")
    ana.says("I started at Initech.")
    assert sorted(ana.all_texts()) == ["I moved to York.", "User works at Initech"]
    assert ana.held() == []


def test_a_new_store_gets_what_the_ledger_holds(open_memory: Open) -> None:
    first = MemoryTalk(open_memory(folder="first"))
    life(first)
    other = open_memory(first.memory.gate, folder="second", collection="fresh")
    report = rebuild(other.desk)
    assert report.subjects == 1
    texts = [row["memory"] for row in other.get_all(filters=first.filters)["results"]]
    assert sorted(texts) == ["User lives in Seattle", "User works at Acme"]
    held = other.staged.search("job", filters=first.filters)["results"]
    assert [row["value"] for row in held] == ["Initech"]
