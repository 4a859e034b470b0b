"""What a model costs stands in every receipt, metric, span and trace line."""

from __future__ import annotations

from typing import Any

from evaluation.plans.format import Conversation
from evaluation.plans.gated import GatedPipeline
from evaluation.plans.setting import ModelAccess, Setting
from tests.admission.test_measures import opentelemetry as opentelemetry
from tests.admission.test_measures import points
from tests.backends.conftest import OpenTalk
from tests.backends.scripted import ScriptedModel
from tests.backends.service import running


def test_calls_tokens_and_latency_are_metrics_and_stand_on_the_span(
    opentelemetry: Any, talk_with: OpenTalk
) -> None:
    reader, spans = opentelemetry
    ana = talk_with(ScriptedModel(takes_s=0.01))
    first = ana.says("I might sell the piano.")
    second = ana.says("I sold the piano.")
    found = points(reader)
    assert sum(p.value for p in found["memgate.model_calls"]) == 2
    assert sum(p.value for p in found["memgate.model_tokens"]) == 240
    assert sum(p.count for p in found["memgate.model.duration"]) == 2
    waited = sum(p.sum for p in found["memgate.model.duration"])
    assert waited == first.model_ms + second.model_ms
    assert min(first.model_ms, second.model_ms) >= 10
    noted = [dict(span.attributes or {}) for span in spans.get_finished_spans()]
    assert noted == [
        {
            "memgate.model_calls": 1,
            "memgate.model_tokens": 120,
            "memgate.model_ms": receipt.model_ms,
        }
        for receipt in (first, second)
    ]


def test_without_a_model_no_latency_is_counted(opentelemetry: Any, talk_with: OpenTalk) -> None:
    reader, _spans = opentelemetry
    talk_with(None, "local").says("I might sell the piano.")
    found = points(reader)
    assert sum(p.value for p in found["memgate.model_calls"]) == 0
    assert "memgate.model.duration" not in found


def test_a_trace_line_says_what_its_turn_cost() -> None:
    turns = [{"role": "user", "content": "I might move to Bath."}]
    conversation = Conversation.model_validate(
        {
            "id": "c1",
            "kind": "core",
            "field": {"attribute": "home_city", "description": "the city the user lives in"},
            "initial_value": None,
            "plan_value": "Bath",
            "outcome": "open",
            "final_value": None,
            "probe": "Where does the user live?",
            "sessions": [{"date": "2026-03-02T09:00:00Z", "turns": turns}],
        }
    )
    with running() as service:
        setting = Setting(
            extraction="local", classifier="llm", model=ModelAccess(url=service.url, name="m")
        )
        pipeline = GatedPipeline(conversation, setting)
        (step,) = conversation.steps()
        line = pipeline.take(step)
        pipeline.close()
    assert (line.model_calls, line.model_tokens) == (1, 100)
    assert line.model_ms is not None
    assert 0 < line.model_ms <= line.gate_ms
