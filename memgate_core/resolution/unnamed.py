"""A turn that does not say what it speaks of ("I went ahead with it") settles one thing at most."""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.fields.values import words_of
from memgate_core.model import ResolutionJudgement, ResolutionType, StagedItem, Turn


def without_unnamed(
    turn: Turn, items: Sequence[StagedItem], judged: Sequence[ResolutionJudgement]
) -> list[ResolutionJudgement]:
    """Where a turn would confirm several items, those whose value it does not name stay held: it
    could be any of them."""
    confirmed = sum(one.resolution is ResolutionType.CONFIRM for one in judged)
    if confirmed < 2:
        return list(judged)
    said = set(words_of(turn.text))
    return [
        _left_open(one)
        if one.resolution is ResolutionType.CONFIRM and not _is_named(item, said)
        else one
        for item, one in zip(items, judged, strict=True)
    ]


def _is_named(item: StagedItem, said: set[str]) -> bool:
    return any(word in said for word in words_of(item.value or item.text))


def _left_open(judgement: ResolutionJudgement) -> ResolutionJudgement:
    return judgement.model_copy(
        update={
            "resolution": ResolutionType.NOTHING,
            "reason": "the turn would confirm several held items, and does not name this one",
        }
    )
