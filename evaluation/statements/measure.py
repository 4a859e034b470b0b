"""How a classifier does on labelled statements (the paper's table 8, and what a gate needs)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel

from evaluation.questions.bench import Questions
from evaluation.questions.material import UPDATES
from evaluation.statistics.bootstrap import interval
from evaluation.statistics.proportion import Proportion
from evaluation.statistics.ranking import auroc, calibration_error
from memgate_core.model import EvidenceType

CLASSES = tuple(kind.value for kind in EvidenceType)
_HOLD = EvidenceType.SPECULATION.value


class Seen(BaseModel):
    """One labelled statement and what was said of it."""

    id: str
    label: str
    said: str
    probabilities: dict[str, float]
    milliseconds: float = 0.0
    model_calls: int = 0

    @property
    def hold(self) -> float:
        """How strongly it argues for holding."""
        return self.probabilities[_HOLD]

    @property
    def sureness(self) -> float:
        """How sure the hold-or-not decision is: its distance from being a toss-up."""
        return abs(self.hold - 0.5)


class ClassFigures(BaseModel):
    """One class's precision, recall and F1."""

    support: int
    precision: Proportion
    recall: Proportion
    f1: float | None


class Latency(BaseModel):
    """Milliseconds a statement."""

    p50: float
    p95: float
    p99: float


class OraclePoint(BaseModel):
    """The cascade's curve: when this share of statements, the least sure ones, is answered by an
    oracle, this share of hold-or-not decisions is right."""

    asked: float
    right: float


class StatementFigures(BaseModel):
    """Everything `memgate bench statements` prints."""

    n: int
    classes: dict[str, ClassFigures]
    accuracy: Proportion
    hold_or_not: Proportion
    macro_f1: float | None
    macro_f1_interval: tuple[float, float] | None
    auroc_hold: float | None
    auroc_hold_interval: tuple[float, float] | None
    auroc_update: float | None
    """How well P(completed_event) + P(correction) ranks these two above the rest (paper 4)."""
    auroc_update_interval: tuple[float, float] | None
    calibration_error: float | None
    confusion: dict[str, dict[str, int]]
    """By label, then by what was said."""
    milliseconds: Latency | None
    model_calls: int
    oracle_curve: list[OraclePoint]
    asked_for_98: float | None
    """Smallest share to ask an oracle for 98 % right on hold-or-not."""
    questions: Questions | None = None
    """With a model at hand: direct questions beside evidence types, and stability."""


def figures(seen: Sequence[Seen]) -> StatementFigures:
    """All figures; intervals are Wilson's for shares and bootstrap ones for the other scores."""
    curve = oracle_curve(seen)
    return StatementFigures(
        n=len(seen),
        classes={name: _class(seen, name) for name in CLASSES},
        accuracy=Proportion.of(one.said == one.label for one in seen),
        hold_or_not=Proportion.of(_held_right(one) for one in seen),
        macro_f1=_macro_f1(seen),
        macro_f1_interval=interval(seen, _macro_f1),
        auroc_hold=_auroc(seen),
        auroc_hold_interval=interval(seen, _auroc),
        auroc_update=_auroc_update(seen),
        auroc_update_interval=interval(seen, _auroc_update),
        calibration_error=calibration_error(
            [max(one.probabilities.values()) for one in seen],
            [
                max(one.probabilities, key=one.probabilities.__getitem__) == one.label
                for one in seen
            ],
        ),
        confusion=_confusion(seen),
        milliseconds=_latency(seen),
        model_calls=sum(one.model_calls for one in seen),
        oracle_curve=curve,
        asked_for_98=next((point.asked for point in curve if point.right >= 0.98), None),
    )


def oracle_curve(seen: Sequence[Seen], steps: int = 100) -> list[OraclePoint]:
    """Right hold-or-not decisions against the share of statements that an oracle answers."""
    ordered = sorted(seen, key=lambda one: one.sureness)
    wrong = [not _held_right(one) for one in ordered]
    points = []
    for step in range(steps + 1):
        asked = round(len(ordered) * step / steps)
        left = sum(wrong[asked:])
        points.append(
            OraclePoint(asked=step / steps, right=1 - left / len(ordered) if ordered else 1.0)
        )
    return points


def _held_right(one: Seen) -> bool:
    return (one.said == _HOLD) == (one.label == _HOLD)


def _class(seen: Sequence[Seen], name: str) -> ClassFigures:
    said = [one for one in seen if one.said == name]
    are = [one for one in seen if one.label == name]
    return ClassFigures(
        support=len(are),
        precision=Proportion.of(one.label == name for one in said),
        recall=Proportion.of(one.said == name for one in are),
        f1=_f1(seen, name),
    )


def _f1(seen: Sequence[Seen], name: str) -> float | None:
    both = sum(one.said == name and one.label == name for one in seen)
    either = sum(one.said == name for one in seen) + sum(one.label == name for one in seen)
    return 2 * both / either if either else None


def _macro_f1(seen: Sequence[Seen]) -> float | None:
    present = {one.label for one in seen}
    scores = [score for name in present if (score := _f1(seen, name)) is not None]
    return sum(scores) / len(scores) if scores else None


def _auroc(seen: Sequence[Seen]) -> float | None:
    return auroc([one.hold for one in seen], [one.label == _HOLD for one in seen])


def _auroc_update(seen: Sequence[Seen]) -> float | None:
    scores = [sum(one.probabilities[kind] for kind in UPDATES) for one in seen]
    return auroc(scores, [one.label in UPDATES for one in seen])


def _confusion(seen: Sequence[Seen]) -> dict[str, dict[str, int]]:
    table = {label: dict.fromkeys(CLASSES, 0) for label in CLASSES}
    for one in seen:
        table[one.label][one.said] += 1
    return table


def _latency(seen: Sequence[Seen]) -> Latency | None:
    times = [one.milliseconds for one in seen if one.milliseconds]
    if not times:
        return None
    p50, p95, p99 = (float(value) for value in np.percentile(times, [50, 95, 99]))
    return Latency(p50=p50, p95=p95, p99=p99)
