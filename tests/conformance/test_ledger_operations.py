"""What every ledger backend does for admission, review and operators."""

from __future__ import annotations

import pytest

from memgate_core.errors import ApprovalError, NotAllowedError, NotFoundError
from memgate_core.ledger.protocol import ProposalRecord
from memgate_core.ledger.records import Approval, ApprovalStatus, Rollout
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import DecisionType, EventType, FactStatus, NativeLink, Role, StagedStatus
from tests.support.build import (
    ANA,
    BEN,
    day,
    make_fact,
    make_key,
    make_proposal,
    make_receipt,
    make_staged,
    make_turn,
)
from tests.support.ledgers import commit, deliver_all, hold, promote

# --- approvals ---------------------------------------------------------------------------------


@pytest.fixture
def proposal(ledger: SqlLedger) -> ProposalRecord:
    proposal = make_proposal(decision=DecisionType.NEEDS_CONFIRMATION)
    with ledger.write(ANA) as tx:
        tx.save_proposal(proposal)
    return proposal


@pytest.fixture
def asked(ledger: SqlLedger, proposal: ProposalRecord) -> Approval:
    with ledger.write(ANA) as tx:
        return tx.request_approval(
            proposal.proposal_id,
            proposal.payload_hash,
            requested_at=day(0),
            expires_at=day(7),
            policy_version="p1",
        )


def decide(ledger: SqlLedger, asked: Approval, **rest: object) -> Approval:
    answer = {"approver": "kim", "approve": True, "at": day(1), "hash": asked.payload_hash, **rest}
    with ledger.write(ANA) as tx:
        return tx.decide_approval(asked.approval_id, answer.pop("hash"), **answer)


def proposal_status(ledger: SqlLedger, asked: Approval) -> str:
    stored = ledger.proposal(asked.proposal_id)
    assert stored is not None
    return stored.status


def test_an_approval_is_asked_for_once(
    ledger: SqlLedger, proposal: ProposalRecord, asked: Approval
) -> None:
    with ledger.write(ANA) as tx:
        again = tx.request_approval(
            proposal.proposal_id, proposal.payload_hash, requested_at=day(2)
        )
    assert again == asked
    assert ledger.approvals(status=ApprovalStatus.AWAITING) == [asked]
    assert proposal_status(ledger, asked) == "AWAITING"


def test_a_person_approves(ledger: SqlLedger, asked: Approval) -> None:
    decided = decide(ledger, asked)
    assert (decided.status, decided.approver, decided.decided_at) == (
        ApprovalStatus.APPROVED,
        "kim",
        day(1),
    )
    assert ledger.approval(asked.approval_id) == decided
    assert decide(ledger, asked) == decided
    assert proposal_status(ledger, asked) == "APPROVED"
    with pytest.raises(ApprovalError):
        decide(ledger, asked, approver="lee")


def test_a_person_declines(ledger: SqlLedger, asked: Approval) -> None:
    assert decide(ledger, asked, approve=False).status is ApprovalStatus.DECLINED
    assert proposal_status(ledger, asked) == "DECLINED"
    with pytest.raises(ApprovalError):
        decide(ledger, asked)


@pytest.mark.parametrize(
    "change", [{"hash": "0" * 64}, {"approver": " "}, {"at": day(7)}], ids=lambda c: next(iter(c))
)
def test_an_approval_that_does_not_bind_is_refused(
    ledger: SqlLedger, asked: Approval, change: dict[str, object]
) -> None:
    with pytest.raises(ApprovalError):
        decide(ledger, asked, **change)
    assert ledger.approval(asked.approval_id) == asked


def test_there_is_no_approval_without_its_proposal(
    ledger: SqlLedger, proposal: ProposalRecord, asked: Approval
) -> None:
    with pytest.raises(NotFoundError), ledger.write(ANA) as tx:
        tx.request_approval("unknown", proposal.payload_hash, requested_at=day(0))
    with pytest.raises(ApprovalError), ledger.write(ANA) as tx:
        tx.request_approval(proposal.proposal_id, "0" * 64, requested_at=day(0))
    with pytest.raises(NotAllowedError), ledger.write(BEN) as tx:
        tx.request_approval(proposal.proposal_id, proposal.payload_hash, requested_at=day(0))
    with pytest.raises(NotFoundError), ledger.write(BEN) as tx:
        tx.decide_approval(
            asked.approval_id, asked.payload_hash, approver="kim", approve=True, at=day(1)
        )


def test_unanswered_requests_lapse_with_a_record(ledger: SqlLedger, asked: Approval) -> None:
    with ledger.write(ANA) as tx:
        assert tx.lapse_approvals(day(6)) == []
    assert ledger.approvals(expired_before=day(7), subject=ANA) == [asked]
    with ledger.write(ANA) as tx:
        (lapsed,) = tx.lapse_approvals(day(7))
    assert (lapsed.status, lapsed.decided_at) == (ApprovalStatus.LAPSED, day(7))
    assert proposal_status(ledger, asked) == "LAPSED"
    assert ledger.approvals(status=ApprovalStatus.AWAITING) == []


def test_a_voided_request_cannot_be_answered(ledger: SqlLedger, asked: Approval) -> None:
    with ledger.write(ANA) as tx:
        assert len(tx.void_approvals(asked.proposal_id, day(1))) == 1
    with pytest.raises(ApprovalError):
        decide(ledger, asked)
    assert ledger.approvals(proposal_id=asked.proposal_id, limit=5)[0].status == "VOID"


# --- the turn before ---------------------------------------------------------------------------


def test_the_last_turn_of_a_role_is_found_in_its_session(ledger: SqlLedger) -> None:
    said = [("m1", Role.USER, "a"), ("m2", Role.ASSISTANT, "a"), ("m3", Role.USER, None)]
    for message_id, role, session in said:
        turn = make_turn("words", message_id, role=role, session=session)
        with ledger.write(ANA) as tx:
            tx.save_turn(turn, turn.text, make_receipt(turn))
    found = ledger.previous_turn(ANA, before=day(1), session="a")
    assert found is not None
    assert found.message_id == "m1"
    alone = ledger.previous_turn(ANA, before=day(1))
    assert alone is not None
    assert alone.message_id == "m3"
    assert ledger.previous_turn(ANA, before=day(-1)) is None
    assert ledger.previous_turn(BEN, before=day(1)) is None


# --- counters, rollout, audit ------------------------------------------------------------------


def test_counters_add_up_by_policy_version(ledger: SqlLedger) -> None:
    ledger.count("commits", "p1")
    for subject in (ANA, BEN):
        with ledger.write(subject) as tx:
            tx.count("commits", "p1", 2)
            tx.count("commits", "p2")
    with pytest.raises(NotFoundError):
        _count_and_fail(ledger)
    counted = [(c.name, c.policy_version, c.value) for c in ledger.counters()]
    assert counted == [("commits", "p1", 5), ("commits", "p2", 2)]


def _count_and_fail(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.count("commits", "p1", 100)
        tx.settle_proposal("unknown")


def test_the_rollout_state_changes_one_step_at_a_time(ledger: SqlLedger) -> None:
    assert ledger.rollout() is None
    shadow = Rollout(mode="shadow", policy_version="p1", changed_at=day(0), changed_by="ops")
    first = ledger.set_rollout(shadow)
    assert (first.revision, ledger.rollout()) == (1, first)
    canary = first.model_copy(update={"mode": "canary", "canary_percent": 5.0})
    second = ledger.set_rollout(canary)
    with pytest.raises(NotAllowedError):
        ledger.set_rollout(canary.model_copy(update={"mode": "on"}))
    with pytest.raises(NotAllowedError):
        ledger.set_rollout(shadow)
    assert ledger.rollout() == second
    assert [entry.target for entry in ledger.audit_log()] == ["shadow", "canary"]


def test_the_audit_trail_is_kept_in_order(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.audit("revoke", "fact_1", by="kim", detail={"facts": 2})
    ledger.audit("trip", "rollout", by="ledger")
    ledger.audit("revoke", "fact_2", by="kim", subject=BEN)
    entries = ledger.audit_log()
    assert [(e.action, e.target, e.by) for e in entries] == [
        ("revoke", "fact_1", "kim"),
        ("trip", "rollout", "ledger"),
        ("revoke", "fact_2", "kim"),
    ]
    assert entries[0].detail == {"facts": 2}
    assert (entries[0].subject_id, entries[1].subject_id) == ("ana", None)
    assert ledger.audit_log(subject=BEN) == [entries[2]]
    assert ledger.audit_log(target="fact_1") == [entries[0]]
    assert ledger.audit_log(after=entries[0].number, limit=1) == [entries[1]]


# --- erasure -----------------------------------------------------------------------------------

WORDS = ("cardiologist", "heart", "Leeds", "Seattle", "employer_of_secrets")


def fill(ledger: SqlLedger) -> None:
    """One subject with a word in every table."""
    ledger.register("p")
    turn = make_turn("I might see a cardiologist about my heart", speaker="Seattle Ana")
    receipt = make_receipt(turn)
    secret = make_key("employer_of_secrets")
    with ledger.write(ANA) as tx:
        tx.save_turn(turn, turn.text, receipt)
        tx.save_answer("m1", {"results": ["heart"]})
        tx.save_proposal(make_proposal("Leeds", key=secret))
        tx.request_approval(
            make_proposal("Leeds", key=secret).proposal_id,
            make_proposal("Leeds", key=secret).payload_hash,
            requested_at=day(0),
        )
        tx.link(NativeLink(projection="p", native_id="n1", fact_ids=("f",), text="heart"))
        tx.audit("note", "m1", by="gate")
    commit(ledger, make_fact("Leeds", key=secret))
    hold(ledger, make_staged("Oslo heart", "m3", key=make_key("open")))
    promote(ledger, hold(ledger, make_staged("Seattle", "m4")), make_fact("Seattle", "m5"))


def everything(ledger: SqlLedger) -> str:
    """All that the ledger's reads say of everybody."""
    parts: list[object] = [*ledger.turns(), *ledger.events(), *ledger.parked()]
    for subject in ledger.subjects():
        parts += ledger.facts(subject, include_closed=True, include_pending_native=True)
        parts += ledger.staged(subject, status=None)
        parts += ledger.proposals(subject)
        parts += ledger.links("p", subject=subject)
    parts += [*ledger.approvals(), *ledger.audit_log(), *ledger.due("p")]
    return "\n".join(part.model_dump_json() for part in parts)


def test_erasing_leaves_ids_and_no_words(ledger: SqlLedger) -> None:
    fill(ledger)
    before = everything(ledger)
    assert all(word in before for word in WORDS)
    with ledger.write(ANA) as tx:
        counts = tx.erase()
        tx.append(EventType.ERASED, occurred_at=day(9))
    assert counts["turns"] == 1
    after = everything(ledger)
    assert [word for word in WORDS if word in after] == []
    assert make_proposal("Leeds", key=make_key("employer_of_secrets")).proposal_id in after
    assert "n1" in after


def test_nothing_of_an_erased_subject_is_read_or_delivered(ledger: SqlLedger) -> None:
    fill(ledger)
    with ledger.write(ANA) as tx:
        tx.erase()
        tx.append(EventType.ERASED, occurred_at=day(9))
    assert ledger.facts(ANA) == []
    assert ledger.staged(ANA) == []
    assert ledger.pending_count(ANA) == 0
    assert ledger.touched(ANA, frozenset({"heart"}), session=None, limit=5) == []
    assert {f.status for f in ledger.facts(ANA, include_closed=True)} == {FactStatus.REVOKED}
    statuses = {item.status for item in ledger.staged(ANA, status=None)}
    assert statuses == {StagedStatus.REVOKED}
    assert ledger.approvals()[0].status is ApprovalStatus.VOID
    assert deliver_all(ledger, "p") == [EventType.ERASED]


def test_erasing_spares_everybody_else_and_the_future(ledger: SqlLedger) -> None:
    fill(ledger)
    commit(ledger, make_fact("Leeds", key=make_key(subject=BEN)))
    with ledger.write(ANA) as tx:
        tx.erase()
        tx.append(EventType.ERASED, occurred_at=day(9))
    deliver_all(ledger, "p")
    assert [fact.value for fact in ledger.facts(BEN)] == ["Leeds"]
    again = commit(ledger, make_fact("Lyon", "m9", key=make_key("employer_of_secrets")))
    assert again.version == 1
    assert [fact.value for fact in ledger.facts(ANA)] == ["Lyon"]
    record = ledger.turn(ANA, "m1")
    assert record is not None
    assert (record.text, record.receipt.forward) == ("", None)


def test_a_delivery_under_way_leaves_no_words_behind(ledger: SqlLedger) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    (delivery,) = ledger.due("p")
    with ledger.write(ANA) as tx:
        tx.erase()
        tx.append(EventType.ERASED, occurred_at=day(9))
    ledger.acknowledge(delivery, [NativeLink(projection="p", native_id="n1", text="Seattle")])
    (link,) = ledger.links("p", native_id="n1")
    assert link.text is None
    assert deliver_all(ledger, "p") == [EventType.ERASED]
