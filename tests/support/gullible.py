"""Judges that believe everything: what then still keeps a value out is the gate's own doing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memgate_core import MemoryGate
from memgate_core.fields.lexical import LexicalMatcher
from memgate_core.judgement.protocol import StandingClaim
from memgate_core.model import (
    EvidenceJudgement,
    EvidenceType,
    ResolutionJudgement,
    ResolutionType,
    StagedItem,
    Standing,
    StandingJudgement,
    Statement,
    Turn,
)


class Gullible:
    """Takes every statement for a standing state, and every value for the user's own."""

    name = "gullible/1"

    def classify(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        rest = dict.fromkeys(EvidenceType, 0.01)
        sure = {**rest, EvidenceType.OTHER: 0.97}
        return [
            EvidenceJudgement(evidence_type=EvidenceType.OTHER, probabilities=sure)
            for _ in statements
        ]

    def stand(self, _turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        return [StandingJudgement(standing=Standing.OWN) for _ in claims]

    def check(
        self, _turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[ResolutionJudgement]:
        return [
            ResolutionJudgement(
                staged_id=item.staged_id,
                resolution=ResolutionType.NOTHING,
                confidence=1.0,
                reason="believes everything, settles nothing",
            )
            for item in items
        ]


def gullible_gate(url: str = "sqlite://", **options: Any) -> MemoryGate:
    """A real gate that only its own rules protect."""
    judges = Gullible()
    return MemoryGate.open(
        url,
        classifier=judges,
        matcher=LexicalMatcher(),
        standing=judges,
        checker=judges,
        reader=False,
        **options,
    )
