"""Triplets, bulk, wrapping, the hook, held items, older edges, rebuild: on both databases."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodeType
from graphiti_core.utils.bulk_utils import RawEpisode

from memgate_core import MemoryGate
from memgate_core.errors import (
    ConfigurationError,
    InvalidInputError,
    InvalidTurnError,
    NotAllowedError,
    NotFoundError,
    ProjectionError,
)
from memgate_core.model import FactStatus
from memgate_graphiti import (
    EpisodeHook,
    GatedGraphiti,
    RecordedFact,
    RecordedLLM,
    gate_graphiti,
    rebuild,
)
from tests.graphiti.conftest import Open, parts
from tests.graphiti.databases import Database
from tests.graphiti.talk import DAY, START, GraphTalk

PLAN = "I might move to Seattle"
_NOTHING = timedelta(0)


def triplet(
    fact: str, place: str = "Leeds", **rest: Any
) -> tuple[EntityNode, EntityEdge, EntityNode]:
    user = EntityNode(name="user", group_id="ana", labels=[], created_at=START)
    target = EntityNode(name=place, group_id="ana", labels=[], created_at=START, **rest)
    edge = EntityEdge(
        group_id="ana",
        source_node_uuid=user.uuid,
        target_node_uuid=target.uuid,
        name="HOME_CITY",
        fact=fact,
        created_at=START,
    )
    return user, edge, target


async def test_a_triplet_goes_into_its_own_group(ana: GraphTalk) -> None:
    result = await ana.graphiti.add_triplet(*triplet("I live in Leeds"), message_id="t1")
    assert result.ingested
    assert await ana.current() == ["I live in Leeds"]
    assert ana.value() == "Leeds"
    again = await ana.graphiti.add_triplet(*triplet("I live in Leeds"), message_id="t1")
    assert again.replayed
    assert len(await ana.edges()) == 1
    await ana.says("I moved to York", after=DAY)
    assert (await ana.edge("Leeds")).invalid_at == ana.now


async def test_a_held_triplet_writes_nothing_and_a_held_summary_goes(ana: GraphTalk) -> None:
    held = await ana.graphiti.add_triplet(*triplet(PLAN, "Seattle"))
    assert not held.ingested
    assert held.nodes == held.edges == []
    kept = await ana.graphiti.add_triplet(
        *triplet("I live in Leeds", summary=f"{PLAN}. I work at Acme.")
    )
    assert kept.ingested
    assert await ana.shown("Seattle") == []
    assert await ana.shown("Acme")


def raw(*texts: str) -> list[RawEpisode]:
    return [
        RawEpisode(
            name=f"b{number}",
            content=f"user: {text}",
            source_description="chat",
            source=EpisodeType.message,
            reference_time=START + number * DAY,
        )
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize("combined", [True, False])
async def test_bulk_is_judged_in_order(ana: GraphTalk, combined: bool) -> None:
    given = raw("I live in Leeds", PLAN, "I work at Acme. I might join Initech.", "thanks")
    result = await ana.graphiti.add_episode_bulk(
        given, "ana", message_ids=["a", "b", "c", "d"], use_combined_extraction=combined
    )
    assert [episode.name for episode in result.episodes] == ["b0", "b2", "b3"]
    assert await ana.current() == ["User lives in Leeds", "User works at Acme"]
    assert await ana.shown("Seattle") == await ana.shown("Initech") == []
    again = await ana.graphiti.add_episode_bulk(
        given, "ana", message_ids=["a", "b", "c", "d"], use_combined_extraction=combined
    )
    assert again.replayed
    assert len(await ana.episodes()) == 3
    settled = await ana.graphiti.add_episode_bulk(raw("I have moved to Seattle"), "ana")
    assert not settled.ingested
    assert await ana.current() == ["User lives in Seattle", "User works at Acme"]


async def test_bulk_needs_one_id_an_episode(ana: GraphTalk) -> None:
    for ids in (["a"], ["a", "a"]):
        with pytest.raises(InvalidTurnError):
            await ana.graphiti.add_episode_bulk(raw("x", "y"), "ana", message_ids=ids)


async def test_an_existing_graphiti_can_be_gated(
    database: Database, gate: MemoryGate, llm: RecordedLLM
) -> None:
    class Mine(Graphiti):  # type: ignore[misc]
        seen: list[str]

        async def add_episode(self, name: str, episode_body: str, *args: Any, **rest: Any) -> Any:
            self.seen.append(episode_body)
            return await super().add_episode(name, episode_body, *args, **rest)

    existing = Mine(**parts(database, llm))
    existing.seen = []
    gated = gate_graphiti(existing, gate)
    assert isinstance(gated, GatedGraphiti)
    assert isinstance(gated, Mine)
    ana = GraphTalk(gated)
    await ana.says(PLAN)
    await ana.says("I live in Leeds")
    assert existing.seen == ["user: I live in Leeds"]
    assert existing.llm_client is llm
    assert await ana.current() == ["User lives in Leeds"]
    with pytest.raises(ConfigurationError):
        gate_graphiti(gated, gate)
    with pytest.raises(ConfigurationError):
        gate_graphiti("graphiti", gate)  # type: ignore[arg-type]
    await gated.close()


async def test_a_service_of_its_own_uses_the_hook(
    database: Database, gate: MemoryGate, llm: RecordedLLM
) -> None:
    graphiti = Graphiti(**parts(database, llm))
    hook = EpisodeHook(graphiti, gate)

    async def serve(text: str, day: int, message_id: str) -> Any:
        at = START + day * DAY
        episode = await hook.before_episode(
            name=message_id,
            body=f"user: {text}",
            reference_time=at,
            group_id="ana",
            message_id=message_id,
        )
        if episode.body is None:
            return episode
        result = await graphiti.add_episode(
            message_id, episode.body, "chat", at, EpisodeType.message, "ana"
        )
        return await hook.after_episode(episode, result)

    assert await serve("I live in Leeds", 0, "m0") == []
    held = await serve(PLAN, 1, "m1")
    assert "held, not yet a fact" in held.say()
    llm.learn([RecordedFact("user", "LIVES_IN", "Seattle", "User lives in Seattle", "at Acme")])
    refused = await serve("I work at Acme", 2, "m2")
    assert len(refused) == 1
    assert (await serve("I work at Acme", 2, "m2")).done
    await serve("I have moved to Seattle", 3, "m3")
    edges = await EntityEdge.get_by_group_ids(hook.desk.groups.driver("ana"), ["ana"])
    current = sorted(edge.fact for edge in edges if edge.invalid_at is None)
    assert current == ["User lives in Seattle", "User works at Acme"]
    assert not any("Seattle" in edge.fact and edge.invalid_at is not None for edge in edges)
    await hook.close()
    await graphiti.close()


async def test_held_items_are_listed_searched_confirmed_and_discarded(ana: GraphTalk) -> None:
    staged = ana.graphiti.staged
    await ana.says("I live in Leeds")
    await ana.says(PLAN)
    await ana.says("I might join Initech")
    home, job = await staged.list("ana")
    found = await staged.search("a move to Seattle?", "ana")
    assert [item.staged_id for item in found][:1] == [home.staged_id]
    assert await staged.get("nothing") is None
    with pytest.raises(InvalidInputError):
        await staged.search(" ", "ana")
    fact = await staged.confirm(home.staged_id, by="sam", on=ana.now)
    assert fact.native
    assert fact.approved_by == "approver:sam"
    assert await ana.current() == ["User lives in Seattle"]
    await staged.discard(job.staged_id, by="sam")
    assert list(await staged.list("ana")) == list(await staged.search("Initech", "ana")) == []
    with pytest.raises(NotFoundError):
        await staged.confirm("nothing", by="sam")
    with pytest.raises(NotAllowedError):
        await staged.confirm(home.staged_id, by="sam")


async def test_an_older_edge_is_closed_when_it_is_sure(
    ana: GraphTalk, gate: MemoryGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, edge, place = triplet("User lives in Hull", "Hull")
    other = edge.model_copy(update={"uuid": "other", "name": "KNOWS_OF", "fact": "User knows Hull"})
    for node in (user, place):
        await node.generate_name_embedding(ana.graphiti.embedder)
        await node.save(ana.driver())
    for one in (edge, other):
        await one.generate_embedding(ana.graphiti.embedder)
        await one.save(ana.driver())
    projection = ana.graphiti.desk.projection
    monkeypatch.setattr(projection, "_asserted", lambda _subject, text: [("home_city", text[-4:])])
    await ana.says(PLAN)
    await ana.says("I have moved to Seattle")
    assert await ana.current() == ["User knows Hull", "User lives in Seattle"]
    assert next(e for e in await ana.edges() if e.uuid == edge.uuid).invalid_at == ana.now
    assert gate.profile("ana").current("home_city") is not None


async def test_a_rebuild_writes_the_ledgers_state_into_an_empty_graph(
    ana: GraphTalk, open_graph: Open
) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I moved to York")
    await ana.says(PLAN)
    await ana.graphiti.delivered()
    await ana.driver().execute_query("MATCH (n) DETACH DELETE n")
    report = await rebuild(ana.graphiti.desk)
    assert (report.current, report.closed, report.staged) == (1, 1, 1)
    assert await ana.current() == ["User lives in York"]
    assert (await ana.edge("Leeds")).invalid_at == (await ana.edge("York")).valid_at
    again = await rebuild(ana.graphiti.desk)
    assert again.removed == 2
    assert len(await ana.edges()) == 2
    found = await ana.graphiti.staged.search("Seattle", "ana")
    assert len(found) == 1
    await ana.says("I have moved to Seattle")
    assert await ana.current() == ["User lives in Seattle"]


async def test_a_person_of_several_in_a_group(graphiti: GatedGraphiti) -> None:
    team = GraphTalk(graphiti, "team", name="Ana")
    await team.says("I live in Leeds", user_id="Ana", message_id="1")
    await team.hears(f"Ben: {PLAN}")
    await team.hears("Ben: I have moved to Seattle")
    await graphiti.delivered()
    assert "Ben lives in Seattle" in await team.current()
    assert graphiti.gate.profile(graphiti.desk.groups.subject("team", "Ben")).current("home_city")
    erased = await graphiti.erase("team", user_id="Ben", by="sam")
    assert erased.clean, erased.residue
    assert await team.shown("Seattle") == []


async def test_a_delivery_that_would_wait_for_itself_is_refused(ana: GraphTalk) -> None:
    await ana.says(PLAN)
    await ana.graphiti.delivered()
    (event,) = ana.gate.ledger.events()
    with pytest.raises(ProjectionError, match="adeliver"):
        ana.graphiti.desk.projection.apply(event)
    reports = await ana.gate.adeliver()
    assert [report.failed for report in reports] == [0]


async def test_what_another_delivery_ended_meanwhile_is_ended_again(
    ana: GraphTalk, llm: RecordedLLM
) -> None:
    await ana.says("I live in Leeds")
    fact = ana.facts()[0]
    recorded, asked = llm.generate_response, asyncio.Event()

    async def thinking(messages: Any, *args: Any, prompt_name: str = "", **kwargs: Any) -> Any:
        if prompt_name == "dedupe_edges.resolve_edge":
            asked.set()
            await asyncio.sleep(0.5)
        return await recorded(messages, *args, prompt_name=prompt_name, **kwargs)

    llm.generate_response = thinking  # type: ignore[method-assign]
    moving = asyncio.create_task(ana.says("I moved to York"))
    await asyncio.wait_for(asked.wait(), timeout=30)
    await ana.gate.off_loop(_revoke_in_another_process, ana, fact.fact_id)
    await moving
    await ana.graphiti.deliver()
    assert await ana.current() == ["User lives in York"]
    assert not any("Leeds" in edge.fact for edge in await ana.edges())


def _revoke_in_another_process(ana: GraphTalk, fact_id: str) -> None:
    """Only the ledger's side: the graph is told by a delivery that comes later."""
    ledger = ana.gate.ledger
    fact = ledger.fact(fact_id)
    assert fact is not None
    from memgate_core.model import EventType

    gone = fact.model_copy(
        update={"status": FactStatus.REVOKED, "valid_to": ana.now, "closed_at": ana.now}
    )
    with ledger.write(ana.subject) as tx:
        tx.lock([fact.key])
        tx.close_fact(gone)
        tx.append(EventType.REVOKED, occurred_at=ana.now, fact=gone)
