"""Recorded messages under another configuration: what would differ, and nothing written."""

from __future__ import annotations

from typing import Any

from memgate_core import DecisionType, MemoryGate
from memgate_core.model import EvidenceType
from memgate_core.policy.matrix import Rule
from memgate_core.replay import ReplayExtraction, replay, summed_up
from tests.admission.conftest import START, OpenGate
from tests.admission.test_proposals import LEEDS, formal
from tests.support.scripted import FIELDS, SCRIPT, Line, ScriptedJudges, plan
from tests.support.talk import Talk


def options(**changes: Any) -> dict[str, Any]:
    """A configuration like the recorded one, with changes of the script or of the rules."""
    judges = ScriptedJudges({**SCRIPT, **changes.pop("script", {})})
    return {
        "fields": FIELDS,
        "classifier": judges,
        "matcher": judges,
        "checker": judges,
        "standing": judges,
        "reader": judges,
        **changes,
    }


def snapshot(gate: MemoryGate) -> list[str]:
    ledger = gate.ledger
    rows = [*ledger.turns(), *ledger.events(), *ledger.counters(), *ledger.audit_log()]
    rows += [row for s in ledger.subjects() for row in ledger.proposals(s)]
    return [row.model_dump_json() for row in rows]


def test_the_same_configuration_differs_in_nothing(gate: MemoryGate, ana: Talk) -> None:
    for text in ("I live in Leeds", "I might move to Seattle", "I have moved to Seattle"):
        ana.says(text)
    before = snapshot(gate)
    differences = list(replay(gate.ledger, **options()))
    assert [d.changes for d in differences] == [(), (), ()]
    assert snapshot(gate) == before


def test_another_judge_shows_what_it_would_do(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    ana.says("I moved to York", message_id="move")
    ben = Talk(gate, "ben", START)
    ben.says("I live in Leeds")
    doubting = options(script={"I moved to York": plan("home_city", "York")})
    differences = [d for d in replay(gate.ledger, **doubting) if d.changes]
    (only,) = differences
    assert (only.subject, only.message_id) == (ana.subject, "move")
    (change,) = only.changes
    assert (change.what, change.value) == ("home_city", "York")
    assert (change.before, change.after) == ("COMMIT", "STAGE")
    assert (change.before_rule, change.after_rule) == ("superseding", "speculation")
    summary = summed_up(replay(gate.ledger, **doubting))
    assert (summary.turns, summary.differing) == (3, 1)
    assert summary.changes == {"COMMIT -> STAGE": 1}


def test_another_outcome_of_a_held_item_is_shown(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I might move to Seattle")
    ana.says("that move is off", message_id="off")
    deaf = options(script={"that move is off": Line()})
    (only,) = [d for d in replay(gate.ledger, subject=ana.subject, **deaf) if d.changes]
    assert only.message_id == "off"
    held = next(c for c in only.changes if c.what == "held home_city")
    assert (held.value, held.before, held.after) == ("Seattle", "abandon", None)


def test_a_row_of_the_matrix_can_be_tried_out(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    cautious = Rule(
        name="asks_first",
        when={"registered": True, "evidence": EvidenceType.OTHER},
        then=DecisionType.NEEDS_CONFIRMATION,
        reason="asks before it keeps anything",
    )
    summary = summed_up(replay(gate.ledger, **options(rules=[cautious])))
    assert summary.changes == {"COMMIT -> NEEDS_CONFIRMATION": 1}


def test_recorded_proposals_come_again_or_are_left_out(scripted: OpenGate) -> None:
    gate = scripted(script={**SCRIPT, "I dwell in Bath": Line()})
    ana = Talk(gate, "ana", START)
    said = {"attribute": "home_city", "value": "Bath", "span": "I dwell in Bath"}
    gate.observe(ana.turn("I dwell in Bath"), [said])
    again = options(script={"I dwell in Bath": Line()})
    assert summed_up(replay(gate.ledger, **again)).differing == 0
    (alone,) = replay(gate.ledger, extraction=ReplayExtraction.LOCAL, **again)
    assert ("home_city", "COMMIT", None) in {(c.what, c.before, c.after) for c in alone.changes}


def test_formal_proposals_come_again_too(gate: MemoryGate, ana: Talk) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    gate.observe(turn, [formal(turn)])
    silent = options(script={LEEDS: Line()})
    assert summed_up(replay(gate.ledger, **silent)).differing == 0
    alone = summed_up(replay(gate.ledger, extraction=ReplayExtraction.LOCAL, **silent))
    assert alone.differing == 1


def test_an_erased_subject_is_passed_over(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds")
    gate.revocation.erase(ana.subject, by="Mia")
    assert list(replay(gate.ledger, **options())) == []
