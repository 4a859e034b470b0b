"""What a turn does to held items, asked of a model: one request at most for all of them.

The rules that no model may override stay in front: only the user's own words settle anything, a
bare answer settles only the one item that was put to the user, a question confirms nothing, and a
settlement rests on quoted words of the turn. A failing model settles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from memgate_core.judgement.cascade import Sureness
from memgate_core.judgement.counsel import Counsel
from memgate_core.judgement.inquiry import HeldFinding, HeldRow, Inquiry, Missing, Passage
from memgate_core.judgement.protocol import ResolutionChecker
from memgate_core.judgement.sitting import sitting
from memgate_core.model import (
    ResolutionJudgement,
    ResolutionType,
    Role,
    Source,
    StagedItem,
    Turn,
)
from memgate_core.resolution.assent import answer_of
from memgate_core.resolution.rivals import without_rivals
from memgate_core.resolution.sentences import sentences

CONFIRM_FROM = 0.7
"""A model's own confidence from which its confirmation counts (precision first)."""
ABANDON_FROM = 0.6


class AskedChecker:
    """Asks a model about held items. Implements `ResolutionChecker`; thread-safe."""

    def __init__(self, local: ResolutionChecker, counsel: Counsel, sure: Sureness | None) -> None:
        self._local, self._counsel, self._sure = local, counsel, sure
        self.name = counsel.name if sure is None else f"cascade/1:{local.name}>{counsel.name}"

    def check(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[ResolutionJudgement]:
        """One judgement an item, in order. A model's failure stands in `fault` and settles
        nothing."""
        if not items or _by_rule(turn):
            return self._local.check(turn, items, offered)
        with sitting() as account:
            before = account.calls
            local = self._locally(turn, items, offered)
            rows = self._asked(turn, items, local)
            found = self._counsel.ask(
                Inquiry(held=tuple(rows.values()), said_on=turn.occurred_at.date())
            )
            judged = [
                _judgement(turn, item, found.held[rows[item.staged_id]])
                if item.staged_id in rows
                else local[item.staged_id]
                for item in items
            ]
            return _billed(without_rivals(items, judged), account.calls - before)

    def rows(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[HeldRow]:
        """What `check` would ask about these items."""
        if not items or _by_rule(turn):
            return []
        return list(self._asked(turn, items, self._locally(turn, items, offered)).values())

    def _asked(
        self,
        turn: Turn,
        items: Sequence[StagedItem],
        local: dict[str, ResolutionJudgement],
    ) -> dict[str, HeldRow]:
        sure = self._sure
        return {
            item.staged_id: _row(turn, item)
            for item in items
            if sure is None or not sure.of_resolution(local[item.staged_id])
        }

    def _locally(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None
    ) -> dict[str, ResolutionJudgement]:
        """The local judgements, made once a turn; none where the model is asked about all."""
        if self._sure is None:
            return {}
        with sitting() as account:
            key = ("checked", turn.message_id, turn.text, tuple(i.staged_id for i in items))
            judged = account.once(key, lambda: self._local.check(turn, items, offered))
        return {judgement.staged_id: judgement for judgement in judged}


def _by_rule(turn: Turn) -> bool:
    """True when no model has a say: foreign words, or a bare answer."""
    own = turn.role is Role.USER and turn.source is Source.USER and not turn.taint
    return not own or answer_of(turn.text) is not None


def _row(turn: Turn, item: StagedItem) -> HeldRow:
    return HeldRow(
        passage=Passage(message=turn.text, role=turn.role, history=turn.history),
        staged_id=item.staged_id,
        plan=item.text,
        said=item.words,
        said_on=item.created_at.date(),
        true_when=item.promote_when,
        off_when=item.discard_when,
        attribute=item.attribute,
        parts=tuple(sentences(turn.text)),
    )


def _judgement(turn: Turn, item: StagedItem, found: HeldFinding | Missing) -> ResolutionJudgement:
    if isinstance(found, Missing):
        return _open(item, "the model gave no usable answer", 0.0).model_copy(
            update={"fault": found.reason}
        )
    if found.resolution is ResolutionType.NOTHING or found.span is None:
        return _open(item, "nothing in the turn settles it", found.confidence)
    confirms = found.resolution is ResolutionType.CONFIRM
    if found.confidence < (CONFIRM_FROM if confirms else ABANDON_FROM):
        return _open(item, f"the model is not sure ({found.confidence:.2f})", found.confidence)
    words = found.span.of(turn.text)
    if confirms and _asks(turn.text, found.span.end):
        return _open(item, f"a question confirms nothing: {words!r}", found.confidence)
    verb = "has come about" if confirms else "is off"
    return ResolutionJudgement(
        staged_id=item.staged_id,
        resolution=found.resolution,
        confidence=found.confidence,
        reason=f"{item.text!r} {verb}: {words!r}",
        span=found.span,
    )


def _asks(text: str, end: int) -> bool:
    """True when the sentence that the words end in is a question."""
    ending = next((ch for ch in text[max(0, end - 1) :] if ch in ".!?…\n"), "")
    return ending == "?"


def _open(item: StagedItem, reason: str, confidence: float) -> ResolutionJudgement:
    return ResolutionJudgement(
        staged_id=item.staged_id,
        resolution=ResolutionType.NOTHING,
        confidence=confidence,
        reason=reason,
    )


def _billed(judged: list[ResolutionJudgement], calls: int) -> list[ResolutionJudgement]:
    """The batch's calls, counted once: on its first judgement."""
    if judged and calls:
        judged[0] = judged[0].model_copy(update={"model_calls": calls})
    return judged
