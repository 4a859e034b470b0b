"""Whose value it is, and whether it lasts: the local standing judge."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.judgement.claims import ClaimHead, Verdict
from memgate_core.judgement.cues import standing_cues
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Encoded
from memgate_core.judgement.plain import is_plainly_own
from memgate_core.judgement.protocol import StandingClaim
from memgate_core.judgement.shared import shared_encoders
from memgate_core.model import (
    USER_ENTITY,
    EvidenceType,
    FieldSpec,
    Span,
    Standing,
    StandingJudgement,
    Turn,
)

_EVIDENCE_OF = {"correct": EvidenceType.CORRECTION, "hold": EvidenceType.SPECULATION}
_SURE = 0.6
"""From here on the value's own evidence counts for more than its statement's."""
_SURE_OF_A_PLAN = 0.9
"""The same for plain words, which no encoder argues away lightly."""


class LocalStandingJudge:
    """Says whether a turn asserts a value of the user's own lasting state.

    Implements `StandingJudge`. Claims without a registered field are taken by their entity alone:
    nothing of the profile hangs on them. Thread-safe.
    """

    name = "local/1"

    def __init__(self, encoders: Encoders | None = None) -> None:
        self._encoders = encoders or shared_encoders()
        self._head = ClaimHead(self._encoders)

    def stand(self, turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        """One judgement a claim, in order.

        Raises:
            ConfigurationError: the weights are not installed completely.
        """
        plain = [_is_plain(turn, claim) for claim in claims]
        rows = [self._row(turn, c, c.field) for c in claims if c.field and _on_field(c)]
        verdicts = iter(self._head.judge(rows))
        return [
            _by_entity(claim)
            if not _on_field(claim)
            else _plainly(next(verdicts))
            if own
            else _judgement(turn, claim, next(verdicts))
            for claim, own in zip(claims, plain, strict=True)
        ]

    def _row(self, turn: Turn, claim: StandingClaim, field: FieldSpec) -> Encoded:
        return self._encoders.layout.claim(
            field,
            claim.known,
            claim.candidate.value,
            turn.text,
            turn.role,
            turn.history,
            _marked(claim, turn.text),
        )


def _plainly(verdict: Verdict) -> StandingJudgement:
    """The user's own; only a plan it may still be ("I have an interview at Acme")."""
    planned = verdict.name == "hold" and verdict.probability >= _SURE_OF_A_PLAN
    return StandingJudgement(
        standing=Standing.OWN,
        cues=("plain first-person words",),
        evidence_type=EvidenceType.SPECULATION if planned else None,
    )


def _is_plain(turn: Turn, claim: StandingClaim) -> bool:
    candidate = claim.candidate
    own = candidate.entity == USER_ENTITY and _on_field(claim)
    attribute = claim.field.attribute if claim.field else ""
    return own and is_plainly_own(turn, candidate.words, candidate.value or "", attribute)


def _on_field(claim: StandingClaim) -> bool:
    return claim.field is not None and claim.candidate.value is not None


def _marked(claim: StandingClaim, text: str) -> Span:
    """The value where it stands in its own words; else in the turn; else the words themselves."""
    span, value = claim.candidate.evidence.span, (claim.candidate.value or "").lower()
    lowered = text.lower()
    at = lowered.find(value, span.start, span.end)
    if at < 0:
        at = lowered.find(value)
    return Span(start=at, end=at + len(value)) if at >= 0 and value else span


def _judgement(turn: Turn, claim: StandingClaim, verdict: Verdict) -> StandingJudgement:
    if verdict.name in ("commit", "correct", "hold"):
        return StandingJudgement(
            standing=Standing.OWN,
            confidence=verdict.stands,
            evidence_type=_evidence(claim, verdict),
        )
    standing = Standing(verdict.name)
    return StandingJudgement(
        standing=standing,
        confidence=1.0 - verdict.stands,
        cues=standing_cues(turn.text, standing),
    )


def _evidence(claim: StandingClaim, verdict: Verdict) -> EvidenceType | None:
    """Set only where the value's own evidence differs from the statement's."""
    found = _EVIDENCE_OF.get(verdict.name) if verdict.probability >= _SURE else None
    return None if found is claim.evidence.evidence_type else found


def _by_entity(claim: StandingClaim) -> StandingJudgement:
    own = claim.candidate.entity == USER_ENTITY
    return StandingJudgement(standing=Standing.OWN if own else Standing.OTHER_PERSON)
