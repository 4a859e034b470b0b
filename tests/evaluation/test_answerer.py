"""A model that answers and judges: asked again, passed over, given up; and what is counted.

The model is recorded at the HTTP boundary; everything on this side of it is the real thing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evaluation.answerer import Answerer
from evaluation.judge import Judge
from evaluation.plans.setting import ModelAccess
from evaluation.products.measure import scored, table
from memgate_core.errors import ModelFaultError
from memgate_core.fields.values import same_value
from tests.evaluation.conversations import conversation, line, trace
from tests.evaluation.recorded_model import RecordedModel, recorded_model

PROBE = "Which city does the user live in?"
READ = trace(
    line(0, "Leeds", memory=["lives in Leeds"]),
    line(2, "York", memory=["considering York", "lives in Leeds"]),
    line(4, "York", memory=["lives in Leeds"]),
)
"""What a product's own search returned after each turn."""


@pytest.fixture
def model() -> Iterator[RecordedModel]:
    with recorded_model() as running:
        yield running


@pytest.fixture
def answerer(model: RecordedModel) -> Answerer:
    return Answerer(Judge(ModelAccess(url=model.url, name="recorded")))


def test_a_question_on_which_the_model_fails_once_is_asked_again(
    model: RecordedModel, answerer: Answerer
) -> None:
    model.fails = lambda _form, number: number == 1
    said = answerer.answer(PROBE, ["lives in York"], lambda: "not asked for")
    assert said == "lives in York"
    assert answerer.same(PROBE, "York", "considering York", same_value) is False
    found = answerer.figures()
    assert (found.questions, found.failed, found.judge.failed, found.judge.calls) == (1, 0, 0, 4)
    assert found.told == "Answered and judged by recorded."


def test_where_it_fails_on_one_question_the_fixed_function_decides_and_it_is_counted(
    model: RecordedModel, answerer: Answerer
) -> None:
    model.fails = lambda _form, number: number <= 2
    assert answerer.answer(PROBE, ["lives in York"], lambda: "picked") == "picked"
    assert answerer.same(PROBE, "York", "considering York", same_value) is True
    assert answerer.answer(PROBE, ["lives in York"], lambda: "picked") == "lives in York"
    found = answerer.figures()
    assert (found.questions, found.failed, found.judge.failed) == (2, 1, 1)
    assert "failed on 1 answers and 1 judged pairs" in found.told
    (verdict,) = answerer.verdicts()
    assert (verdict.judge, verdict.containment) == (None, True)


def test_an_answer_of_nothing_is_an_answer(model: RecordedModel, answerer: Answerer) -> None:
    assert answerer.answer(PROBE, [], lambda: "picked") is None
    assert (model.asked["Answered"], answerer.figures().failed) == (1, 0)


def test_answers_and_judgements_that_fail_in_a_row_end_it(
    model: RecordedModel, answerer: Answerer
) -> None:
    model.fails = lambda _form, _number: True
    answerer.answer(PROBE, ["lives in York"], lambda: None)
    answerer.same(PROBE, "York", "Hull", same_value)
    with pytest.raises(ModelFaultError):
        answerer.answer(PROBE, ["lives in Hull"], lambda: None)


def test_a_product_is_scored_by_the_model_and_without_it_where_it_fails(
    model: RecordedModel, answerer: Answerer
) -> None:
    told = conversation("open")
    model.fails = lambda form, number: form == "Compared" and number <= 2
    found = scored(told, READ, "mem0 as released", answerer)
    assert found.answers == ["considering York", "lives in Leeds"]
    assert found.exposed is False  # a plan's words: the fixed function's word, as without a model
    assert found.right is True
    assert answerer.figures().judge.failed == 1
    note = table([found], answerer.figures()).note
    assert note is not None
    assert "failed on 0 answers and 1 judged pairs" in note
    model.fails = lambda form, number: form == "Answered" and number in (3, 4)
    assert scored(told, READ, "mem0 gated", answerer).answers[0] == "considering York"
    assert answerer.figures().failed == 1


def test_a_product_is_given_up_where_the_model_keeps_failing(
    model: RecordedModel, answerer: Answerer
) -> None:
    model.fails = lambda _form, _number: True
    with pytest.raises(ModelFaultError):
        scored(conversation("open"), READ, "mem0 as released", answerer)
