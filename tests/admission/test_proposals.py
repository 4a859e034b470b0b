"""Identified proposals: who proposed what on which words, and what comes again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memgate_core import DecisionType, MemoryGate, Receipt
from memgate_core.errors import InvalidInputError, ProtocolConflictError
from memgate_core.ledger.identity import MemoryProposal, canonical_hash
from memgate_core.ledger.records import ApprovalStatus
from memgate_core.model import (
    Candidate,
    Evidence,
    FieldKey,
    FieldSpec,
    Scope,
    Span,
    Subject,
    Turn,
)
from tests.admission.conftest import START, OpenGate
from tests.support.scripted import SCRIPT, Line, ScriptedJudges, state
from tests.support.talk import Talk

LEEDS = "I live in Leeds"


def formal(turn: Turn, value: str = "Leeds", words: str = LEEDS, **changes: Any) -> dict[str, Any]:
    """The article's proposal for words of a turn, as it travels."""
    at = turn.text.index(words)
    candidate = Candidate(
        attribute="home_city",
        value=value,
        text=words,
        words=words,
        evidence=Evidence.of(turn, Span(start=at, end=at + len(words))),
        ordinal=0,
        extractor="outside/7",
    )
    key = FieldKey(subject=turn.subject, normalized_key="home_city")
    sent = MemoryProposal.of(key, candidate).model_dump(mode="json", by_alias=True)
    sent |= changes
    identity = MemoryProposal.model_construct(**_snake(sent)).identity() if changes else None
    return {**sent, "proposalId": canonical_hash(identity)} if identity else sent


def _snake(sent: dict[str, Any]) -> dict[str, Any]:
    fields = MemoryProposal.model_fields
    model = {name: sent[str(field.alias)] for name, field in fields.items()}
    model["evidence"] = type("E", (), {_plain(k): v for k, v in sent["evidence"].items()})
    model["scope"] = type("S", (), sent["scope"])
    model["kind"] = type("K", (), {"value": sent["kind"]})
    return model


def _plain(name: str) -> str:
    return "message_id" if name == "messageId" else name


def value(talk: Talk, scope: Scope | None = None) -> str | None:
    fact = talk.profile.current("home_city", scope=scope)
    return fact.value if fact else None


def decisions(receipt: Receipt) -> list[tuple[DecisionType, str]]:
    return [(j.decision.decision, j.decision.rule) for j in receipt.judged]


def test_a_formal_proposal_is_taken_and_keeps_its_identity(gate: MemoryGate, ana: Talk) -> None:
    turn = ana.turn(f"{LEEDS}, you know", message_id="m1")
    sent = formal(turn)
    receipt = gate.observe(turn, [sent])
    first = receipt.judged[0]
    assert first.decision.decision is DecisionType.COMMIT
    assert first.proposal_id == sent["proposalId"]
    stored = gate.ledger.proposal(sent["proposalId"])
    assert stored is not None
    assert stored.candidate.extractor == "outside/7"
    assert stored.fact_id == first.fact_id


def test_that_a_model_calls_itself_explicit_is_not_even_read(gate: MemoryGate, ana: Talk) -> None:
    turn = ana.turn("I might move to Seattle", message_id="m1")
    sent = {
        **formal(turn, "Seattle", "I might move to Seattle"),
        "explicit": True,
        "approved": "yes",
        "confidence": 1.0,
    }
    receipt = gate.observe(turn, [sent])
    assert decisions(receipt)[0] == (DecisionType.STAGE, "speculation")


@pytest.mark.parametrize("part", ["tenantId", "subjectId"])
def test_another_tenants_proposal_is_refused(gate: MemoryGate, ana: Talk, part: str) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    receipt = gate.observe(turn, [formal(turn, **{part: "somebody-else"})])
    assert (DecisionType.REJECT, "cross_tenant") in decisions(receipt)
    assert ana.profile.current("home_city") is None


@pytest.mark.parametrize(
    "evidence",
    [
        {"start": 0, "end": 4},
        {"start": 0, "end": 4000},
        {"sha256": "0" * 64},
        {"messageId": "another message"},
    ],
)
def test_evidence_that_the_message_does_not_hold_is_refused(
    gate: MemoryGate, ana: Talk, evidence: dict[str, Any]
) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    sent = formal(turn)
    receipt = gate.observe(turn, [formal(turn, evidence={**sent["evidence"], **evidence})])
    assert (DecisionType.REJECT, "missing_evidence") in decisions(receipt)
    assert ana.profile.current("home_city") is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"proposalId": "0" * 64}, "proposalId is not the hash"),
        ({"kind": "rumour"}, "kind"),
        ({"value": {"a": 1}}, "value"),
        ({"confidence": 3}, "confidence"),
    ],
)
def test_a_malformed_proposal_is_refused_by_name(
    gate: MemoryGate, ana: Talk, changes: dict[str, Any], named: str
) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    with pytest.raises(InvalidInputError, match=named):
        gate.observe(turn, [{**formal(turn), **changes}])
    assert gate.ledger.turn(ana.subject, "m1") is None


def test_another_kind_than_the_fields_is_another_slot_and_refused(
    gate: MemoryGate, ana: Talk
) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    with pytest.raises(
        InvalidInputError, match=r"proposals\[0\].kind: home_city is of kind profile"
    ):
        gate.observe(turn, [formal(turn, kind="preference")])
    assert gate.ledger.turn(ana.subject, "m1") is None


def test_a_value_of_a_scope_stands_beside_the_one_that_holds_everywhere(
    gate: MemoryGate, ana: Talk
) -> None:
    apollo = Scope(kind="project", key="apollo")
    ana.says(LEEDS)
    turn = ana.turn("I moved to York", message_id="m2")
    sent = formal(turn, "York", "I moved to York", scope={"kind": "project", "key": "apollo"})
    receipt = gate.observe(turn, [sent])
    assert receipt.judged[0].proposal_id == sent["proposalId"]
    assert value(ana) == "Leeds"
    assert value(ana, apollo) == "York"
    scoped = ana.profile.current("home_city", scope=apollo)
    assert scoped is not None
    assert scoped.text == "I moved to York (project:apollo)"
    ana.says("it was Hull all along")
    assert (value(ana), value(ana, apollo)) == ("Hull", "York")
    later = ana.turn("I moved to Leeds", message_id="m4")
    gate.observe(later, [formal(later, "Leeds", "I moved to Leeds", scope=sent["scope"])])
    assert (value(ana), value(ana, apollo)) == ("Hull", "Leeds")
    assert [f.version for f in ana.facts() if f.key.scope == apollo] == [2]


class Overtaken(ScriptedJudges):
    """Judges, and lets somebody else write before anything is decided."""

    def __init__(self) -> None:
        super().__init__(SCRIPT)
        self.meanwhile: Callable[[], object] | None = None

    def stand(self, turn: Turn, claims: Any) -> Any:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return super().stand(turn, claims)


def test_the_loser_of_a_race_for_a_scopes_value_overwrites_nothing(scripted: OpenGate) -> None:
    scope = Scope(kind="project", key="apollo")
    judges = Overtaken()
    slow, quick = scripted(standing=judges), scripted()
    ana, also = Talk(slow, "ana", START), Talk(quick, "ana", START)

    def says(talk: Talk, words: str, city: str, message_id: str) -> Receipt:
        turn = talk.turn(words, message_id=message_id)
        return talk.gate.observe(turn, [formal(turn, city, words, scope=scope.model_dump())])

    judges.meanwhile = lambda: says(also, "I live in York", "York", "m1")
    lost = says(ana, LEEDS, "Leeds", "m2")
    assert decisions(lost)[0][0] in (DecisionType.CONFIRM_REPLACE, DecisionType.CONFLICT)
    assert (value(ana), value(ana, scope)) == (None, "York")


def test_a_plan_of_a_scope_is_held_for_it_and_comes_true_there(gate: MemoryGate, ana: Talk) -> None:
    apollo = Scope(kind="project", key="apollo")
    ana.says(LEEDS)
    turn = ana.turn("I might move to Seattle", message_id="m2")
    plan = formal(turn, "Seattle", "I might move to Seattle", scope=apollo.model_dump())
    gate.observe(turn, [plan])
    assert [item.text for item in ana.profile.staged()] == ["lives in Seattle (project:apollo)"]
    ana.says("I have moved to Seattle")
    assert value(ana, apollo) == "Seattle"


def test_the_same_proposal_again_returns_the_first_result(gate: MemoryGate, ana: Talk) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    first = gate.observe(turn, [formal(turn)])
    again = gate.observe(turn, [formal(turn)])
    assert again.replayed
    assert again.judged == first.judged


@pytest.mark.parametrize(
    "changes", [{"value": "York"}, {"expiresAt": "2027-01-01T00:00:00Z"}, {"confidence": 0.2}]
)
def test_the_same_identity_with_another_payload_is_a_visible_conflict(
    gate: MemoryGate, ana: Talk, changes: dict[str, Any]
) -> None:
    turn = ana.turn(LEEDS, message_id="m1")
    sent = formal(turn)
    gate.observe(turn, [sent])
    with pytest.raises(ProtocolConflictError) as met:
        gate.observe(turn, [{**sent, **changes}])
    assert met.value.proposal_id == sent["proposalId"]
    assert [f.value for f in ana.facts()] == ["Leeds"]
    conflicts = [e for e in gate.ledger.audit_log() if e.action == "protocol_conflict"]
    assert [entry.target for entry in conflicts] == [sent["proposalId"]]


def test_a_conflict_voids_the_request_for_approval(scripted: OpenGate) -> None:
    script = {**SCRIPT, "you live in Oslo": state("home_city", "Oslo")}
    gate = scripted(script=script)
    talk = Talk(gate, "ana", START)
    turn = talk.turn("So you live in Oslo", role="assistant", message_id="m1")
    said = {"attribute": "home_city", "text": "lives there", "span": "you live in Oslo"}
    gate.observe(turn, [{**said, "value": "Oslo"}])
    (asked,) = gate.review.approvals.list()
    with pytest.raises(ProtocolConflictError):
        gate.observe(turn, [{**said, "value": "Bergen"}])
    assert gate.review.approvals.show(asked.approval_id).status is ApprovalStatus.VOID


def test_neither_value_nor_order_takes_part_in_identity(scripted: OpenGate) -> None:
    text = "I live in Leeds and I work at Acme"
    city = {"attribute": "home_city", "value": "Leeds", "span": "I live in Leeds"}
    work = {"attribute": "employer", "value": "Acme", "span": "I work at Acme"}
    ids = []
    for number, proposals in enumerate(([city, work], [work, city])):
        gate = scripted()
        whose = Subject(tenant=f"t{number}", user_id="ana")
        turn = gate.turn(
            text, user_id="ana", tenant=whose.tenant, occurred_at=START, message_id="m1"
        )
        receipt = gate.observe(turn, proposals)
        ids.append(
            {j.match.field.attribute: j.candidate.ordinal for j in receipt.judged if j.match.field}
        )
    assert ids[0] == ids[1]


def test_a_value_ends_by_itself_and_is_then_no_current_one(scripted: OpenGate) -> None:
    gate = scripted()
    talk = Talk(gate, "ana", START)
    ends = START + timedelta(days=30)
    proposal = {
        "attribute": "home_city",
        "value": "Leeds",
        "span": LEEDS,
        "expires_at": ends.isoformat(),
    }
    gate.observe(talk.turn(LEEDS), [proposal])
    (fact,) = talk.facts()
    assert fact.expires_at == ends
    later = talk.says("I live in York", after=timedelta(days=60))
    assert later.judged[0].decision.rule == "new_fact"
    assert [(f.value, f.valid_to) for f in talk.profile.history("home_city")] == [
        ("Leeds", ends),
        ("York", None),
    ]


@pytest.mark.parametrize("given", ["tomorrow", "2026-01-01", 5, []])
def test_an_expiry_without_a_zone_is_refused(gate: MemoryGate, ana: Talk, given: object) -> None:
    proposal = {"attribute": "home_city", "value": "Leeds", "span": LEEDS, "expires_at": given}
    if given == 5:
        proposal["expires_at"] = "5 o'clock"
    with pytest.raises(InvalidInputError, match=r"proposals\[0\].expires_at"):
        gate.observe(ana.turn(LEEDS), [proposal])


def test_a_registered_credential_keeps_no_value_anywhere(scripted: OpenGate) -> None:
    wifi = FieldSpec(attribute="wifi_password", description="the password of the user's wifi")
    gate = scripted(
        fields=(wifi,),
        script={
            "our wifi word is fluffyclouds": Line(attribute="wifi_password", value="fluffyclouds")
        },
    )
    talk = Talk(gate, "ana", START)
    receipt = talk.says("our wifi word is fluffyclouds")
    assert decisions(receipt) == [(DecisionType.REJECT, "secret")]
    (record,) = gate.ledger.turns(talk.subject)
    (proposal,) = gate.ledger.proposals(talk.subject)
    assert "fluffy" not in record.model_dump_json()
    assert "fluffy" not in proposal.model_dump_json()
    assert receipt.forward is None
