"""What the words are for one very value, where that differs from the class of their statement."""

from __future__ import annotations

from memgate_core.model import EvidenceJudgement, EvidenceType, StandingJudgement


def for_value(judgement: EvidenceJudgement, standing: StandingJudgement) -> EvidenceJudgement:
    """The statement's judgement, or the value's own one where the standing judge gave it.

    A standing judge only ever argues towards holding or correcting; it never makes a plan a fact.
    """
    own = standing.evidence_type
    if own is None or own is judgement.evidence_type or _planned(judgement):
        return judgement
    rest = sum(p for kind, p in judgement.probabilities.items() if kind is not own) or 1.0
    share = (1.0 - standing.confidence) / rest
    probabilities = {
        kind: standing.confidence if kind is own else p * share
        for kind, p in judgement.probabilities.items()
    }
    return judgement.model_copy(update={"evidence_type": own, "probabilities": probabilities})


def _planned(judgement: EvidenceJudgement) -> bool:
    return judgement.evidence_type is EvidenceType.SPECULATION
