"""What a turn with many held items costs (the paper: eleven calls or more for ten items)."""

from __future__ import annotations

from typing import Any

import pytest

from memgate_core.judgement.cascade import Sureness
from tests.backends.conftest import OpenTalk
from tests.backends.scripted import Material, ScriptedModel, sheet
from tests.backends.scripted_decisions import scripted
from tests.support.talk import Talk

PLANS = [
    f"I might buy a {thing}."
    for thing in (
        "kiln",
        "canoe",
        "loom",
        "harp",
        "yurt",
        "sauna",
        "greenhouse",
        "drone",
        "van",
        "kayak",
    )
]


def ten_held(ana: Talk) -> None:
    for plan in PLANS:
        ana.says(plan)
    assert len(ana.profile.staged()) == 10


def extracting(material: Material) -> Any:
    if "messages" in material:
        return sheet(material)
    return {"extractions": []}


@pytest.mark.parametrize(
    ("options", "most"), [({}, 1), ({"extraction": "literal"}, 2), ({"extraction": "cautious"}, 2)]
)
def test_ten_held_items_cost_at_most_two_calls_with_an_llm(
    options: dict[str, Any], most: int, talk_with: OpenTalk
) -> None:
    model = ScriptedModel(answer=extracting)
    ana = talk_with(model, "llm", model_options=options)
    ten_held(ana)
    before = len(model.questions)
    receipt = ana.says("Thinking of buying things again, but I bought a kiln. I also like tea.")
    assert receipt.model_calls == len(model.questions) - before
    assert receipt.model_calls <= most
    assert len(model.materials[-1]["held"]) == 10
    assert len(model.materials[-1]["statements"]) >= 2


def test_ten_held_items_cost_one_request_with_a_decision_model(talk_with: OpenTalk) -> None:
    model = scripted()
    ana = talk_with(model, "decision")
    ten_held(ana)
    before = len(model.seen)
    receipt = ana.says("I bought a kiln. I also like tea.")
    assert receipt.model_calls == len(model.seen) - before == 1
    asked = [name for name in model.seen[-1] if name.startswith(("true", "off"))]
    assert len(asked) == 20


def test_a_cascade_asks_at_most_once(talk_with: OpenTalk) -> None:
    ana = talk_with(ScriptedModel(), "cascade", model_options={"sureness": Sureness(hold=0.0)})
    ten_held(ana)
    assert ana.says("I bought a kiln. I also like tea.").model_calls <= 1
