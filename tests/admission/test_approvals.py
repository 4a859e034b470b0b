"""Approvals: bound to proposal, payload and approver; nobody's but a person's; never in general."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memgate_core import DecisionType, MemoryGate
from memgate_core.approving import ApprovalRequest
from memgate_core.errors import (
    ApprovalError,
    InvalidInputError,
    NotAllowedError,
    NotFoundError,
)
from memgate_core.ledger.records import ApprovalStatus
from memgate_core.model import EventType, Receipt, StagedStatus
from memgate_core.policy.approvals import ApprovalPolicy, Unanswered
from tests.admission.conftest import START, OpenGate
from tests.support.scripted import SCRIPT, Line, state
from tests.support.talk import Talk

DAY = timedelta(days=1)
GUESS = "you live in Oslo"
GUESSED = {**SCRIPT, GUESS: state("home_city", "Oslo"), "yes I do": Line(confirms="Oslo")}


def guess(talk: Talk) -> Receipt:
    """The assistant says where the user lives, and an extractor takes it for a fact."""
    turn = talk.turn(f"Noted, {GUESS}", role="assistant", message_id="guess")
    said = {"attribute": "home_city", "value": "Oslo", "text": "lives in Oslo", "span": GUESS}
    return talk.gate.observe(turn, [said])


@pytest.fixture
def gate(scripted: OpenGate) -> MemoryGate:
    return scripted(script=GUESSED)


@pytest.fixture
def asked(gate: MemoryGate, ana: Talk) -> ApprovalRequest:
    ana.says("I live in Leeds")
    guess(ana)
    (request,) = gate.review.approvals.list()
    return request


def city(talk: Talk) -> str | None:
    fact = talk.profile.current("home_city")
    return fact.value if fact else None


def item_of(gate: MemoryGate, asked: ApprovalRequest) -> StagedStatus:
    item = gate.ledger.staged_item(asked.staged_id or "")
    assert item is not None
    return item.status


def test_a_request_shows_all_that_an_answer_takes_responsibility_for(
    asked: ApprovalRequest,
) -> None:
    assert asked.status is ApprovalStatus.AWAITING
    assert asked.held_as is DecisionType.NEEDS_CONFIRMATION
    assert (asked.attribute, asked.value, asked.fact) == ("home_city", "Oslo", "lives in Oslo")
    assert (asked.words, asked.said_by, asked.message_id) == (GUESS, "assistant", "guess")
    assert "I live in Leeds" in asked.effect
    assert asked.fact_expires_at is None
    assert asked.answer_by is None
    assert asked.why


def test_an_approval_makes_the_fact_and_names_who_gave_it(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    fact = gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")
    assert fact.approved_by == "approver:Mia"
    assert fact.valid_from == ana.now
    assert city(ana) == "Oslo"
    assert [f.value for f in ana.profile.history("home_city")] == ["Leeds", "Oslo"]
    shown = gate.review.approvals.show(asked.approval_id)
    assert (shown.status, shown.approver) == (ApprovalStatus.APPROVED, "Mia")
    proposal = gate.ledger.proposal(asked.proposal_id)
    assert proposal is not None
    assert (proposal.status, proposal.fact_id) == ("APPROVED", fact.fact_id)
    (entry,) = [e for e in gate.ledger.audit_log() if e.action == "approve"]
    assert entry.by == "Mia"
    assert entry.detail is not None
    assert entry.detail["payload_hash"] == asked.payload_hash


def test_the_same_answer_again_is_the_same_fact(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    once = gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")
    twice = gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")
    assert once.fact_id == twice.fact_id
    with pytest.raises(NotAllowedError):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Tom")
    with pytest.raises(NotAllowedError):
        gate.review.approvals.decline(asked.approval_id, asked.payload_hash, by="Mia")
    assert len(ana.profile.history("home_city")) == 2


def test_an_approver_says_since_when_it_holds(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    since = START + timedelta(hours=5)
    fact = gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia", on=since)
    assert fact.valid_from == since
    assert city(ana) == "Oslo"


def test_another_payload_approves_nothing(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    with pytest.raises(ApprovalError, match="payload"):
        gate.review.approvals.approve(asked.approval_id, "0" * 64, by="Mia")
    assert city(ana) == "Leeds"
    assert gate.review.approvals.show(asked.approval_id).status is ApprovalStatus.AWAITING


@pytest.mark.parametrize("everything", ["*", "all", " ALL ", "", "everything"])
def test_a_blanket_approval_is_refused(
    gate: MemoryGate, asked: ApprovalRequest, everything: str
) -> None:
    with pytest.raises(ApprovalError, match="blanket"):
        gate.review.approvals.approve(everything, asked.payload_hash, by="Mia")


@pytest.mark.parametrize("by", ["assistant", "Model", "llm", "agent:planner", "rule:any", "tool"])
def test_a_model_cannot_approve_confirm_or_discard(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest, by: str
) -> None:
    ana.says("I might join Initech")
    plan = next(item for item in ana.profile.staged() if item.value == "Initech")
    with pytest.raises(ApprovalError, match="no person"):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by=by)
    with pytest.raises(ApprovalError, match="no person"):
        gate.review.confirm(plan.staged_id, by=by)
    with pytest.raises(ApprovalError, match="no person"):
        gate.review.discard(plan.staged_id, by=by)


def test_nobody_and_unknown_requests_are_refused(gate: MemoryGate, asked: ApprovalRequest) -> None:
    with pytest.raises(InvalidInputError):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by=" ")
    with pytest.raises(NotFoundError):
        gate.review.approvals.approve("appr_nothing", asked.payload_hash, by="Mia")
    with pytest.raises(InvalidInputError, match="time zone"):
        gate.review.approvals.approve(
            asked.approval_id,
            asked.payload_hash,
            by="Mia",
            on=datetime(2026, 3, 3),  # noqa: DTZ001
        )


def test_only_named_approvers_may(scripted: OpenGate) -> None:
    gate = scripted(script=GUESSED, approvals=ApprovalPolicy(approvers=frozenset({"Mia"})))
    guess(Talk(gate, "ana", START))
    (asked,) = gate.review.approvals.list()
    with pytest.raises(ApprovalError, match="Tom may not"):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Tom")
    assert gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")


def test_a_value_that_changed_meanwhile_voids_the_request_and_asks_again(
    gate: MemoryGate, ana: Talk
) -> None:
    guess(ana)
    (asked,) = gate.review.approvals.list()
    ana.says("I live in York")
    with pytest.raises(ApprovalError, match="changed since"):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")
    assert city(ana) == "York"
    assert gate.review.approvals.show(asked.approval_id).status is ApprovalStatus.VOID
    (again,) = gate.review.approvals.list()
    assert again.approval_id != asked.approval_id
    assert "York" in again.effect
    gate.review.approvals.approve(again.approval_id, again.payload_hash, by="Mia")
    assert city(ana) == "Oslo"


def test_a_request_is_void_once_its_item_is_settled_otherwise(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    ana.says("yes I do")
    assert city(ana) == "Oslo"
    shown = gate.review.approvals.show(asked.approval_id)
    assert shown.status is ApprovalStatus.VOID
    with pytest.raises(NotAllowedError):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")


def test_what_waits_for_approval_is_not_confirmed_past_it(
    gate: MemoryGate, asked: ApprovalRequest
) -> None:
    with pytest.raises(ApprovalError, match="exact payload"):
        gate.review.confirm(asked.staged_id or "", by="Mia")


def test_a_decline_ends_it_with_a_record(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    gone = gate.review.approvals.decline(asked.approval_id, asked.payload_hash, by="Mia")
    assert gone.status is StagedStatus.DISCARDED
    assert city(ana) == "Leeds"
    shown = gate.review.approvals.show(asked.approval_id)
    assert (shown.status, shown.approver) == (ApprovalStatus.DECLINED, "Mia")
    with pytest.raises(NotAllowedError):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")


def test_the_words_must_still_be_there(gate: MemoryGate, ana: Talk, asked: ApprovalRequest) -> None:
    gate.revocation.erase(ana.subject, by="Mia")
    with pytest.raises((ApprovalError, NotAllowedError)):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")


# --- deployments with nobody to ask --------------------------------------------------------------


def test_without_a_policy_it_waits_for_ever(
    gate: MemoryGate, ana: Talk, asked: ApprovalRequest
) -> None:
    assert list(gate.review.approvals.lapse(datetime.now(UTC) + 3650 * DAY)) == []
    assert item_of(gate, asked) is StagedStatus.PENDING


def test_unanswered_requests_lapse_with_a_record(scripted: OpenGate) -> None:
    policy = ApprovalPolicy(unanswered=Unanswered.EXPIRE, days=7)
    gate = scripted(script=GUESSED, approvals=policy)
    ana = Talk(gate, "ana", START)
    guess(ana)
    (asked,) = gate.review.approvals.list()
    assert asked.answer_by == asked.requested_at + 7 * DAY
    assert list(gate.review.approvals.lapse(asked.requested_at + 6 * DAY)) == []
    (lapsed,) = gate.review.approvals.lapse(asked.requested_at + 7 * DAY)
    assert lapsed.approval_id == asked.approval_id
    assert item_of(gate, asked) is StagedStatus.EXPIRED
    (entry,) = [e for e in gate.ledger.audit_log() if e.action == "lapse"]
    assert entry.by == "policy:unanswered approvals expire after 7 days"
    assert EventType.EXPIRED in {e.event_type for e in gate.ledger.events()}
    with pytest.raises(NotAllowedError):
        gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")


def test_an_answer_after_the_deadline_is_refused(scripted: OpenGate) -> None:
    policy = ApprovalPolicy(unanswered=Unanswered.EXPIRE, days=1)
    gate = scripted(script=GUESSED, approvals=policy)
    guess(Talk(gate, "ana", START))
    (asked,) = gate.review.approvals.list()
    subject = asked.subject
    with gate.ledger.write(subject) as tx, pytest.raises(ApprovalError, match="expired"):
        tx.decide_approval(
            asked.approval_id,
            asked.payload_hash,
            approver="Mia",
            approve=True,
            at=asked.requested_at + 2 * DAY,
        )


def test_where_nobody_is_there_it_is_dropped_with_a_record(scripted: OpenGate) -> None:
    gate = scripted(script=GUESSED, approvals=ApprovalPolicy(unanswered=Unanswered.DROP))
    ana = Talk(gate, "ana", START)
    receipt = guess(ana)
    dropped = next(j for j in receipt.judged if j.decision.rule == "assistant_guess")
    assert dropped.decision.decision is DecisionType.REJECT
    assert "nobody can approve it here" in dropped.decision.reason
    assert receipt.forward == "Noted"
    assert not ana.profile.staged(status=None)
    assert not gate.review.approvals.list()
    record = gate.ledger.proposal(dropped.proposal_id)
    assert record is not None
    assert record.decision.decision is DecisionType.REJECT


def test_plans_are_held_whatever_the_approval_policy(scripted: OpenGate) -> None:
    gate = scripted(approvals=ApprovalPolicy(unanswered=Unanswered.DROP))
    ana = Talk(gate, "ana", START)
    ana.says("I might move to Seattle")
    assert [item.value for item in ana.profile.staged()] == ["Seattle"]


def test_a_plan_is_not_asked_about(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I might move to Seattle")
    (item,) = ana.profile.staged()
    assert not gate.review.approvals.list()
    with pytest.raises(ApprovalError, match="a plan waits"):
        gate.review.approvals.ask(item.staged_id, by="Mia")


def test_a_voided_request_can_be_asked_again(gate: MemoryGate, asked: ApprovalRequest) -> None:
    with gate.ledger.write(asked.subject) as tx:
        tx.void_approvals(asked.proposal_id, asked.requested_at)
    again = gate.review.approvals.ask(asked.staged_id or "", by="Mia")
    assert again.approval_id != asked.approval_id
    gate.review.approvals.approve(again.approval_id, again.payload_hash, by="Mia")
