"""How far a model says the same of the same statement when it is asked again (paper A.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median, pstdev

from pydantic import BaseModel

from evaluation.questions.material import Asked
from evaluation.questions.put import Reading
from evaluation.statistics.proportion import Proportion
from evaluation.statistics.ranking import auroc


class Stability(BaseModel):
    """Over the statements that every run answered."""

    runs: int
    n: int
    same: Proportion
    """Statements that get one label in all runs."""
    majority_is_first: Proportion
    """Statements whose most frequent label is that of the first run."""
    deviation_mean: float | None
    """Mean over statements of the standard deviation of the update score over runs."""
    deviation_median: float | None
    areas: list[float]
    """The area under the ROC curve of each run, for statements that change the profile."""
    same_by_group: dict[str, Proportion]


def stability(asked: Sequence[Asked], runs: Sequence[Sequence[Reading]]) -> Stability:
    """`runs` holds a reading a statement, in the order of `asked`."""
    told = [
        (one, [run[at] for run in runs])
        for at, one in enumerate(asked)
        if all(run[at].evidence is not None for run in runs)
    ]
    deviations = [pstdev(_scores(read)) for _, read in told]
    return Stability(
        runs=len(runs),
        n=len(told),
        same=Proportion.of(_one_label(read) for _, read in told),
        majority_is_first=Proportion.of(_majority(read) == _first(read) for _, read in told),
        deviation_mean=mean(deviations) if deviations else None,
        deviation_median=median(deviations) if deviations else None,
        areas=_areas(told, len(runs)),
        same_by_group={
            group: Proportion.of(_one_label(read) for one, read in told if one.group == group)
            for group in sorted({one.group for one, _ in told})
        },
    )


def _areas(told: Sequence[tuple[Asked, list[Reading]]], runs: int) -> list[float]:
    truth = [one.updates for one, _ in told]
    found = (auroc([_scores(read)[run] for _, read in told], truth) for run in range(runs))
    return [area for area in found if area is not None]


def _scores(readings: Sequence[Reading]) -> list[float]:
    return [one.evidence for one in readings if one.evidence is not None]


def _one_label(readings: Sequence[Reading]) -> bool:
    return len({one.evidence_type for one in readings}) == 1


def _first(readings: Sequence[Reading]) -> str | None:
    return readings[0].evidence_type


def _majority(readings: Sequence[Reading]) -> str | None:
    """The most frequent label; of equally frequent ones, that which came first."""
    return Counter(one.evidence_type for one in readings).most_common(1)[0][0]
