"""Of several held items a turn confirms those that it names, or the only one."""

from __future__ import annotations

from memgate_core.model import ResolutionJudgement, ResolutionType
from memgate_core.resolution.rivals import without_rivals
from memgate_core.resolution.unnamed import without_unnamed
from tests.resolution.test_checker import MUBI, PIANO, SHUDDER, said

BOTH = [MUBI, PIANO]
CONFIRM, NOTHING = ResolutionType.CONFIRM, ResolutionType.NOTHING


def settled(text: str, *kinds: ResolutionType) -> list[ResolutionType]:
    judged = [
        ResolutionJudgement(staged_id=item.staged_id, resolution=kind, confidence=0.9, reason="-")
        for item, kind in zip(BOTH, kinds, strict=True)
    ]
    return [one.resolution for one in without_unnamed(said(text), BOTH, judged)]


def test_no_rival_is_closed_by_what_stays_held() -> None:
    items = [MUBI, SHUDDER, PIANO]
    judged = [
        ResolutionJudgement(staged_id=i.staged_id, resolution=CONFIRM, confidence=c, reason="-")
        for i, c in zip(items, (0.9, 0.8, 0.85), strict=True)
    ]
    open_ones = without_unnamed(said("We did it, all of it!"), items, judged)
    assert [one.resolution for one in without_rivals(items, open_ones)] == [NOTHING] * 3


def test_one_alone_needs_no_name() -> None:
    assert settled("Did it.", CONFIRM, NOTHING) == [CONFIRM, NOTHING]


def test_two_without_a_name_stay_held() -> None:
    assert settled("Did it.", CONFIRM, CONFIRM) == [NOTHING, NOTHING]


def test_what_is_named_is_confirmed() -> None:
    assert settled("We are on MUBI now.", CONFIRM, CONFIRM) == [CONFIRM, NOTHING]
