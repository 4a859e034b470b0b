"""The situations of shared/cases that concern Graphiti, through a real graph on both databases."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodeType
from graphiti_core.utils.bulk_utils import RawEpisode

from memgate_core import MemoryGate
from memgate_core.errors import ModelFaultError
from memgate_core.model import EventType, EvidenceType, FactStatus, StagedStatus
from memgate_graphiti import EpisodeHook, GatedGraphiti, HeldError, RecordedFact, RecordedLLM
from tests.graphiti.conftest import Open
from tests.graphiti.talk import DAY, START, GraphTalk
from tests.support.scripted import Line, scripted_gate, state

PLAN = "I might move to Seattle"


async def test_07_another_user_settles_nothing(graphiti: GatedGraphiti) -> None:
    ana, ben = GraphTalk(graphiti, "ana"), GraphTalk(graphiti, "ben")
    await ana.says(PLAN)
    confirmed = await ben.says("I have moved to Seattle")
    assert not any(receipt.resolved for receipt in confirmed.receipts)
    assert await ana.held() == ["lives in Seattle"]
    assert await ana.shown("Seattle") == []
    assert ana.value() is None


async def test_07_nor_does_another_speaker_of_the_same_group(ana: GraphTalk) -> None:
    await ana.says(PLAN)
    await ana.hears("Ben: I have moved to Seattle")
    assert await ana.held() == ["lives in Seattle"]
    assert ana.value() is None


async def test_07_a_read_without_a_scope_finds_nobody_elses(graphiti: GatedGraphiti) -> None:
    ana, ben = GraphTalk(graphiti, "ana"), GraphTalk(graphiti, "ben")
    await ana.says("I live in Leeds")
    await ben.says(PLAN)
    assert await graphiti.search("where does the user live") == []
    assert list(await graphiti.staged.list()) == []
    assert list(await graphiti.staged.search("Seattle")) == []


async def test_08_a_replacement_without_the_word_actually(
    open_graph: Open, tmp_path: Path, llm: RecordedLLM
) -> None:
    script = {
        "I coach the under-9s": state("team", "under-9s"),
        "I've handed the under-9s over, I coach the seniors now": Line(
            EvidenceType.COMPLETED_EVENT, "team", "seniors"
        ),
    }
    gate = scripted_gate(
        f"sqlite:///{tmp_path / 'coach.db'}", script, fields=[_field("team", "coaches {value}")]
    )
    llm.learn(
        [
            _fact("COACHES", "under-9s", "I coach the under-9s", "team"),
            _fact("COACHES", "seniors", "I coach the seniors now", "team"),
        ]
    )
    coach = GraphTalk(open_graph(gate=gate))
    await coach.says("I coach the under-9s")
    first = coach.now
    await coach.says("I've handed the under-9s over, I coach the seniors now", after=30 * DAY)
    old, new = await coach.edge("under-9s"), await coach.edge("seniors")
    assert old.invalid_at == new.valid_at == coach.now
    assert await coach.current() == ["User coaches seniors"]
    as_of = gate.profile("ana").current("team", as_of=first + DAY)
    assert as_of is not None
    assert as_of.value == "under-9s"
    gate.close()


async def test_10_a_replayed_conversation_is_dated_by_its_own_clock(
    open_graph: Open, llm: RecordedLLM, tmp_path: Path
) -> None:
    llm.facts = [_fact("FINISHED", "roof", "We finished the roof yesterday")]
    with MemoryGate.open(f"sqlite:///{tmp_path / 'roof.db'}") as gate:
        roof = GraphTalk(open_graph(gate=gate))
        roof.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        await roof.says("We finished the roof yesterday.")
        (fact,) = roof.facts()
        assert fact.valid_from.date() == datetime(2026, 3, 1, tzinfo=UTC).date()
        (edge,) = await roof.edges()
        assert edge.reference_time == roof.now
        assert edge.valid_at is not None
        assert edge.valid_at.year == 2026
        assert edge.valid_at.month == 3
        await roof.graphiti.delivered()


async def test_11_the_same_turn_twice(ana: GraphTalk, llm: RecordedLLM) -> None:
    first = await ana.says("I live in Leeds", message_id="m1")
    before = len(llm.calls)
    again = await ana.says("I live in Leeds", message_id="m1", after=timedelta(0))
    assert again.replayed
    assert again.episode.uuid == first.episode.uuid
    assert [edge.uuid for edge in again.edges] == [edge.uuid for edge in first.edges]
    assert len(llm.calls) == before
    assert len(await ana.episodes()) == 1


async def test_11_at_the_same_time(ana: GraphTalk) -> None:
    results = await asyncio.gather(
        *(ana.says("I live in Leeds", message_id="m1", after=timedelta(0)) for _ in range(4))
    )
    assert len({result.episode.uuid for result in results}) == 1
    assert sum(not result.replayed for result in results) == 1
    assert len(await ana.episodes()) == 1
    assert len(await ana.edges()) == 1


async def test_13_two_groups_at_once_through_one_client(graphiti: GatedGraphiti) -> None:
    north, south = GraphTalk(graphiti, "north"), GraphTalk(graphiti, "south")
    for talk in (north, south):
        await talk.says("I live in Leeds")
    await asyncio.gather(north.says(PLAN), south.says(PLAN))
    await asyncio.gather(
        north.says("I have moved to Seattle"), south.says("I have moved to Seattle")
    )
    for talk in (north, south):
        assert await talk.current() == ["User lives in Seattle"]
        edges = await talk.edges()
        assert {edge.group_id for edge in edges} == {talk.group_id}
        assert len(edges) == 2


async def test_14_revocation_leaves_no_residue(ana: GraphTalk) -> None:
    await ana.says(PLAN)
    await ana.says("I have moved to Seattle")
    (fact,) = ana.facts()
    revoked = await ana.graphiti.revoke(fact.fact_id, by="sam")
    assert revoked.clean, revoked.residue
    assert await ana.shown("Seattle") == []
    assert await ana.held() == []


async def test_14_nor_does_that_of_words_that_were_ingested(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds. I work at Acme.")
    fact = next(fact for fact in ana.facts() if fact.value == "Leeds")
    revoked = await ana.graphiti.revoke(fact.fact_id, by="sam")
    assert revoked.clean, revoked.residue
    assert await ana.shown("Leeds") == []
    assert await ana.episodes() == ["user: I work at Acme."]
    assert await ana.current() == ["User works at Acme"]


async def test_14_a_removed_episode_takes_back_what_it_said(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    moved = await ana.says("I moved to York")
    await ana.graphiti.remove_episode(moved.episode.uuid)
    await ana.graphiti.delivered()
    assert await ana.shown("York") == []
    assert await ana.current() == ["User lives in Leeds"]
    assert ana.value() == "Leeds"


async def test_14_removing_an_episode_spares_what_a_promotion_needs(ana: GraphTalk) -> None:
    first = await ana.says("I work at Acme")
    await ana.says(PLAN)
    await ana.says("I have moved to Seattle")
    await ana.graphiti.remove_episode(first.episode.uuid, group_id="ana")
    assert await ana.current() == ["User lives in Seattle"]
    assert await ana.shown("Acme") == []
    assert ana.value() == "Seattle"


async def test_15_an_erased_group_is_empty(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says(PLAN)
    await ana.graphiti.delivered()
    erased = await ana.graphiti.erase("ana", by="sam")
    assert erased.clean, erased.residue
    assert await ana.readable() == []


async def test_20_every_write_path_is_gated(graphiti: GatedGraphiti, gate: MemoryGate) -> None:
    ana = GraphTalk(graphiti)
    raw = [
        RawEpisode(
            name=f"b{number}",
            content=f"user: {text}",
            source_description="chat",
            source=EpisodeType.message,
            reference_time=START,
        )
        for number, text in enumerate([PLAN, "I live in Leeds"])
    ]
    bulk = await graphiti.add_episode_bulk(raw, "ana", message_ids=["b0", "b1"])
    assert [episode.name for episode in bulk.episodes] == ["b1"]
    alone = await graphiti.add_episode_bulk(raw[:1], "ana")
    assert not alone.ingested
    user, place, edge = _triplet(PLAN)
    triplet = await graphiti.add_triplet(user, edge, place)
    assert not triplet.ingested
    for write in (
        lambda: graphiti.edges.entity.save(edge),
        lambda: graphiti.edges.entity.save_bulk([edge]),
        lambda: graphiti.nodes.entity.save(user.model_copy(update={"summary": PLAN})),
        lambda: graphiti.nodes.entity.save_bulk([user.model_copy(update={"summary": PLAN})]),
        lambda: graphiti.nodes.episode.save(alone_episode(PLAN)),
        lambda: graphiti.nodes.episode.save_bulk([alone_episode(PLAN)]),
    ):
        with pytest.raises(HeldError) as refused:
            await write()
        assert refused.value.receipts
    hook = EpisodeHook(graphiti, gate)
    episode = await hook.before_episode(
        name="h", body=f"user: {PLAN}", reference_time=START, group_id="ana"
    )
    assert episode.body is None
    await hook.close()
    assert await ana.shown("Seattle") == []
    assert await ana.current() == ["User lives in Leeds"]


async def test_21_a_hold_waits_for_nothing(ana: GraphTalk, llm: RecordedLLM) -> None:
    slow = asyncio.Event()
    recorded = llm.generate_response

    async def stuck(*args: Any, **kwargs: Any) -> Any:
        await slow.wait()
        return await recorded(*args, **kwargs)

    await ana.says("warm", after=timedelta(0))
    llm.generate_response = stuck  # type: ignore[method-assign]
    writing = asyncio.create_task(ana.says("I live in Leeds"))
    await asyncio.sleep(0.2)
    calls = len(llm.calls)
    started = time.monotonic()
    result = await asyncio.wait_for(ana.says(PLAN), timeout=20)
    assert not result.ingested
    assert time.monotonic() - started < 10
    assert len(llm.calls) == calls
    assert not writing.done()
    assert await ana.held() == ["lives in Seattle"]
    slow.set()
    await writing
    await ana.graphiti.delivered()
    assert await ana.current() == ["User lives in Leeds"]


async def test_21_the_event_loop_goes_on(ana: GraphTalk) -> None:
    ticks = 0

    async def ticking() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    clock = asyncio.create_task(ticking())
    await ana.says("I live in Leeds")
    await ana.says(PLAN)
    await ana.says("I have moved to Seattle")
    clock.cancel()
    assert ticks > 20


async def test_22_an_extraction_that_yields_nothing_is_no_promotion(
    open_graph: Open, llm: RecordedLLM
) -> None:
    ana = GraphTalk(open_graph(promote_as="episode"))
    await ana.says(PLAN)
    llm.facts = []
    result = await ana.says("I have moved to Seattle")
    assert result.undelivered == 1
    (item,) = ana.gate.ledger.staged(ana.subject, status=None)
    assert item.status is StagedStatus.PROMOTING
    assert ana.value() is None
    assert await ana.shown("Seattle") == []
    llm.generate_response = _broken  # type: ignore[method-assign]
    ana.gate.ledger.retry_now("graphiti")
    report = await ana.graphiti.deliver()
    assert report.failed == 1
    assert await ana.shown("Seattle") == []
    del llm.generate_response
    llm.facts = [_fact("LIVES_IN", "Seattle", "User lives in Seattle")]
    ana.gate.ledger.retry_now("graphiti")
    assert (await ana.graphiti.deliver()).failed == 0
    assert await ana.current() == ["User lives in Seattle"]
    assert (await ana.edge("Seattle")).valid_at == ana.now
    assert ana.value() == "Seattle"
    promoted = [e for e in ana.gate.ledger.events() if e.event_type is EventType.PROMOTED]
    for _ in range(2):
        await ana.gate.off_loop(ana.graphiti.desk.projection.apply, promoted[0])
    assert len(await ana.edges()) == 1


async def test_a_promotion_through_graphitis_own_ingestion_ends_the_old_edge(
    open_graph: Open, llm: RecordedLLM
) -> None:
    ana = GraphTalk(open_graph(promote_as="episode"))
    await ana.says("I live in Leeds")
    await ana.says(PLAN)
    llm.learn([_fact("LIVES_IN", "Seattle", "User lives in Seattle")])
    result = await ana.says("I have moved to Seattle", after=7 * DAY)
    assert result.undelivered == 0
    assert await ana.current() == ["User lives in Seattle"]
    assert (await ana.edge("Seattle")).valid_at == (await ana.edge("Leeds")).invalid_at == ana.now
    assert await ana.episodes() == ["user: I live in Leeds", "user: User lives in Seattle"]
    assert PLAN not in await ana.readable()


async def test_22_nor_is_a_failed_ingestion_a_fact_in_the_graph(
    ana: GraphTalk, llm: RecordedLLM
) -> None:
    llm.generate_response = _broken  # type: ignore[method-assign]
    with pytest.raises(ModelFaultError):
        await ana.says("I live in Leeds", message_id="m1")
    assert await ana.readable() == []
    assert ana.facts()[0].status is FactStatus.CURRENT


async def _broken(*_args: Any, **_kwargs: Any) -> dict[str, Any]:
    return {"extracted_entities": "no list"}


def _field(attribute: str, phrase: str) -> Any:
    from memgate_core import FieldSpec

    return FieldSpec(attribute=attribute, description="a field of the test", phrase=phrase)


def _fact(relation: str, target: str, words: str, attribute: str | None = None) -> RecordedFact:
    said = {"LIVES_IN": "lives in", "COACHES": "coaches", "FINISHED": "finished the"}[relation]
    return RecordedFact("user", relation, target, f"User {said} {target}", words, attribute)


def _triplet(fact: str) -> tuple[EntityNode, EntityNode, EntityEdge]:
    user = EntityNode(name="user", group_id="ana", labels=[], created_at=START)
    place = EntityNode(name="Seattle", group_id="ana", labels=[], created_at=START)
    edge = EntityEdge(
        group_id="ana",
        source_node_uuid=user.uuid,
        target_node_uuid=place.uuid,
        name="HOME_CITY",
        fact=fact,
        created_at=START,
    )
    return user, place, edge


def alone_episode(text: str) -> Any:
    from graphiti_core.nodes import EpisodicNode

    return EpisodicNode(
        name="alone",
        group_id="ana",
        source=EpisodeType.message,
        source_description="chat",
        content=f"user: {text}",
        valid_at=START,
        created_at=START,
    )
