"""Expiries, unanswered requests, and a second look for secrets, each with a record."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memgate_core import MemoryGate
from memgate_core.errors import InvalidInputError
from memgate_core.model import EventType, FactStatus, StagedStatus
from memgate_core.policy.approvals import ApprovalPolicy, Unanswered
from memgate_core.policy.reviews import ReviewPolicy
from tests.admission.conftest import START, OpenGate
from tests.support.scripted import SCRIPT, plan, state
from tests.support.talk import Talk

DAY = timedelta(days=1)


def test_without_a_policy_nothing_expires(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I might move to Seattle")
    report = gate.maintenance.run(START + 9999 * DAY)
    assert report.expired_items == ()
    assert [item.status for item in ana.profile.staged(status=None)] == [StagedStatus.PENDING]


def test_a_plan_nobody_speaks_of_any_more_expires_with_a_record(
    gate: MemoryGate, ana: Talk
) -> None:
    ana.says("I might move to Seattle")
    ana.says("I might join Initech", after=50 * DAY)
    policy = ReviewPolicy(unheard_days=60)
    assert gate.maintenance.run(ana.now, reviews=policy).expired_items == ()
    now = ana.now + 20 * DAY
    report = gate.maintenance.run(now, reviews=policy)
    (gone,) = [i for i in ana.profile.staged(status=None) if i.status is StagedStatus.EXPIRED]
    assert report.expired_items == (gone.staged_id,)
    assert gone.value == "Seattle"
    assert gone.resolved_at == now
    assert gone.reason == "nothing was heard of it for 60 days"
    (entry,) = [e for e in gate.ledger.audit_log() if e.action == "expire"]
    assert (entry.target, entry.by) == (gone.staged_id, "policy:60 days unheard of")
    assert [e.event_type for e in gate.ledger.events()].count(EventType.EXPIRED) == 1
    assert gate.maintenance.run(now, reviews=policy).expired_items == ()


def test_a_plan_stated_again_is_young_again(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I might move to Seattle")
    ana.says("I might move to Seattle", after=50 * DAY)
    policy = ReviewPolicy(unheard_days=60)
    assert gate.maintenance.run(START + 70 * DAY, reviews=policy).expired_items == ()


def test_a_plan_whose_own_day_has_passed_expires(scripted: OpenGate) -> None:
    words = "I might move to Oslo on 3 May"
    gate = scripted(script={**SCRIPT, words: plan("home_city", "Oslo")})
    ana = Talk(gate, "ana", START)
    ana.says(words)
    (item,) = ana.profile.staged()
    assert item.review_at is not None
    policy = ReviewPolicy(overdue_days=14)
    assert gate.maintenance.run(item.review_at + 13 * DAY, reviews=policy).expired_items == ()
    report = gate.maintenance.run(item.review_at + 14 * DAY, reviews=policy)
    assert report.expired_items == (item.staged_id,)


def test_a_facts_own_end_closes_it(gate: MemoryGate, ana: Talk) -> None:
    ends = START + 30 * DAY
    said = {
        "attribute": "home_city",
        "value": "Leeds",
        "span": "I live in Leeds",
        "expires_at": ends,
    }
    gate.observe(ana.turn("I live in Leeds"), [said])
    assert gate.maintenance.run(ends - DAY).expired_facts == ()
    (fact,) = ana.facts()
    assert gate.maintenance.run(ends + 5 * DAY).expired_facts == (fact.fact_id,)
    assert ana.facts() == []
    (closed,) = ana.profile.history("home_city")
    assert (closed.status, closed.valid_to) == (FactStatus.SUPERSEDED, ends)
    assert [f.value for f in ana.profile.facts(as_of=ends - DAY)] == ["Leeds"]
    assert gate.maintenance.run(ends + 5 * DAY).expired_facts == ()


def test_unanswered_requests_lapse_in_the_same_run(scripted: OpenGate) -> None:
    script = {**SCRIPT, "you live in Oslo": state("home_city", "Oslo")}
    gate = scripted(script=script, approvals=ApprovalPolicy(unanswered=Unanswered.EXPIRE, days=3))
    ana = Talk(gate, "ana", START)
    said = {"attribute": "home_city", "value": "Oslo", "span": "you live in Oslo"}
    gate.observe(ana.turn("So you live in Oslo", role="assistant"), [said])
    (asked,) = gate.review.approvals.list()
    report = gate.maintenance.run(asked.requested_at + 4 * DAY)
    assert report.lapsed_approvals == (asked.approval_id,)


def test_a_time_without_a_zone_is_refused(gate: MemoryGate) -> None:
    with pytest.raises(InvalidInputError, match="time zone"):
        gate.maintenance.run(datetime(2026, 3, 2))  # noqa: DTZ001


def test_what_an_older_screener_let_in_stops_commits(scripted: OpenGate) -> None:
    careless = scripted()
    ana = Talk(careless, "ana", START)
    ana.says("I live in Leeds")
    clean = careless.maintenance.look_for_secrets()
    assert (clean.looked_at, clean.found) == (1, ())
    with careless.ledger.write(ana.subject) as tx:
        (fact,) = ana.facts()
        tx.append(
            EventType.COMMITTED,
            occurred_at=START,
            fact=fact.model_copy(update={"text": "card 4111 1111 1111 1111"}),
        )
    report = careless.maintenance.look_for_secrets(after=clean.last_seq)
    assert report.found == (fact.fact_id,)
    assert careless.rollout.show().tripped == f"secret ingested: {fact.fact_id}"
