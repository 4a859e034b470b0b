"""A value's own evidence argues towards caution, never away from it."""

from __future__ import annotations

import pytest

from memgate_core.judgement.value_evidence import for_value
from memgate_core.model import EvidenceJudgement, EvidenceType, Standing, StandingJudgement

E = EvidenceType


def judged(top: EvidenceType) -> EvidenceJudgement:
    rest = {kind: 0.1 for kind in E if kind is not top}
    return EvidenceJudgement(evidence_type=top, probabilities={top: 0.7, **rest})


def standing(own: EvidenceType | None, confidence: float = 0.8) -> StandingJudgement:
    return StandingJudgement(standing=Standing.OWN, confidence=confidence, evidence_type=own)


def test_silence_leaves_the_statement_as_it_is() -> None:
    assert for_value(judged(E.OTHER), standing(None)) == judged(E.OTHER)


@pytest.mark.parametrize("own", [E.SPECULATION, E.CORRECTION])
def test_the_value_s_own_evidence_counts(own: EvidenceType) -> None:
    found = for_value(judged(E.OTHER), standing(own))
    assert found.evidence_type is own
    assert found.probabilities[own] == pytest.approx(0.8)
    assert sum(found.probabilities.values()) == pytest.approx(1.0)


def test_a_plan_stays_a_plan() -> None:
    assert for_value(judged(E.SPECULATION), standing(E.CORRECTION)) == judged(E.SPECULATION)
