"""When the local judges are sure enough, so that only the rest goes to a model.

The local probabilities are calibrated: a hold probability of 0.03 errs about 3 times in 100. So the
error that is left after the model took the doubtful part can be set beforehand, and `fitted` finds
the smallest doubtful part that reaches a wanted agreement on labelled statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgate_core.errors import ConfigurationError
from memgate_core.model import (
    EvidenceJudgement,
    EvidenceType,
    FieldMatch,
    ResolutionJudgement,
    ResolutionType,
    StandingJudgement,
)

_BY_NAME = frozenset({"exact", "synonym", "plan_frame", "recognised"})


@dataclass(frozen=True)
class Sureness:
    """How much doubt the local judges may have before a model is asked.

    Each number is a probability of being wrong, in [0, 0.5]; 0 asks about everything that is not
    certain by rule. docs/backends.md lists the defaults.
    """

    hold: float = 0.05
    """On hold-or-not of a statement."""
    correction: float = 0.25
    """On correction-or-change, which decides whether the old value was ever valid."""
    standing: float = 0.2
    """On whose value it is and whether it lasts."""
    slot: float = 0.25
    """On the field, where no name settles it."""
    resolution: float = 0.15
    """On what a turn does to a held item."""

    def __post_init__(self) -> None:
        for name, doubt in vars(self).items():
            if not 0.0 <= doubt <= 0.5:
                raise ConfigurationError(f"sureness.{name} is {doubt}; it must lie in [0, 0.5]")

    def of_evidence(self, judgement: EvidenceJudgement) -> bool:
        """True when the local classifier may decide this statement."""
        correction = judgement.probabilities[EvidenceType.CORRECTION]
        return (
            doubt(judgement.hold_probability) <= self.hold and doubt(correction) <= self.correction
        )

    def of_standing(self, judgement: StandingJudgement) -> bool:
        """True when the local standing judge may decide this claim."""
        return 1.0 - judgement.confidence <= self.standing

    def of_match(self, match: FieldMatch) -> bool:
        """True when the local matcher may decide this candidate."""
        return by_name(match) or 1.0 - match.confidence <= self.slot

    def of_resolution(self, judgement: ResolutionJudgement) -> bool:
        """True when the local checker may decide this item. A confirmation needs more certainty
        than its own threshold: a wrong promotion is contamination (paper section 3)."""
        if judgement.resolution is ResolutionType.CONFIRM:
            return 1.0 - judgement.confidence <= self.resolution / 3
        return 1.0 - judgement.confidence <= self.resolution


def by_name(match: FieldMatch) -> bool:
    """True when a name settles the field, which no model is asked about."""
    return match.field is not None and match.via in _BY_NAME


def doubt(probability: float) -> float:
    """How probable it is that the likelier side of a yes-or-no question is wrong."""
    return min(probability, 1.0 - probability)


@dataclass(frozen=True)
class Share:
    """One point of the cascade's curve."""

    hold: float
    """The threshold."""
    asked: float
    """Share of statements that go to the model, 0 to 1."""
    agreement: float
    """Share right on hold-or-not, if the model is right on what it is asked."""


def curve(judgements: Sequence[EvidenceJudgement], held: Sequence[bool]) -> list[Share]:
    """What each threshold asks and leaves, on labelled statements, from none asked to all.

    Raises:
        ConfigurationError: no statements, or not one label each.
    """
    if not judgements or len(judgements) != len(held):
        raise ConfigurationError("the cascade is fitted on statements with one label each")
    rows = sorted(
        (
            (doubt(j.hold_probability), (j.hold_probability >= 0.5) != label)
            for j, label in zip(judgements, held, strict=True)
        ),
        reverse=True,
    )
    wrong = sum(error for _, error in rows)
    points = [Share(hold=0.5, asked=0.0, agreement=1 - wrong / len(rows))]
    for asked, (threshold, error) in enumerate(rows, 1):
        wrong -= error
        below = rows[asked][0] if asked < len(rows) else 0.0
        if below < threshold or asked == len(rows):
            points.append(Share(below, asked / len(rows), 1 - wrong / len(rows)))
    return points


def fitted(
    judgements: Sequence[EvidenceJudgement], held: Sequence[bool], *, agreement: float = 0.98
) -> Share:
    """The cheapest point of the curve that reaches `agreement` on hold-or-not."""
    return next(point for point in curve(judgements, held) if point.agreement >= agreement)
