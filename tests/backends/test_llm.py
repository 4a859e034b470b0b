"""The `llm` backend through the gate: one request a turn, and whatever goes wrong is held."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from memgate_core import DecisionType, MemoryGate, Receipt
from memgate_core.errors import ConfigurationError, ModelFaultError
from memgate_core.model import ResolutionType, StagedStatus
from tests.backends.conftest import START, OpenTalk
from tests.backends.scripted import Material, ScriptedModel, sheet
from tests.support.talk import Talk

DAY = timedelta(days=1)


def decisions(receipt: Receipt) -> set[DecisionType]:
    return {judged.decision.decision for judged in receipt.judged}


def test_one_request_judges_all_of_a_turn(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    receipt = talk_with(model).says("I prefer aisle seats. I might sell the piano.")
    assert len(model.questions) == 1
    assert (receipt.model_calls, receipt.model_tokens) == (1, 120)
    assert receipt.model_ms > 0
    assert decisions(receipt) == {DecisionType.STAGE, DecisionType.COMMIT}
    held = next(j for j in receipt.judged if j.staged_id)
    assert held.judgement.backend.startswith("llm/1:scripted:")
    assert held.judgement.cues == ("I",)


def test_the_models_conditions_are_kept_with_the_plan(talk_with: OpenTalk) -> None:
    ana = talk_with(ScriptedModel())
    ana.says("I might sell the piano.")
    (item,) = ana.profile.staged()
    assert item.promote_when.startswith("The user says that this has happened: I might sell")
    assert item.discard_when.startswith("The user says that this is off")


def test_a_later_turn_is_judged_and_checked_in_one_request(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana = talk_with(model)
    ana.says("I might sell the piano.")
    receipt = ana.says("I sold the piano.", after=9 * DAY)
    assert receipt.model_calls == 1
    (resolved,) = receipt.resolved
    assert resolved.resolution is ResolutionType.CONFIRM
    assert [item.status for item in ana.profile.staged(status=None)] == [StagedStatus.PROMOTED]
    assert len(ana.facts()) == 1
    asked = model.materials[-1]
    assert asked["held"][0]["true_when"].startswith("The user says that this has happened")
    assert asked["held"][0]["said_on"] == "2026-03-02"
    assert asked["today"] == "2026-03-11"


def test_the_same_question_is_not_paid_for_twice(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana, ben = talk_with(model), Talk(talk_with(model).gate, "ben", START)
    first = ana.says("I might sell the piano.")
    again = Talk(ana.gate, "cleo", START).says("I might sell the piano.")
    assert (first.model_calls, again.model_calls) == (1, 0)
    assert ben.says("I might sell the piano.").model_calls == 1  # another gate, another cache


def test_only_the_users_words_are_worth_a_call(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana = talk_with(model)
    for role in ("assistant", "tool"):
        assert ana.hears("You might sell the piano.", role=role).model_calls == 0
    assert model.questions == []
    assert ana.profile.staged() == []


def test_a_bare_answer_is_settled_by_rule(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana = talk_with(model)
    ana.says("I might sell the piano.")
    ana.says("I'm thinking of joining a choir.")
    ana.hears("Shall I draft the email to your landlord?")
    model.answer = lambda m: {**sheet(m), "held": [_confirms(row) for row in m.get("held", [])]}
    assert not ana.says("OK.").resolved
    ana.hears("Did you sell the piano in the end?")
    (resolved,) = ana.says("Yes.").resolved
    assert "piano" in resolved.text
    assert all("held" not in m for m in model.materials[2:])


def _confirms(row: Material) -> Material:
    return {"n": row["n"], "outcome": "confirm", "confidence": 1.0, "words": "OK"}


def test_a_question_confirms_nothing(talk_with: OpenTalk) -> None:
    def yes(material: Material) -> Material:
        rows = [
            {"n": r["n"], "outcome": "confirm", "confidence": 1.0, "words": "sold the piano"}
            for r in material.get("held", [])
        ]
        return {**sheet(material), "held": rows}

    model = ScriptedModel()
    ana = talk_with(model)
    ana.says("I might sell the piano.")
    model.answer = yes
    assert not ana.says("What if I had sold the piano?").resolved
    assert [item.status for item in ana.profile.staged()] == [StagedStatus.PENDING]


def test_secrets_are_not_shown_to_a_model(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana = talk_with(model, model_options={"extraction": "literal"})
    ana.says("My password is hunter2-Xq9!vv and I might sell the piano.")
    assert model.questions
    for question in model.questions:
        assert "hunter2" not in question.material
        assert "piano" in question.material


# --- what goes wrong ---------------------------------------------------------------------------------


def without_last(material: Material) -> Material:
    answer = sheet(material)
    return {**answer, "statements": answer["statements"][:-1]}


def relabelled(label: str, value: Any) -> Any:
    def answer(material: Material) -> Material:
        rows = [{**row, label: value} for row in sheet(material)["statements"]]
        return {**sheet(material), "statements": rows}

    return answer


def twice(material: Material) -> Material:
    rows = sheet(material)["statements"]
    return {"statements": [*rows, *rows]}


def too_many_requests() -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://model.test")
    return httpx.HTTPStatusError(
        "slow down", request=request, response=httpx.Response(429, request=request)
    )


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "malformed JSON": ({"answer": lambda _: "{{{ nonsense ]]"}, "JSON object|unanswered"),
    "refusal": ({"answer": lambda _: "I'm sorry, but I can't help with that."}, "prose"),
    "empty": ({"answer": lambda _: ""}, "empty"),
    "timeout": ({"fails": ModelFaultError("the model did not answer within 20 s")}, "within"),
    "429": ({"fails": too_many_requests()}, r"status 429"),
    "no connection": ({"fails": httpx.ConnectError("refused")}, "ConnectError"),
    "wrong label": ({"answer": relabelled("type", "maybe")}, r"outside the form \(type\)"),
    "wrong standing": (
        {"answer": relabelled("standing", "mine")},
        r"outside the form \(standing\)",
    ),
    "no confidence": ({"answer": relabelled("confidence", "high")}, r"\(confidence\)"),
    "missing answer": ({"answer": without_last}, "unanswered"),
    "no answers": ({"answer": lambda _: {}}, "unanswered"),
    "answered twice": ({"answer": twice}, "unanswered"),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize(
    "said", ["I might sell the piano.", "I sold the piano.", "I live in Leeds."]
)
def test_a_fault_ends_in_hold_and_report(name: str, said: str, talk_with: OpenTalk) -> None:
    behaviour, reported = FAULTS[name]
    ana = talk_with(ScriptedModel(**behaviour))
    receipt = ana.says(said)
    assert ana.facts() == []
    assert all(judged.decision.decision is DecisionType.STAGE for judged in receipt.judged)
    assert ana.profile.staged()
    assert receipt.faults
    assert any(_matches(reported, fault) for fault in receipt.faults)
    assert "piano" not in str(receipt.faults)
    assert receipt.model_calls == 1
    assert receipt.forward is None


def _matches(pattern: str, text: str) -> bool:
    import re

    return re.search(pattern, text) is not None


def test_chatter_is_not_held_because_a_model_failed(talk_with: OpenTalk) -> None:
    ana = talk_with(ScriptedModel(fails=ModelFaultError("down")))
    receipt = ana.says("Thanks! Can you book the 9:40?")
    assert decisions(receipt) == {DecisionType.IGNORE}
    assert receipt.faults == ("down",)


def test_a_model_that_fails_settles_nothing(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana = talk_with(model)
    ana.says("I might sell the piano.")
    model.fails = ModelFaultError("down")
    receipt = ana.says("I sold the piano.", after=DAY)
    assert receipt.resolved == ()
    assert receipt.faults == ("down",)
    assert receipt.model_calls == 1
    assert ana.facts() == []
    model.fails = None
    assert len(ana.says("I sold the piano, as I said.", after=DAY).resolved) >= 1


def test_a_settlement_without_its_words_is_none(talk_with: OpenTalk) -> None:
    def invents(material: Material) -> Material:
        rows = [
            {
                "n": r["n"],
                "outcome": "confirm",
                "confidence": 1.0,
                "words": "it went under the hammer",
            }
            for r in material.get("held", [])
        ]
        return {**sheet(material), "held": rows}

    model = ScriptedModel()
    ana = talk_with(model)
    ana.says("I might sell the piano.")
    model.answer = invents
    receipt = ana.says("About the piano: any news of the tuner?")
    assert receipt.resolved == ()
    assert receipt.faults == ("the model quoted words that the message does not have",)


def test_an_unsure_confirmation_is_none(talk_with: OpenTalk) -> None:
    def unsure(material: Material) -> Material:
        rows = [
            {"n": r["n"], "outcome": "confirm", "confidence": 0.6, "words": "the piano"}
            for r in material.get("held", [])
        ]
        return {**sheet(material), "held": rows}

    model = ScriptedModel()
    ana = talk_with(model)
    ana.says("I might sell the piano.")
    model.answer = unsure
    receipt = ana.says("They collected the piano.")
    assert receipt.resolved == ()
    assert receipt.faults == ()


def test_a_slow_model_is_not_waited_for(talk_with: OpenTalk) -> None:
    from memgate_core.judgement.ports.chat_model import ChatModelPort

    class Slow:
        def invoke(self, _messages: Any) -> str:
            import time

            time.sleep(3)
            return "{}"

    ana = talk_with(ChatModelPort(Slow()), model_options={"timeout": 0.2})
    receipt = ana.says("I sold the piano.")
    assert receipt.faults == ("the model did not answer within 0.2 s",)
    assert receipt.model_ms < 2000
    assert ana.facts() == []


def test_a_spent_budget_holds_and_says_so(talk_with: OpenTalk) -> None:
    model = ScriptedModel()
    ana = talk_with(model, model_options={"calls_per_minute": 1})
    assert ana.says("I might sell the piano.").faults == ()
    receipt = ana.says("I bought a kiln.")
    assert receipt.faults == ("model budget: 1 calls a minute are spent",)
    assert receipt.model_calls == 0
    assert decisions(receipt) == {DecisionType.STAGE}
    assert len(model.questions) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"classifier": "llm"}, "needs a model"),
        ({"classifier": "oracle"}, "unknown"),
        ({"classifier": "local", "model": ScriptedModel()}, "asks none"),
        ({"classifier": "llm", "model": object()}, "no model: object"),
        ({"classifier": "llm", "model": "ftp://x"}, "no http"),
        ({"classifier": "decision", "model": ScriptedModel()}, "no decision model"),
        (
            {"classifier": "llm", "model": ScriptedModel(), "model_options": {"tiemout": 1}},
            "tiemout",
        ),
        (
            {"classifier": "llm", "model": ScriptedModel(), "model_options": {"timeout": 0}},
            "model_options.timeout",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        MemoryGate.open("sqlite://", **options)
