"""How a turn stands to a value, with the weights that ship."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memgate_core.judgement.protocol import StandingClaim
from memgate_core.judgement.standing import LocalStandingJudge
from memgate_core.model import (
    Candidate,
    Evidence,
    EvidenceJudgement,
    EvidenceType,
    FieldSpec,
    Span,
    Standing,
    Subject,
    Turn,
)

CAR = FieldSpec(attribute="car", description="the car the user drives")
OTHER = EvidenceJudgement(
    evidence_type=EvidenceType.OTHER, probabilities=dict.fromkeys(EvidenceType, 0.25)
)


def claim(text: str, value: str, field: FieldSpec | None = CAR, entity: str = "user"):
    turn = Turn(
        subject=Subject(user_id="maud"),
        message_id="m1",
        text=text,
        occurred_at=datetime(2025, 3, 2, tzinfo=UTC),
    )
    candidate = Candidate(
        entity=entity,
        attribute="car",
        value=value,
        text=text,
        words=text,
        evidence=Evidence.of(turn, Span(start=0, end=len(text))),
        ordinal=0,
        extractor="test",
    )
    return turn, StandingClaim(candidate=candidate, field=field, known=None, evidence=OTHER)


@pytest.fixture(scope="module")
def judge() -> LocalStandingJudge:
    return LocalStandingJudge()


def test_without_a_field_the_entity_decides(judge: LocalStandingJudge) -> None:
    turn, own = claim("I drive a Zoe", "Zoe", field=None)
    _, others = claim("I drive a Zoe", "Zoe", field=None, entity="cousin Wren")
    found = judge.stand(turn, [own, others])
    assert [f.standing for f in found] == [Standing.OWN, Standing.OTHER_PERSON]


def test_the_user_s_own_plain_words(judge: LocalStandingJudge) -> None:
    turn, own = claim("I drive a Renault Zoe, how do I reset the clock?", "Renault Zoe")
    [found] = judge.stand(turn, [own])
    assert found.standing is Standing.OWN


@pytest.mark.parametrize(
    "text",
    [
        "My sister drives a Renault Zoe and loves it.",
        "Fix the grammar: 'I bought a Renault Zoe and it changed my life.'",
    ],
)
def test_what_is_not_the_user_s_own(judge: LocalStandingJudge, text: str) -> None:
    turn, given = claim(text, "Renault Zoe")
    [found] = judge.stand(turn, [given])
    assert found.standing is not Standing.OWN


def test_one_judgement_a_claim_in_order(judge: LocalStandingJudge) -> None:
    turn, one = claim("My sister drives a Renault Zoe.", "Renault Zoe")
    _, open_ = claim("My sister drives a Renault Zoe.", "Renault Zoe", field=None)
    assert len(judge.stand(turn, [one, open_, one])) == 3
    assert judge.stand(turn, []) == []
