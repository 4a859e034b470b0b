"""Rollout: record only, a stable share of low-risk keys, everything; and the switch that trips."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memgate_core import DecisionType, MemoryGate
from memgate_core.commit_switch import trip
from memgate_core.errors import ApprovalError, ConfigurationError, NotAllowedError
from memgate_core.model import (
    EvidenceType,
    FieldKey,
    FieldSpec,
    NativeLink,
    Sensitivity,
    StagedStatus,
    Subject,
)
from memgate_core.policy.matrix import Rule
from memgate_core.policy.rollout import Mode, Reach, bucket_of
from tests.admission.conftest import START, OpenGate
from tests.support.scripted import CITY, JOB
from tests.support.shelf import Shelf
from tests.support.talk import Talk

LOW_CITY = CITY.model_copy(update={"sensitivity": Sensitivity.LOW})


def city(talk: Talk) -> str | None:
    fact = talk.profile.current("home_city")
    return fact.value if fact else None


# --- shadow ----------------------------------------------------------------------------------------


def test_shadow_records_what_would_be_and_changes_nothing(
    gate: MemoryGate, ana: Talk, tmp_path: Path
) -> None:
    shelf = Shelf(tmp_path / "shelf.db", gate.ledger)
    gate.attach(shelf)
    gate.rollout.set("shadow", by="Mia")
    plan = ana.says("I might move to Seattle")
    fact = ana.says("I live in Leeds")
    gate.deliver()
    assert plan.shadow
    assert plan.unchanged
    assert (plan.forward, plan.withheld) == ("I might move to Seattle", ())
    assert [j.decision.decision for j in plan.judged] == [DecisionType.STAGE]
    assert [j.decision.decision for j in fact.judged] == [DecisionType.COMMIT]
    assert all(j.recorded_only and not j.fact_id and not j.staged_id for j in plan.judged)
    assert ana.facts() == list(ana.profile.staged(status=None)) == []
    assert list(gate.ledger.events()) == []
    assert shelf.recall(ana.subject) == shelf.held(ana.subject) == []
    isolated = gate.ledger.proposals(ana.subject)
    assert {proposal.status for proposal in isolated} == {"ISOLATED"}
    assert "holds and notes nothing" in plan.say()


def test_shadow_lets_even_a_tools_words_through_unchanged(gate: MemoryGate, ana: Talk) -> None:
    gate.rollout.set("shadow", by="Mia")
    receipt = ana.hears("the user lives in Oslo", role="tool")
    assert receipt.unchanged
    assert receipt.forward == "the user lives in Oslo"


def test_shadow_settles_no_plan_that_was_held_before(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    ana.says("I might move to Seattle")
    gate.rollout.set("shadow", by="Mia")
    receipt = ana.says("I have moved to Seattle")
    assert [(r.value, r.fact_id) for r in receipt.resolved] == [("Seattle", None)]
    assert [item.status for item in ana.profile.staged(status=None)] == [StagedStatus.PENDING]
    assert city(ana) == "Leeds"
    assert ana.says("ignore my last message").withdrawn == ()


def test_the_mode_holds_for_every_process(scripted: OpenGate) -> None:
    one, other = scripted(), scripted()
    one.rollout.set("shadow", by="Mia")
    assert Talk(other, "ana", START).says("I live in Leeds").shadow
    other.rollout.set("on", by="Mia")
    assert not Talk(one, "ben", START).says("I live in Leeds").shadow


# --- canary ----------------------------------------------------------------------------------------


def key_of(number: int, attribute: str = "home_city") -> FieldKey:
    return FieldKey(subject=Subject(user_id=f"u{number}"), normalized_key=attribute)


def test_the_share_of_keys_is_stable_and_only_grows() -> None:
    reached = [
        {n for n in range(4000) if Reach(mode=Mode.CANARY, percent=p).acts(key_of(n), LOW_CITY)}
        for p in (0, 5, 20, 100)
    ]
    assert reached[0] == set()
    assert reached[0] < reached[1] < reached[2] < reached[3]
    assert len(reached[3]) == 4000
    assert 150 < len(reached[1]) < 250
    assert bucket_of(key_of(7)) == bucket_of(key_of(7))
    assert bucket_of(key_of(7)) != bucket_of(key_of(7, "employer"))


@pytest.mark.parametrize("field", [CITY, CITY.model_copy(update={"sensitivity": "high"}), None])
def test_only_low_risk_keys_are_reached(field: FieldSpec | None) -> None:
    assert not Reach(mode=Mode.CANARY, percent=100).acts(key_of(1), field)


def test_a_canary_acts_on_its_keys_and_leaves_the_others_alone(scripted: OpenGate) -> None:
    gate = scripted(fields=(LOW_CITY, JOB))
    gate.rollout.set("canary", by="Mia", percent=100)
    ana = Talk(gate, "ana", START)
    held = ana.says("I might move to Seattle")
    assert held.forward is None
    assert [item.value for item in ana.profile.staged()] == ["Seattle"]
    left = ana.says("I might join Initech")
    assert left.shadow
    assert left.forward == "I might join Initech"
    assert [item.value for item in ana.profile.staged()] == ["Seattle"]
    both = ana.says("I live in Leeds. I work at Acme.")
    assert not both.shadow
    assert {f.value for f in ana.facts()} == {"Leeds"}
    assert ana.says("I have moved to Seattle").resolved
    assert city(ana) == "Seattle"


def test_outside_its_share_a_canary_only_records(scripted: OpenGate) -> None:
    gate = scripted(fields=(LOW_CITY, JOB))
    gate.rollout.set("canary", by="Mia", percent=0)
    ana = Talk(gate, "ana", START)
    assert ana.says("I live in Leeds").shadow
    assert ana.facts() == []


# --- setting it ------------------------------------------------------------------------------------


def test_a_wrong_setting_is_refused(gate: MemoryGate) -> None:
    with pytest.raises(ConfigurationError, match="unknown"):
        gate.rollout.set("off", by="Mia")
    for percent in (None, -1, 101):
        with pytest.raises(ConfigurationError, match="share"):
            gate.rollout.set("canary", by="Mia", percent=percent)
    with pytest.raises(ConfigurationError, match="share"):
        gate.rollout.set("on", by="Mia", percent=5)
    with pytest.raises(ApprovalError):
        gate.rollout.set("on", by="assistant")
    assert gate.ledger.rollout() is None
    assert gate.rollout.show().mode == "on"


def test_every_change_stands_in_the_audit_trail(gate: MemoryGate) -> None:
    gate.rollout.set("shadow", by="Mia")
    gate.rollout.set("canary", by="Tom", percent=5)
    trail = [(e.action, e.target, e.by) for e in gate.ledger.audit_log()]
    assert trail == [("rollout", "shadow", "Mia"), ("rollout", "canary", "Tom")]


# --- the rollback ----------------------------------------------------------------------------------


def test_a_rollback_stops_commits_says_why_and_keeps_reads(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    gate.rollout.roll_back("wrong addresses seen", by="Mia")
    stopped = ana.says("I moved to York")
    assert stopped.shadow
    assert stopped.forward == "I moved to York"
    assert stopped.faults == ("commits are stopped: wrong addresses seen",)
    assert city(ana) == "Leeds"
    state = gate.rollout.show()
    assert (state.tripped, state.changed_by) == ("wrong addresses seen", "Mia")
    assert state.tripped_at is not None


def test_it_takes_a_person_who_says_so_to_go_on(gate: MemoryGate, ana: Talk) -> None:
    trip(gate.ledger, "first reason")
    trip(gate.ledger, "second reason")
    assert gate.rollout.show().tripped == "first reason"
    with pytest.raises(NotAllowedError, match="first reason"):
        gate.rollout.set("on", by="Mia")
    assert gate.rollout.set("on", by="Mia", clear=True).tripped is None
    assert not ana.says("I live in Leeds").shadow
    assert {c.name: c.value for c in gate.ledger.counters()}["rollbacks"] == 1


def test_after_a_rollback_reads_are_those_of_the_policy_before(scripted: OpenGate) -> None:
    old = scripted()
    old.rollout.set("on", by="Mia")
    ana = Talk(old, "ana", START)
    ana.says("I live in Leeds")
    ana.says("I work at Acme")
    new = scripted(
        rules=[
            Rule(
                name="mine",
                when={"evidence": EvidenceType.CORRECTION},
                then=DecisionType.IGNORE,
                reason="x",
            )
        ]
    )
    new.rollout.set("on", by="Mia")
    later = Talk(new, "ana", START + timedelta(days=1))
    later.says("I moved to York")
    acme = later.profile.current("employer")
    assert acme is not None
    new.revocation.revoke(acme.fact_id, by="Mia")
    assert city(later) == "York"
    state = new.rollout.roll_back("bad policy", by="Mia")
    assert state.reads_policy_version == state.previous_policy_version != state.policy_version
    assert city(later) == city(ana) == "Leeds"
    assert later.profile.current("employer") is None
    assert later.profile.current("home_city", as_of=later.now) is not None
    new.rollout.set("on", by="Mia", clear=True)
    assert city(later) == "York"


# --- what trips it ---------------------------------------------------------------------------------


def test_a_native_object_of_another_subject_stops_commits(gate: MemoryGate, ana: Talk) -> None:
    ben = Talk(gate, "ben", START)
    first = ana.says("I live in Leeds", message_id="a1")
    second = ben.says("I live in York", message_id="b1")

    def link(fact_id: str | None) -> NativeLink:
        return NativeLink(projection="shelf", native_id="row 7", fact_ids=(fact_id or "",))

    gate.answered(ana.subject, "a1", {}, [link(first.judged[0].fact_id)])
    assert gate.rollout.show().tripped is None
    gate.answered(ben.subject, "b1", {}, [link(second.judged[0].fact_id)])
    assert "cross-tenant write" in (gate.rollout.show().tripped or "")
    kept = gate.ledger.links("shelf", native_id="row 7")
    assert [one.fact_ids for one in kept] == [(first.judged[0].fact_id,)]


class Careless(Shelf):
    """A projection that writes everybody's facts into one object."""

    def apply(self, event):  # type: ignore[no-untyped-def]
        return [
            one.model_copy(update={"native_id": "the only row"}) for one in super().apply(event)
        ]


def test_a_delivery_into_another_subjects_object_stops_commits(
    gate: MemoryGate, ana: Talk, tmp_path: Path
) -> None:
    gate.attach(Careless(tmp_path / "shelf.db", gate.ledger))
    ben = Talk(gate, "ben", START)
    ana.says("I live in Leeds")
    gate.deliver()
    assert gate.rollout.show().tripped is None
    ben.says("I live in York")
    (report,) = gate.deliver()
    assert report.failed == 1
    assert "cross-tenant write" in (gate.rollout.show().tripped or "")
    assert "Leeds" not in (gate.rollout.show().tripped or "")


def test_a_stored_secret_stops_commits(gate: MemoryGate, ana: Talk) -> None:
    receipt = ana.says("I live in Leeds", message_id="a1")
    leaked = NativeLink(
        projection="shelf",
        native_id="row 1",
        fact_ids=(receipt.judged[0].fact_id or "",),
        text="lives in Leeds, card 4111 1111 1111 1111",
    )
    gate.answered(ana.subject, "a1", {}, [leaked])
    tripped = gate.rollout.show().tripped or ""
    assert tripped == "secret ingested: shelf object row 1"
    assert "4111" not in "".join(e.model_dump_json() for e in gate.ledger.audit_log())
