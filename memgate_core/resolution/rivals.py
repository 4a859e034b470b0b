"""Held items on one key exclude each other: at most one comes true by one turn."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.fields.values import same_value
from memgate_core.model import ResolutionJudgement, ResolutionType, StagedItem


def without_rivals(
    items: Sequence[StagedItem], judged: Sequence[ResolutionJudgement]
) -> list[ResolutionJudgement]:
    """Of several items on one key the surest confirmation stands; the others are then off."""
    winners = _winners(items, judged)
    by_id = {item.staged_id: item for item in items}
    return [
        _closed_by(by_id[winner], item, judgement, winners[str(item.key)][0])
        if (winner := winners.get(str(item.key), (0.0, item.staged_id))[1]) != item.staged_id
        and item.attribute is not None
        else judgement
        for item, judgement in zip(items, judged, strict=True)
    ]


def _winners(
    items: Sequence[StagedItem], judged: Sequence[ResolutionJudgement]
) -> dict[str, tuple[float, str]]:
    """What comes true on each key, and how surely. To stay with what is true already yields to any
    change: "from Halifax to Skipton" names both."""
    best: dict[str, tuple[bool, float, str]] = {}
    for item, judgement in zip(items, judged, strict=True):
        if judgement.resolution is ResolutionType.CONFIRM:
            key, stays = str(item.key), item.known and same_value(item.value or "", item.known)
            mine = (not stays, judgement.confidence, item.staged_id)
            best[key] = max(best.get(key, mine), mine)
    return {key: (confidence, winner) for key, (_, confidence, winner) in best.items()}


def _closed_by(
    rival: StagedItem, item: StagedItem, judgement: ResolutionJudgement, confidence: float
) -> ResolutionJudgement:
    return ResolutionJudgement(
        staged_id=item.staged_id,
        resolution=ResolutionType.ABANDON,
        confidence=confidence,
        reason=f"{rival.text!r} has come about instead",
        span=judgement.span,
    )
