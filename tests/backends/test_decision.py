"""The `decision` backend, and the local judges offered as a decision model."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from langchain_core.decisions import Choice, ChoiceAnswer, Noul, Score
from langchain_core.messages import AIMessage, HumanMessage

from memgate_core import DecisionType, Receipt
from memgate_core.errors import InvalidInputError
from memgate_core.judgement.local import LocalClassifier
from memgate_core.model import ResolutionType, StagedStatus, Statement
from memgate_langchain import LocalDecisionModel, evidence_question
from tests.backends.conftest import OpenTalk
from tests.backends.scripted_decisions import scripted


def decisions(receipt: Receipt) -> set[DecisionType]:
    return {judged.decision.decision for judged in receipt.judged}


def test_one_request_a_turn_with_choices_and_nouls(talk_with: OpenTalk) -> None:
    model = scripted()
    ana = talk_with(model, "decision")
    held = ana.says("I prefer aisle seats. I might sell the piano.")
    assert decisions(held) == {DecisionType.STAGE, DecisionType.COMMIT}
    assert held.model_calls == 1
    assert held.model_tokens > 50
    done = ana.says("The sun is out. I sold the piano. Tea?")
    assert len(model.seen) == 2
    kinds = {type(question) for question in model.seen[-1].values()}
    assert kinds == {Choice, Noul}
    (resolved,) = done.resolved
    assert resolved.resolution is ResolutionType.CONFIRM
    assert resolved.span is not None
    assert resolved.span.of("The sun is out. I sold the piano. Tea?") == "I sold the piano."


def without(name: str) -> Any:
    return lambda answers: {n: a for n, a in answers.items() if not n.startswith(name)}


def mislabelled(answers: dict[str, Any]) -> dict[str, Any]:
    wrong = ChoiceAnswer(type="choice", choice="x", probabilities={"x": 1.0}, confidence=1.0)
    return {n: wrong if n.startswith("type") else a for n, a in answers.items()}


def down(_answers: Any) -> Any:
    raise ConnectionError("down")


def refused(_answers: Any) -> Any:
    raise PermissionError("I would rather not")


def busy(_answers: Any) -> Any:
    request = httpx.Request("POST", "http://model.test")
    answer = httpx.Response(429, request=request)
    raise httpx.HTTPStatusError("slow down", request=request, response=answer)


@pytest.mark.parametrize(
    ("spoil", "reported"),
    [
        (without("type"), "the decision model left a question unanswered"),
        (without("standing"), "the decision model left a question unanswered"),
        (lambda _answers: {}, "the decision model left a question unanswered"),
        (refused, "the model failed: PermissionError"),
        (busy, "the model failed: HTTPStatusError (status 429)"),
        (mislabelled, "the decision model answered with a label that was not offered"),
        (down, "the model failed: ConnectionError"),
    ],
)
def test_a_fault_ends_in_hold_and_report(spoil: Any, reported: str, talk_with: OpenTalk) -> None:
    ana = talk_with(scripted(spoil=spoil), "decision")
    receipt = ana.says("I sold the piano.")
    assert decisions(receipt) == {DecisionType.STAGE}
    assert receipt.faults == (reported,)
    assert ana.facts() == []


def test_a_decision_model_that_does_not_answer_in_time(talk_with: OpenTalk) -> None:
    def slow(answers: Any) -> Any:
        time.sleep(2)
        return answers

    ana = talk_with(scripted(spoil=slow), "decision", model_options={"timeout": 0.2})
    receipt = ana.says("I sold the piano.")
    assert decisions(receipt) == {DecisionType.STAGE}
    assert receipt.faults == ("the model did not answer within 0.2 s",)
    assert receipt.model_ms < 1500
    assert ana.facts() == []


def test_an_unanswered_noul_settles_nothing(talk_with: OpenTalk) -> None:
    model = scripted()
    ana = talk_with(model, "decision")
    ana.says("I might sell the piano.")
    model.spoil = without("true")
    receipt = ana.says("They came for the piano.")
    assert receipt.resolved == ()
    assert receipt.faults == ("the decision model left a question unanswered",)
    assert [item.status for item in ana.profile.staged()] == [StagedStatus.PENDING]


# --- the other way round -------------------------------------------------------------------------------

SAID = [
    "I might sell the piano.",
    "I live in Leeds.",
    "We moved to Bath last Friday.",
    "My sister is thinking of joining the choir.",
    "Thanks, that helps.",
]


@pytest.mark.parametrize("said", SAID)
def test_the_local_judges_are_a_decision_model(said: str) -> None:
    asked: Any = {"state": said, "questions": {"kind": evidence_question()}}
    response = LocalDecisionModel().invoke(asked)
    (local,) = LocalClassifier().classify([Statement(text=said, message=said)])
    answer = response.choices["kind"]
    assert answer.choice == local.evidence_type.value
    assert answer.probabilities == pytest.approx(
        {kind.value: p for kind, p in local.probabilities.items()}
    )


async def test_messages_and_plain_choices_will_do_too() -> None:
    state = [AIMessage("What will you do with the piano?"), HumanMessage("I might sell it.")]
    labels = dict.fromkeys(["speculation", "completed_event", "correction", "other"])
    question = Choice(instructions="What kind of statement is this?", criteria=labels)
    asked: Any = {"state": state, "questions": {"kind": question}}
    response = await LocalDecisionModel().ainvoke(asked)
    assert response.choices["kind"].choice == "speculation"


def test_a_noul_is_the_probability_that_words_are_a_plan() -> None:
    question = Noul(instructions={"task": "evidence_type", "kind": "speculation"})
    asked: Any = {"state": "I might sell the piano.", "questions": {"hold": question}}
    assert LocalDecisionModel().invoke(asked).nouls["hold"].noul > 0.5


@pytest.mark.parametrize(
    "question",
    [
        Choice(instructions="Which team?", criteria={"billing": None, "sales": None}),
        Noul(instructions="Is it urgent?"),
        Score(instructions="How angry?", criteria=["calm", "angry"]),
    ],
)
def test_what_it_does_not_know_it_refuses(question: Any) -> None:
    asked: Any = {"state": "I might sell the piano.", "questions": {"q": question}}
    with pytest.raises(InvalidInputError, match="does not know this question"):
        LocalDecisionModel().invoke(asked)


@pytest.mark.parametrize("said", SAID)
def test_asked_through_the_decision_backend_it_judges_as_local_does(
    said: str, talk_with: OpenTalk
) -> None:
    asked = talk_with(LocalDecisionModel(), "decision").says(said)
    local = talk_with(None, "local").says(said)
    assert [(j.judgement.evidence_type, j.decision.decision) for j in asked.judged] == [
        (j.judgement.evidence_type, j.decision.decision) for j in local.judged
    ]


def test_a_plan_comes_true_through_the_decision_backend(talk_with: OpenTalk) -> None:
    ana = talk_with(LocalDecisionModel(), "decision")
    ana.says("I might sell the piano.")
    (resolved,) = ana.says("I sold the piano.").resolved
    assert resolved.resolution is ResolutionType.CONFIRM
