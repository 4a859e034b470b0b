"""What this adapter was built on, as the installed Graphiti does it. A failing test here names the
assumption that a new release broke."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.prompts.extract_edges import ExtractedEdges
from graphiti_core.prompts.extract_nodes import SummarizedEntities
from graphiti_core.prompts.extract_nodes_and_edges import CombinedExtraction
from graphiti_core.prompts.lib import resolve_response_model

from memgate_graphiti import RecordedLLM
from memgate_graphiti.judging_llm import EXTRACTS_EDGES, SUMMARISES
from tests.graphiti.conftest import parts
from tests.graphiti.databases import Database, Falkor, opened
from tests.graphiti.talk import DAY, START

falkordb = pytest.mark.falkordb


@pytest.fixture
def falkor() -> Falkor:
    database = opened("falkordb")
    assert isinstance(database, Falkor)
    return database


def bare(database: Database, llm: RecordedLLM) -> Graphiti:
    return Graphiti(**parts(database, llm))


async def tell(graphiti: Graphiti, text: str, group_id: str | None, **rest: Any) -> Any:
    return await graphiti.add_episode(
        "m", f"user: {text}", "chat", START, EpisodeType.message, group_id, **rest
    )


@falkordb
async def test_a_group_is_a_graph_of_its_own_on_falkordb(falkor: Falkor, llm: RecordedLLM) -> None:
    graphiti = bare(falkor, llm)
    await tell(graphiti, "I live in Leeds", "ana")
    assert "ana" in await graphiti.driver.client.list_graphs()
    found, _, _ = await graphiti.driver.execute_query("MATCH (n:Entity) RETURN count(n) AS c")
    assert found[0]["c"] == 0
    await graphiti.close()


@falkordb
async def test_a_new_driver_builds_its_indices_in_a_task_of_its_own(falkor: Falkor) -> None:
    driver: Any = falkor.driver()
    assert isinstance(driver._init_task, asyncio.Task)
    await driver._init_task
    assert driver.clone(database="other")._init_task is not driver._init_task
    await asyncio.sleep(0.1)
    await driver.close()


@falkordb
async def test_the_shared_driver_is_what_triplets_removals_and_namespaces_use(
    falkor: Falkor, llm: RecordedLLM
) -> None:
    graphiti = bare(falkor, llm)
    told = await tell(graphiti, "I live in Leeds", "ana")
    with pytest.raises(NodeNotFoundError):
        await graphiti.remove_episode(told.episode.uuid)
    await graphiti.nodes.entity.save(EntityNode(name="x", group_id="ana", labels=[]))
    found, _, _ = await graphiti.driver.execute_query("MATCH (n:Entity) RETURN n.name AS name")
    assert [row["name"] for row in found] == ["x"]
    await graphiti.close()


async def test_a_given_uuid_means_the_stored_episode_and_not_the_body(
    database: Database, llm: RecordedLLM
) -> None:
    graphiti = bare(database, llm)
    stored = EpisodicNode(
        name="s",
        group_id="",
        source=EpisodeType.message,
        source_description="chat",
        content="user: I work at Acme",
        valid_at=START,
        created_at=START,
    )
    await stored.save(graphiti.driver)
    result = await tell(graphiti, "I live in Leeds", None, uuid=stored.uuid)
    assert [edge.fact for edge in result.edges] == ["User works at Acme"]
    await graphiti.close()


async def test_a_return_to_an_old_value_meets_the_closed_edge(
    database: Database, llm: RecordedLLM
) -> None:
    graphiti = bare(database, llm)
    for day, text in enumerate(("I live in Leeds", "I moved to York", "I moved to Leeds")):
        at = START + day * DAY
        result = await graphiti.add_episode("m", f"user: {text}", "chat", at)
    back = next(edge for edge in result.edges if "Leeds" in edge.fact)
    assert back.invalid_at is not None
    await graphiti.close()


async def test_removing_an_episode_deletes_nodes_that_other_edges_need(
    database: Database, llm: RecordedLLM
) -> None:
    graphiti = bare(database, llm)
    told = await tell(graphiti, "I live in Leeds", None)
    user, place = told.nodes
    own = EntityEdge(
        group_id=told.episode.group_id,
        source_node_uuid=user.uuid,
        target_node_uuid=place.uuid,
        name="OWN",
        fact="a promoted fact",
        created_at=START,
    )
    await own.generate_embedding(graphiti.embedder)
    await own.save(graphiti.driver)
    await graphiti.remove_episode(told.episode.uuid)
    query = "MATCH ()-[e:RELATES_TO]->() RETURN count(e) AS c"
    found, _, _ = await graphiti.driver.execute_query(query)
    assert found[0]["c"] == 0
    await graphiti.close()


@pytest.mark.neo4j
async def test_a_search_of_the_default_group_spans_all_groups_on_neo4j(llm: RecordedLLM) -> None:
    graphiti = bare(opened("neo4j"), llm)
    await tell(graphiti, "I live in Leeds", "ana")
    for unscoped in (None, [], [""]):
        found = await graphiti.search("where does the user live", group_ids=unscoped)
        assert {edge.group_id for edge in found} == {"ana"}
    await graphiti.close()


def test_the_prompts_that_are_judged_answer_with_edges_and_summaries() -> None:
    answers = {name: resolve_response_model(name, None) for name in (*EXTRACTS_EDGES, *SUMMARISES)}
    assert set(answers.values()) == {ExtractedEdges, CombinedExtraction, SummarizedEntities}
    assert all("edges" in answers[name].model_fields for name in EXTRACTS_EDGES)
    assert all("summaries" in answers[name].model_fields for name in SUMMARISES)
    for name in EXTRACTS_EDGES:
        (edge,) = answers[name].model_fields["edges"].annotation.__args__
        assert {"fact", "source_entity_name", "target_entity_name"} <= set(edge.model_fields)


@falkordb
async def test_updating_communities_after_an_episode_ends_in_an_error(
    falkor: Falkor, llm: RecordedLLM
) -> None:
    graphiti = bare(falkor, llm)
    await tell(graphiti, "I live in Leeds", "ana")
    await graphiti.build_communities(["ana"])
    with pytest.raises(ValueError, match=r"validation errors|unpack"):
        await tell(graphiti, "I work at Acme", "ana", update_communities=True)
    await graphiti.close()
