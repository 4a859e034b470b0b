"""`add_episode` behind the gate, on both databases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graphiti_core.graphiti import AddEpisodeResults
from graphiti_core.nodes import EpisodeType, EpisodicNode

from memgate_core.errors import InvalidTurnError, ProtocolConflictError
from memgate_core.model import DecisionType, StagedStatus
from memgate_graphiti import GatedGraphiti, RecordedFact, RecordedLLM
from tests.graphiti.talk import DAY, START, GraphTalk


async def test_a_fact_goes_through_and_is_linked(ana: GraphTalk) -> None:
    result = await ana.says("I live in Leeds")
    assert isinstance(result, AddEpisodeResults)
    assert result.ingested
    assert result.episode.content == "user: I live in Leeds"
    assert await ana.current() == ["User lives in Leeds"]
    assert ana.value() == "Leeds"
    (fact,) = ana.facts()
    links = ana.gate.ledger.links("graphiti", fact_id=fact.fact_id)
    assert {link.native_id.split("/")[1].split(".")[0] for link in links} == {"edge", "episode"}


async def test_a_whole_plan_is_not_ingested_and_says_so(ana: GraphTalk, llm: RecordedLLM) -> None:
    await ana.says("I live in Leeds")
    llm.calls.clear()
    result = await ana.says("I might move to Seattle")
    assert not result.ingested
    assert result.episode.content == ""
    assert result.edges == result.nodes == []
    assert "held, not yet a fact" in result.say()
    assert len(result.held) == 1
    assert llm.calls == []
    assert await ana.shown("Seattle") == []
    assert await ana.held() == ["lives in Seattle"]


async def test_only_the_held_words_leave_the_body(ana: GraphTalk) -> None:
    result = await ana.says("I work at Acme. I might move to Seattle.")
    assert result.ingested
    assert "Seattle" not in result.episode.content
    assert await ana.current() == ["User works at Acme"]
    assert await ana.shown("Seattle") == []


async def test_a_promotion_is_an_edge_dated_by_the_event(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I might move to Seattle")
    result = await ana.says("I have moved to Seattle", after=7 * DAY)
    assert not result.ingested
    assert result.undelivered == 0
    assert await ana.current() == ["User lives in Seattle"]
    new, old = await ana.edge("Seattle"), await ana.edge("Leeds")
    assert new.valid_at == ana.now
    assert old.invalid_at == ana.now
    assert old.expired_at is not None
    assert new.attributes["memgate_value"] == "Seattle"
    assert new.source_node_uuid == old.source_node_uuid
    assert ana.value() == "Seattle"
    assert await ana.held() == []


async def test_what_is_told_again_after_a_move_back_is_current_again(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("I moved to York")
    assert await ana.current() == ["User lives in York"]
    await ana.says("I moved to Leeds")
    assert await ana.current() == ["User lives in Leeds"]


async def test_a_correction_leaves_no_wrong_edge(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds")
    await ana.says("it was Hull all along")
    assert await ana.current() == ["User lives in Hull"]
    assert [edge.fact for edge in await ana.edges()] == ["User lives in Hull"]
    nodes = await ana.graphiti.search_("where", group_ids=["ana"])
    assert not any("Leeds" in node.summary for node in nodes.nodes)


async def test_a_discarded_plan_leaves_nothing(ana: GraphTalk) -> None:
    await ana.says("I might move to Seattle")
    await ana.says("that move is off")
    await ana.graphiti.delivered()
    assert await ana.shown("Seattle") == []
    assert await ana.held() == []
    (item,) = ana.gate.ledger.staged(ana.subject, status=None)
    assert item.status is StagedStatus.DISCARDED


async def test_each_line_is_a_turn_of_its_speaker(ana: GraphTalk) -> None:
    result = await ana.hears(
        "Ben: I might move to Seattle\nuser: I live in Leeds\nassistant: Seattle is lovely"
    )
    ben, user, assistant = result.receipts
    assert ben.subject.actor == "Ben"
    assert user.subject.actor is None
    assert assistant.judged[0].decision.decision is not DecisionType.COMMIT
    assert "I might move" not in result.episode.content
    assert await ana.current() == ["User lives in Leeds"]
    assert await ana.graphiti.staged.list("ana") == []
    assert len(await ana.graphiti.staged.list("ana", user_id="Ben")) == 1


async def test_a_tools_words_are_not_ingested(ana: GraphTalk) -> None:
    result = await ana.hears("tool: I live in Leeds")
    assert not result.ingested
    assert await ana.edges() == []
    assert ana.value() is None


async def test_text_and_json_episodes(ana: GraphTalk) -> None:
    text = await ana.hears("I work at Acme. I might move to Seattle.", source=EpisodeType.text)
    assert "Seattle" not in text.episode.content
    body = json.dumps({"city": "I live in Leeds", "notes": ["I might move to Seattle", 3]})
    data = await ana.hears(body, source=EpisodeType.json)
    assert json.loads(data.episode.content) == {"city": "I live in Leeds", "notes": [3]}
    assert await ana.shown("Seattle") == []
    assert sorted(await ana.current()) == ["User lives in Leeds", "User works at Acme"]


async def test_a_stored_episode_is_judged_instead_of_the_body(
    ana: GraphTalk, graphiti: GatedGraphiti
) -> None:
    stored = EpisodicNode(
        name="old",
        group_id="ana",
        source=EpisodeType.message,
        source_description="before the gate",
        content="user: I work at Acme. I might move to Seattle.",
        valid_at=START,
        created_at=START,
    )
    await stored.save(ana.driver())
    result = await ana.says("thanks", uuid=stored.uuid)
    assert result.episode.uuid == stored.uuid
    assert await ana.episodes() == ["user: I work at Acme."]
    assert await ana.current() == ["User works at Acme"]
    assert await ana.shown("Seattle") == []


async def test_a_stored_whole_plan_is_taken_out(ana: GraphTalk) -> None:
    stored = EpisodicNode(
        name="old",
        group_id="ana",
        source=EpisodeType.message,
        source_description="before the gate",
        content="user: I might move to Seattle",
        valid_at=START,
        created_at=START,
    )
    await stored.save(ana.driver())
    result = await ana.says("thanks", uuid=stored.uuid)
    assert not result.ingested
    assert await ana.episodes() == []


async def test_the_model_sees_no_held_words_even_later(ana: GraphTalk, llm: RecordedLLM) -> None:
    seen: list[str] = []
    recorded = llm.generate_response

    async def watched(messages: Any, *args: Any, **kwargs: Any) -> Any:
        seen.extend(message.content for message in messages)
        return await recorded(messages, *args, **kwargs)

    llm.generate_response = watched  # type: ignore[method-assign]
    await ana.says("I might move to Seattle")
    await ana.says("I work at Acme. I might move to Seattle.")
    await ana.says("I live in Leeds")
    assert any("Leeds" in prompt for prompt in seen)
    assert not any("Seattle" in prompt for prompt in seen)


async def test_an_invented_edge_is_not_stored(ana: GraphTalk, llm: RecordedLLM) -> None:
    await ana.says("I might move to Seattle")
    llm.facts = [
        *llm.facts,
        *(
            fact.__class__(**{**fact.__dict__, "words": "I work at Acme"})
            for fact in llm.facts
            if fact.target == "Seattle"
        ),
    ]
    result = await ana.says("I work at Acme")
    assert [edge.fact for edge in result.edges] == ["User works at Acme"]
    assert not any("Seattle" in edge.fact for edge in await ana.edges())


async def test_a_fact_whose_edge_cannot_be_traced_to_its_words_is_written_all_the_same(
    ana: GraphTalk, llm: RecordedLLM
) -> None:
    told = "Everyone there calls it home"
    llm.facts[:] = [RecordedFact("user", "HOME", "Leeds", told, "I live in Leeds")]
    text, at = "I live in Leeds. I might move to Seattle", ana.now + DAY
    turn = ana.gate.turn(text, user_id="ana", message_id="m1", occurred_at=at)
    proposed = {"entity": "user", "attribute": "home_city", "value": "Leeds", "text": told}
    ana.gate.observe(turn, [{**proposed, "span": "I live in Leeds"}], carried=True)
    await ana.says(text, message_id="m1")
    (edge,) = await ana.edges()
    (fact,) = [one for one in ana.facts() if one.value == "Leeds"]
    assert edge.valid_at == at
    assert edge.attributes["memgate_fact_id"] == fact.fact_id
    assert (await ana.graphiti.revoke(fact.fact_id, by="sam")).clean
    assert await ana.edges() == []


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"group_id": "a b"}, "group_id"),
        ({"group_id": 3}, "group_id"),
        ({"reference_time": None}, "occurred_at"),
        ({"reference_time": START.replace(tzinfo=None)}, "occurred_at"),
        ({"episode_body": "  "}, "text"),
        ({"episode_body": "user: a\x00b"}, "text"),
        ({"episode_body": "user: \ud800"}, "text"),
        ({"role": "narrator", "source": EpisodeType.text}, "role"),
    ],
)
async def test_malformed_input_is_refused_and_nothing_is_recorded(
    ana: GraphTalk, change: dict[str, Any], where: str
) -> None:
    good: dict[str, Any] = {
        "name": "m",
        "episode_body": "user: I live in Leeds",
        "source_description": "chat",
        "reference_time": START,
        "group_id": "ana",
    }
    with pytest.raises(InvalidTurnError) as caught:
        await ana.graphiti.add_episode(**{**good, **change})
    assert caught.value.where == where
    assert list(ana.gate.ledger.turns()) == []
    assert await ana.episodes() == []


async def test_a_message_id_with_other_words_is_a_conflict(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds", message_id="m1")
    with pytest.raises(ProtocolConflictError):
        await ana.says("I moved to York", message_id="m1")
    assert await ana.current() == ["User lives in Leeds"]


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("I might move to Seattle", "episode"),
        ("I might move to Sea…", "episode"),
        ("note: I might move to Seattle", "note"),
        ("turn 3", "turn 3"),
    ],
)
async def test_a_name_made_of_held_words_is_not_stored(
    ana: GraphTalk, name: str, stored: str
) -> None:
    result = await ana.says("I work at Acme. I might move to Seattle.", name=name)
    assert result.episode.name == stored
    (found,) = await EpisodicNode.get_by_group_ids(ana.driver(), ["ana"])
    assert found.name == stored


async def test_in_shadow_mode_graphiti_gets_what_the_caller_said(ana: GraphTalk) -> None:
    ana.gate.rollout.set("shadow", by="Operator")
    result = await ana.says("I might move to Seattle", name="I might move to Seattle")
    assert result.ingested
    assert await ana.episodes() == ["user: I might move to Seattle"]
    assert await ana.current() == ["User lives in Seattle"]
    assert await ana.held() == []


async def test_a_reference_to_held_words_is_resolved_and_tells_no_plan(ana: GraphTalk) -> None:
    result = await ana.says("I might move to Seattle. My dad lives there.")
    assert result.episode.content == "user: My dad lives in Seattle."
    assert not any("User lives" in text for text in await ana.readable())
    assert ana.value() is None


async def test_an_assistant_that_takes_up_a_plan_is_not_ingested_either(ana: GraphTalk) -> None:
    result = await ana.hears(
        "user: I work at Acme. I might move to Seattle.\nassistant: Seattle is lovely in May."
    )
    assert "Seattle" not in result.episode.content
    await ana.hears("assistant: How is the move to Seattle going?")
    assert await ana.shown("Seattle") == []
