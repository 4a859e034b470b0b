"""Which question ranks statements best that should change the profile (paper section 4, A.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from pydantic import BaseModel

from evaluation.questions.material import Asked
from evaluation.questions.put import Reading
from evaluation.statistics.bootstrap import interval
from evaluation.statistics.ranking import auroc

QUESTIONS = {
    "evidence": "evidence type",
    "true_now": "is it true now?",
    "store": "should it be stored?",
}


class Ranked(BaseModel):
    """An area under the ROC curve, or a difference of two, with its cluster-bootstrap interval."""

    value: float | None
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        if self.value is None or self.interval is None:
            return "–"
        return f"{self.value:.3f} [{self.interval[0]:.3f}, {self.interval[1]:.3f}]"


class Comparison(BaseModel):
    """Over the statements on which all three questions were answered."""

    n: int
    updating: int
    areas: dict[str, Ranked]
    ahead: dict[str, Ranked]
    """Evidence type minus the other question, on the same statements."""


Pair = tuple[Asked, Reading]


def comparison(pairs: Sequence[Pair]) -> Comparison:
    """Areas and paired differences; whole clusters are resampled."""
    told = [(asked, read) for asked, read in pairs if None not in (read.evidence, *_others(read))]
    return Comparison(
        n=len(told),
        updating=sum(asked.updates for asked, _ in told),
        areas={name: _ranked(told, lambda p, n=name: _area(p, n)) for name in QUESTIONS},  # type: ignore[misc]
        ahead={
            name: _ranked(told, lambda p, n=name: _ahead(p, n))  # type: ignore[misc]
            for name in QUESTIONS
            if name != "evidence"
        },
    )


def _others(read: Reading) -> tuple[float | None, float | None]:
    return read.true_now, read.store


def _ranked(pairs: Sequence[Pair], score: Callable[[Sequence[Pair]], float | None]) -> Ranked:
    clusters: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        clusters[pair[0].cluster].append(pair)
    return Ranked(
        value=score(pairs),
        interval=interval(
            list(clusters.values()), lambda drawn: score([pair for one in drawn for pair in one])
        ),
    )


def _area(pairs: Sequence[Pair], name: str) -> float | None:
    return auroc([getattr(read, name) for _, read in pairs], [asked.updates for asked, _ in pairs])


def _ahead(pairs: Sequence[Pair], name: str) -> float | None:
    first, second = _area(pairs, "evidence"), _area(pairs, name)
    return None if first is None or second is None else first - second
