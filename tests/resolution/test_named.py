"""What names the held value, and what is true of its field already, weigh in with the checker."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from memgate_core import MemoryGate
from memgate_core.intake import identify
from memgate_core.judgement.claims import GRAPH
from memgate_core.judgement.inputs import KNOWN
from memgate_core.judgement.shared import shared_encoders
from memgate_core.model import FieldSpec, ResolutionJudgement, ResolutionType, StagedItem, Turn
from memgate_core.resolution.checker import LocalChecker
from memgate_core.resolution.named import names
from memgate_core.resolution.rivals import without_rivals
from memgate_core.settling import beside_known
from tests.resolution.test_checker import SUBJECT, WHEN, held

CONFIRM, ABANDON = ResolutionType.CONFIRM, ResolutionType.ABANDON
SHOP = FieldSpec(attribute="grocery_shop", description="where the user buys food")
LIDL = held("Lidl", "shops at Lidl", "might try Lidl", attribute="grocery_shop")
SPAR = held("Spar", "shops at Spar", "perhaps stay at Spar", attribute="grocery_shop")


def test_every_word_of_the_value_must_be_said() -> None:
    assert names("so the Green Hill school it is", "green hill school")
    assert not names("so Green Hill it is", "green hill school")
    assert not names("it is done", None)


def test_what_is_named_has_thresholds_of_its_own() -> None:
    thresholds = shared_encoders().card[GRAPH]["thresholds"]
    assert thresholds["confirm_named"] < thresholds["confirm"]
    assert thresholds["abandon_named"] < thresholds["abandon"]


def test_the_checker_sees_what_is_true_now() -> None:
    layout = shared_encoders().layout
    rows = [
        layout.resolution("grocery_shop", LIDL.text, LIDL.words, "we are at Lidl now", None, known)
        for known in (None, "Spar")
    ]
    assert [KNOWN in row.ids for row in rows] == [False, True]


def test_what_is_true_now_comes_from_the_registered_field() -> None:
    cello = held("cello", "plays the cello", "might take up the cello", attribute="hobby")
    one, other = beside_known([LIDL, cello], {SHOP.attribute: "Spar"})
    assert (one.known, other.known) == ("Spar", None)
    assert "known" not in one.model_dump()


def test_a_change_wins_over_what_is_true_already() -> None:
    items = beside_known([SPAR, LIDL], {SHOP.attribute: "Spar"})
    assert kinds(items, 0.97, 0.81) == [ABANDON, CONFIRM]
    assert kinds([SPAR, LIDL], 0.97, 0.81) == [CONFIRM, ABANDON]


def kinds(items: list[StagedItem], *chances: float) -> list[ResolutionType]:
    judged = [
        ResolutionJudgement(staged_id=i.staged_id, resolution=CONFIRM, confidence=c, reason="-")
        for i, c in zip(items, chances, strict=True)
    ]
    return [one.resolution for one in without_rivals(items, judged)]


class Watching(LocalChecker):
    """The local checker; it remembers which items it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[StagedItem] = []

    def check(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[ResolutionJudgement]:
        self.shown.extend(items)
        return super().check(turn, items, offered)


def test_a_turn_of_the_gate_asks_with_what_is_true(tmp_path: Path) -> None:
    checker = Watching()
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    with MemoryGate.open(url, fields=[SHOP], checker=checker) as gate:
        said = ("I shop at Spar.", "I might switch to Lidl.", "Where do I park near the Lidl?")
        for hour, text in enumerate(said):
            at = WHEN + timedelta(hours=hour)
            gate.observe(identify(text, subject=SUBJECT, occurred_at=at))
        assert [item.known for item in checker.shown] == ["Spar"]
