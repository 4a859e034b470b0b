"""Communities and sagas, which Graphiti's LLM writes from summaries and episodes."""

from __future__ import annotations

from typing import Any

from graphiti_core.nodes import CommunityNode, SagaNode

from memgate_graphiti import RecordedLLM
from memgate_graphiti.episodes import scoped
from tests.graphiti.talk import GraphTalk

PLAN = "I might move to Seattle"
SAGA = "a year"


async def communities(ana: GraphTalk) -> list[str]:
    found = await CommunityNode.get_by_group_ids(ana.driver(), [ana.group_id])
    return [f"{one.name} {one.summary}" for one in found]


async def saga(ana: GraphTalk) -> SagaNode:
    (found,) = await SagaNode.get_by_group_ids(ana.driver(), [ana.group_id])
    return found


async def summarised(ana: GraphTalk) -> str:
    """The saga's summary, made anew where there is something new."""
    one = await saga(ana)
    told = await scoped(ana.graphiti, ana.driver()).summarize_saga(one.uuid)
    return str(told.summary)


async def test_they_never_see_held_words(ana: GraphTalk, llm: RecordedLLM) -> None:
    seen: list[str] = []
    recorded = llm.generate_response

    async def watched(messages: Any, *args: Any, **kwargs: Any) -> Any:
        seen.extend(message.content for message in messages)
        return await recorded(messages, *args, **kwargs)

    llm.generate_response = watched  # type: ignore[method-assign]
    await ana.says("I live in Leeds", saga=SAGA)
    await ana.graphiti.build_communities(["ana"])
    await ana.says(PLAN, saga=SAGA, update_communities=True)
    await ana.says(f"I work at Acme. {PLAN}.", saga=SAGA, update_communities=True)
    assert any("Acme" in text for text in await communities(ana))
    assert "Leeds" in await summarised(ana)
    assert "summarize_sagas.summarize_saga" in llm.calls
    assert "summarize_nodes.summarize_pair" in llm.calls
    assert not any("Seattle" in prompt for prompt in seen)
    assert not any("Seattle" in text for text in await communities(ana))
    assert await ana.shown("Seattle") == []


async def test_they_tell_nothing_of_a_revoked_fact(ana: GraphTalk) -> None:
    await ana.says("I live in Leeds. I work at Acme.", saga=SAGA)
    await ana.graphiti.build_communities(["ana"])
    assert any("Leeds" in text for text in await communities(ana))
    assert "Leeds" in await summarised(ana)
    fact = next(one for one in ana.facts() if one.value == "Leeds")
    revoked = await ana.graphiti.revoke(fact.fact_id, by="sam")
    assert revoked.clean, revoked.residue
    assert not any("Leeds" in text for text in await communities(ana))
    assert "Leeds" not in str((await saga(ana)).summary)
    told = await summarised(ana)
    assert "Acme" in told
    assert "Leeds" not in told
