"""What a turn does to held items, without a model call: precision first (paper section 3).

An encoder judges each (held item, turn); the rules around it are those that no probability may
override: only the user's own words settle anything, a bare "yes" settles only the one item that
was put to the user, a question confirms nothing, and a confirmed value closes its rivals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memgate_core.judgement.calibration import Calibration
from memgate_core.judgement.claims import GRAPH, threshold
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Encoded
from memgate_core.judgement.shared import shared_encoders
from memgate_core.judgement.vectors import VectorStore, nearest
from memgate_core.judgement.verdicts import RESOLUTION_ORDER
from memgate_core.model import (
    USER_ENTITY,
    ResolutionJudgement,
    ResolutionType,
    Role,
    Source,
    Span,
    StagedItem,
    Turn,
)
from memgate_core.resolution.assent import Answer, answer_of
from memgate_core.resolution.named import names
from memgate_core.resolution.passages import passages
from memgate_core.resolution.plain_words import (
    before_its_day,
    comes_to_nothing,
    plainly_done,
    went_ahead,
)
from memgate_core.resolution.rivals import without_rivals
from memgate_core.resolution.sentences import sentences
from memgate_core.resolution.unnamed import without_unnamed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAID = 0.5
"""Least probability of the best single sentence of a turn that confirms: what only the sum of many
sentences suggests is a mood, not a statement."""
_EARLY = 0.98
"""Least probability of a confirmation before the day that the plan itself names."""
_AHEAD = 0.6
"""Least probability that a turn settles the one item held, when it says "I went ahead"."""
_SETTLED = RESOLUTION_ORDER.index(ResolutionType.CONFIRM)
_OPEN = RESOLUTION_ORDER.index(ResolutionType.NOTHING)
_OFF = 0.1
"""Least probability of an abandonment whose sentence says in plain words that a plan is off."""
_PAIRED = 8
"""Items that get a pair check in one turn: the cost of a turn does not grow with what is held."""


class LocalChecker:
    """Judges held items against a turn. Implements `ResolutionChecker`. Thread-safe."""

    name = "local/1"

    def __init__(self, encoders: Encoders | None = None) -> None:
        self._encoders = encoders or shared_encoders()
        self._vectors = VectorStore(self._encoders)

    def check(
        self, turn: Turn, items: Sequence[StagedItem], offered: str | None = None
    ) -> list[ResolutionJudgement]:
        """One judgement an item, in order, without a model call.

        Raises:
            ConfigurationError: the weights are not installed completely.
        """
        if not items:
            return []
        if not _may_settle(turn):
            return [
                _nothing(item, "only the user's own words settle a held item") for item in items
            ]
        answer = answer_of(turn.text)
        if answer is not None:
            return [_answered(turn, item, answer, item.staged_id == offered) for item in items]
        judged = self._judged(turn, items)
        each = [judged.get(item.staged_id) or _far(item) for item in items]
        return without_rivals(items, without_unnamed(turn, items, each))

    def _judged(self, turn: Turn, items: Sequence[StagedItem]) -> dict[str, ResolutionJudgement]:
        near = self._near(turn, items)
        parts = passages(turn.text, self._encoders.layout)
        rows = [self._row(item, turn, part.of(turn.text)) for item in near for part in parts]
        chances = self._chances(rows).reshape(len(near), len(parts), -1)
        telling = chances[:, :, _OPEN].argmin(axis=1)  # the passage that settles an item most
        return {
            item.staged_id: self._judgement(
                turn, item, [float(p) for p in each[part]], parts[part], len(near) == 1
            )
            for item, each, part in zip(near, chances, telling, strict=True)
        }

    def _judgement(
        self, turn: Turn, item: StagedItem, chances: list[float], part: Span, alone: bool
    ) -> ResolutionJudgement:
        said = part.of(turn.text)
        off = comes_to_nothing(said)
        if not off and (done := plainly_done(turn, item)) is not None:
            return _settled(turn, item, ResolutionType.CONFIRM, 1.0, done)
        confirm, abandon, nothing = chances
        if not off and _own(item) and went_ahead(said):  # what is settled so is not given up
            confirm, abandon = (confirm + abandon if alone else confirm), 0.0
            if alone and confirm >= _AHEAD and not before_its_day(turn, item):
                span, _ = self._span(turn, item, part, _SETTLED)
                return _settled(turn, item, ResolutionType.CONFIRM, confirm, span)
        least = max(self._least("confirm", item, said), _EARLY if before_its_day(turn, item) else 0)
        if confirm >= least and not off:
            kind, chance = ResolutionType.CONFIRM, confirm
        elif abandon >= (_OFF if off else self._least("abandon", item, said)):
            kind, chance = ResolutionType.ABANDON, abandon
        else:
            return _nothing(item, _open_reason(confirm, abandon), nothing)
        span, alone_says = self._span(turn, item, part, RESOLUTION_ORDER.index(kind))
        words = span.of(turn.text)
        if kind is ResolutionType.CONFIRM and alone_says < _SAID:
            return _nothing(item, f"no sentence of it says so by itself: {words!r}", confirm)
        if kind is ResolutionType.CONFIRM and words.rstrip(" \"')").endswith("?"):
            return _nothing(item, f"a question confirms nothing: {words!r}", confirm)
        return _settled(turn, item, kind, chance, span)

    def _least(self, kind: str, item: StagedItem, said: str) -> float:
        return threshold(self._encoders, f"{kind}_named" if names(said, item.value) else kind)

    def _span(self, turn: Turn, item: StagedItem, part: Span, wanted: int) -> tuple[Span, float]:
        """The sentence of a passage that settles the item most, and how far it does so alone."""
        spans = [span for span in sentences(turn.text) if span.overlaps(part)]
        if len(spans) < 2:
            return (spans[0] if spans else part), 1.0
        chances = self._chances([self._row(item, turn, span.of(turn.text)) for span in spans])
        best = int(chances[:, wanted].argmax())
        return spans[best], float(chances[best, wanted])

    def _chances(self, rows: Sequence[Encoded]) -> NDArray[float]:  # type: ignore[type-var]
        logits = self._encoders.run(GRAPH, rows, ["resolution"])["resolution"]
        return self._calibration.probabilities(logits)

    def _row(self, item: StagedItem, turn: Turn, text: str) -> Encoded:
        return self._encoders.layout.resolution(
            item.attribute, item.text, item.words, text, _asked(turn), item.known
        )

    def _near(self, turn: Turn, items: Sequence[StagedItem]) -> Sequence[StagedItem]:
        if len(items) <= _PAIRED:
            return items
        layout = self._encoders.layout
        held = self._vectors.kept([layout.filler(i.attribute, i.value, i.text) for i in items])
        turned = self._vectors.of([layout.utterance(turn.text)])[0]
        return [items[at] for at in nearest(held @ turned, _PAIRED)]

    @cached_property
    def _calibration(self) -> Calibration:
        return Calibration.from_card(self._encoders.card[GRAPH]["calibration"]["resolution"])


def _settled(
    turn: Turn, item: StagedItem, kind: ResolutionType, chance: float, span: Span
) -> ResolutionJudgement:
    verb = "has come about" if kind is ResolutionType.CONFIRM else "is off"
    return ResolutionJudgement(
        staged_id=item.staged_id,
        resolution=kind,
        confidence=chance,
        reason=f"{item.text!r} {verb}: {span.of(turn.text)!r}",
        span=span,
    )


def _own(item: StagedItem) -> bool:
    return item.entity == USER_ENTITY


def _may_settle(turn: Turn) -> bool:
    return turn.role is Role.USER and turn.source is Source.USER and not turn.taint


def _asked(turn: Turn) -> str | None:
    """The assistant's line just before the turn."""
    if turn.history and turn.history[-1].role is Role.ASSISTANT:
        return turn.history[-1].content
    return None


def _answered(turn: Turn, item: StagedItem, answer: Answer, offered: bool) -> ResolutionJudgement:
    if not offered:
        return _nothing(item, "a bare answer settles only the one item put to the user")
    confirmed = answer is Answer.YES
    return ResolutionJudgement(
        staged_id=item.staged_id,
        resolution=ResolutionType.CONFIRM if confirmed else ResolutionType.ABANDON,
        confidence=1.0,
        reason=f"asked about {item.text!r}, the user answered {turn.text.strip()!r}",
        span=Span(start=0, end=len(turn.text)),
    )


def _nothing(item: StagedItem, reason: str, confidence: float = 1.0) -> ResolutionJudgement:
    return ResolutionJudgement(
        staged_id=item.staged_id,
        resolution=ResolutionType.NOTHING,
        confidence=confidence,
        reason=reason,
    )


def _far(item: StagedItem) -> ResolutionJudgement:
    return _nothing(item, "the turn is about something else")


def _open_reason(confirm: float, abandon: float) -> str:
    if max(confirm, abandon) < 0.2:
        return "nothing in the turn settles it"
    side = "has come about" if confirm >= abandon else "is off"
    return f"the turn leaves open whether it {side} ({max(confirm, abandon):.2f})"
