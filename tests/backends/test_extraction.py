"""A model that extracts: it proposes only, and when it fails the turn is judged without it."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from memgate_core import DecisionType
from memgate_core.errors import ModelFaultError
from tests.backends.conftest import OpenTalk
from tests.backends.scripted import Material, ScriptedModel, sheet

PLAN = "I might sell the piano."


def busy() -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://model.test")
    return httpx.HTTPStatusError("", request=request, response=httpx.Response(429, request=request))


def extracting(answer: Any) -> Any:
    """Fills in the sheet as agreed; asked to extract, gives or raises `answer`."""

    def answered(material: Material) -> Any:
        if "messages" in material:
            return sheet(material)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return answered


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        ("{{{ nonsense ]]", "JSON|form"),
        ("I'm sorry, but I can't help with that.", "prose"),
        ("", "empty"),
        ({"extractions": "none"}, "form|extractions"),
        ({}, "form|extractions"),
        (ModelFaultError("the model did not answer within 20 s"), "within"),
        (busy(), "status 429"),
    ],
)
def test_a_failed_extraction_is_reported_and_the_plan_is_held(
    answer: Any, reported: str, talk_with: OpenTalk
) -> None:
    model = ScriptedModel(answer=extracting(answer))
    ana = talk_with(model, "llm", model_options={"extraction": "literal"})
    receipt = ana.says(PLAN)
    assert len(receipt.faults) == 1
    assert re.search(reported, receipt.faults[0]), receipt.faults
    assert {judged.decision.decision for judged in receipt.judged} == {DecisionType.STAGE}
    assert receipt.model_calls == len(model.questions) == 2
    assert ana.facts() == []
    assert "piano" not in str(receipt.faults)


@pytest.mark.parametrize("style", ["literal", "cautious"])
def test_what_it_proposes_is_judged_like_all_else(style: str, talk_with: OpenTalk) -> None:
    proposed = {
        "entity": "user",
        "attribute": "piano",
        "value": "sold",
        "text": "User sold the piano",
        "span": "I might sell the piano",
    }
    model = ScriptedModel(answer=extracting({"extractions": [proposed]}))
    ana = talk_with(model, "llm", model_options={"extraction": style})
    receipt = ana.says(PLAN)
    assert {judged.decision.decision for judged in receipt.judged} == {DecisionType.STAGE}
    assert receipt.faults == ()
    assert ana.facts() == []
    assert f"Style: {style}" in model.questions[0].system
