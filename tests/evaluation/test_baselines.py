"""The plan-typed baseline judges with the classifier that is asked for, and counts its calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evaluation.plans.pipeline import trace_of
from evaluation.plans.run import pipeline_for
from evaluation.plans.setting import ModelAccess, Setting
from evaluation.plans.trace import TurnTrace
from tests.evaluation.conversations import conversation
from tests.evaluation.recorded_model import RecordedModel, recorded_model


@pytest.fixture
def model() -> Iterator[RecordedModel]:
    with recorded_model() as running:
        yield running


def turns(model: RecordedModel | None = None, gate: str = "plan-typed") -> list[TurnTrace]:
    """What the baseline writes down of a plan that stays open, judged by a model or locally."""
    access = ModelAccess(url=model.url, name="recorded") if model else None
    classifier = "llm" if model else "local"
    setting = Setting.model_validate({"gate": gate, "classifier": classifier, "model": access})
    told = conversation("open")
    return trace_of(told, pipeline_for(told, setting)).turns


def test_the_models_word_decides_what_is_masked(model: RecordedModel) -> None:
    assert [one.masked for one in turns(model)] == [[], ["York"], ["York"]]
    model.wavers = lambda _number: True  # calls everything `other`
    assert [one.value_of("home_city") for one in turns(model)] == ["Leeds", "York", "York"]


def test_its_calls_are_counted_where_there_was_something_to_judge(model: RecordedModel) -> None:
    found = turns(model)
    assert [one.model_calls for one in found] == [1, 1, 0]
    assert sum(model.asked.values()) == 2
    assert found[0].model_tokens == 100
    assert [one.model_calls for one in turns()] == [0, 0, 0]


def test_a_model_that_fails_is_reported_and_never_makes_a_plan_a_fact(
    model: RecordedModel,
) -> None:
    model.fails = lambda _form, _number: True
    found = turns(model)
    assert [bool(one.faults) for one in found] == [True, True, False]
    assert found[-1].value_of("home_city") is None
    assert [one.masked for one in found] == [["Leeds"], ["York"], ["York"]]


def test_with_the_gate_off_no_model_is_asked(model: RecordedModel) -> None:
    assert [one.model_calls for one in turns(model, "off")] == [0, 0, 0]
    assert not model.asked
