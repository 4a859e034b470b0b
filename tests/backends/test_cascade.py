"""The cascade: local decides what it is sure of, the model the rest, and the rest fails closed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memgate_core import DecisionType
from memgate_core.errors import ConfigurationError, ModelFaultError
from memgate_core.judgement.asked import AskedClassifier
from memgate_core.judgement.cascade import Sureness, curve, doubt, fitted
from memgate_core.judgement.counsel import Counsel
from memgate_core.judgement.llm import LlmOracle
from memgate_core.model import EvidenceJudgement, EvidenceType, Role, Statement
from tests.backends.conftest import OpenTalk
from tests.backends.scripted import ScriptedModel

S, E, C, O = EvidenceType  # noqa: E741


def judged(hold: float) -> EvidenceJudgement:
    rest = (1 - hold) / 3
    probabilities = {S: hold, E: rest, C: rest, O: rest}
    kind = max(probabilities, key=lambda k: probabilities[k])
    return EvidenceJudgement(evidence_type=kind, probabilities=probabilities)


class Known:
    """A local classifier whose doubts are known: the words name the hold probability."""

    name = "known"

    def classify(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        return [judged(float(statement.text.split()[-1])) for statement in statements]


def statement(text: str, role: Role = Role.USER) -> Statement:
    return Statement(text=text, message=text, role=role)


def cascade(model: ScriptedModel, **sureness: float) -> AskedClassifier:
    sure = Sureness(**{"correction": 0.5, **sureness})
    return AskedClassifier(Known(), Counsel(LlmOracle(model)), sure)


def test_only_the_doubtful_are_asked_and_in_one_request() -> None:
    model = ScriptedModel()
    texts = ["sold it 0.01", "might 0.4", "sold it 0.99", "moved 0.6", "sold it 0.05"]
    found = cascade(model).classify([statement(text) for text in texts])
    assert [row["words"] for row in model.materials[0]["statements"]] == ["might 0.4", "moved 0.6"]
    assert len(model.questions) == 1
    assert [j.evidence_type for j in found] == [E, S, S, E, E]
    assert [j.model_calls for j in found] == [1, 0, 0, 0, 0]
    assert [j.backend.split(":")[0] for j in found] == ["local", "llm/1", "local", "llm/1", "local"]


def test_nothing_doubtful_costs_nothing() -> None:
    model = ScriptedModel()
    found = cascade(model).classify([statement("sold it 0.01"), statement("might 0.99")])
    assert model.questions == []
    assert sum(j.model_calls for j in found) == 0


def test_words_that_are_not_the_users_are_never_asked_about() -> None:
    model = ScriptedModel()
    cascade(model).classify([statement("might 0.5", Role.ASSISTANT), statement("x 0.5", Role.TOOL)])
    assert model.questions == []


def test_a_failing_model_leaves_the_sure_ones_alone() -> None:
    found = cascade(ScriptedModel(fails=ModelFaultError("down"))).classify(
        [statement("sold it 0.01"), statement("moved 0.4")]
    )
    assert [j.fault for j in found] == [None, "down"]
    assert [j.evidence_type for j in found] == [E, S]


def test_through_the_gate_plain_words_cost_no_call_and_faults_hold(talk_with: OpenTalk) -> None:
    never = {"hold": 0.5, "correction": 0.5, "standing": 0.5, "slot": 0.5, "resolution": 0.5}
    model = ScriptedModel(fails=ModelFaultError("down"))
    ana = talk_with(model, "cascade", model_options={"sureness": Sureness(**never)})
    assert ana.says("I might sell the piano.").model_calls == 0
    assert model.questions == []
    always = dict.fromkeys(never, 0.0)
    ben = talk_with(model, "cascade", model_options={"sureness": Sureness(**always)})
    receipt = ben.says("I sold the piano yesterday.")
    assert receipt.faults == ("down",)
    assert {j.decision.decision for j in receipt.judged} == {DecisionType.STAGE}
    assert ben.facts() == []


@pytest.mark.parametrize("value", [-0.1, 0.6])
def test_a_doubt_outside_its_range_is_refused(value: float) -> None:
    with pytest.raises(ConfigurationError, match=r"sureness\.hold"):
        Sureness(hold=value)


def test_the_curve_asks_the_most_doubtful_first() -> None:
    hold = (0.0, 1.0, 0.45, 0.7)
    judgements = [judged(p) for p in hold]
    held = [False, True, True, False]  # the two doubtful ones are wrong
    points = curve(judgements, held)
    assert [(p.asked, p.agreement) for p in points] == [
        (0.0, 0.5),
        (0.25, 0.75),
        (0.5, 1.0),
        (1.0, 1.0),
    ]
    best = fitted(judgements, held, agreement=0.98)
    assert best.asked == 0.5
    assert [p for p in hold if doubt(p) > best.hold] == [0.45, 0.7]


def test_a_curve_needs_labels() -> None:
    with pytest.raises(ConfigurationError):
        curve([judged(0.2)], [])
