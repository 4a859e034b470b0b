"""One acceptance case through a gate of its own, whose profile starts with the known value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluation.acceptance.format import AcceptanceCase, CaseTrace, Outcome
from evaluation.fields import registered
from evaluation.seeding import seed_fact
from memgate_core import MemoryGate
from memgate_core.fields.values import same_value
from memgate_core.intake import identify
from memgate_core.model import DecisionType, HistoryTurn, Judged, Receipt, Subject

_SAID_AT = datetime(2025, 6, 2, 12, tzinfo=UTC)
_OUTCOMES: dict[DecisionType, Outcome] = {
    DecisionType.COMMIT: "commit",
    DecisionType.REAFFIRM: "commit",
    DecisionType.STAGE: "hold",
    DecisionType.NEEDS_CONFIRMATION: "hold",
    DecisionType.CONFIRM_REPLACE: "hold",
    DecisionType.CONFLICT: "hold",
    DecisionType.IGNORE: "none",
    DecisionType.REJECT: "reject",
}
_STRONGEST: tuple[Outcome, ...] = ("correct", "commit", "hold", "reject", "none")


def run_case(
    case: AcceptanceCase, *, classifier: str = "local", model: Mapping[str, Any] | None = None
) -> CaseTrace:
    """Seeds the known value, observes the turn with its history, and reads the field. `model`: the
    options of `MemoryGate.open` that say which model the classifier asks.

    Raises:
        ConfigurationError: an unknown classifier, or one that lacks its model.
    """
    subject = Subject(tenant="acceptance", user_id=case.id)
    field = registered(case.field.attribute, case.field.description)
    asked = dict(model or {})
    with MemoryGate.open("sqlite://", fields=[field], classifier=classifier, **asked) as gate:
        if case.known is not None:
            seed_fact(gate.ledger, subject, field, case.known, at=_SAID_AT - timedelta(days=90))
        receipt = gate.observe(
            identify(
                case.turn.content,
                subject=subject,
                occurred_at=_SAID_AT,
                message_id=case.id,
                role=case.turn.role,
                speaker=case.turn.speaker,
                history=[HistoryTurn(role=h.role, content=h.content) for h in case.history],
            )
        )
        fact = gate.profile(subject).current(field.attribute)
        return _trace(case, receipt, fact.value if fact else None)


def _trace(case: AcceptanceCase, receipt: Receipt, current: str | None) -> CaseTrace:
    judged = _decisive(receipt.judged, case.field.attribute, case.value)
    promoted = next((r for r in receipt.resolved if r.fact_id), None)
    if promoted is not None and promoted.attribute == case.field.attribute:
        return CaseTrace(
            id=case.id,
            decision="commit",
            value=promoted.value,
            current=current,
            reason=promoted.reason,
        )
    if judged is None:
        return CaseTrace(
            id=case.id, decision="none", value=None, current=current, reason="nothing was proposed"
        )
    return CaseTrace(
        id=case.id,
        decision=_outcome(judged),
        value=judged.candidate.value,
        current=current,
        reason=judged.decision.reason,
    )


def _decisive(judged: Sequence[Judged], attribute: str, value: str | None) -> Judged | None:
    """What was decided on the field; without that, a refusal, or an open hold of the value."""
    on_field = [j for j in judged if j.match.field and j.match.field.attribute == attribute]
    refused = [j for j in judged if j.decision.decision is DecisionType.REJECT]
    about = [
        j
        for j in judged
        if value is not None and j.decision.decision.holds and same_value(j.candidate.text, value)
    ]
    pool = on_field or refused or about
    return min(pool, key=lambda j: _STRONGEST.index(_outcome(j))) if pool else None


def _outcome(judged: Judged) -> Outcome:
    if judged.decision.corrects:
        return "correct"
    return _OUTCOMES[judged.decision.decision]
