"""The claim head: what a turn says of a field's value, with the value given or to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memgate_core.judgement.calibration import Calibration
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Encoded
from memgate_core.judgement.verdicts import CLAIM_VERDICTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GRAPH = "claims"

_LONGEST_VALUE = 14
"""Tokens; values that people keep in a profile are shorter."""


@dataclass(frozen=True)
class Verdict:
    """What a turn says of a field's value."""

    name: str
    """One of `verdicts.CLAIM_VERDICTS`."""
    probability: float
    stands: float
    """Probability that the value is asserted at all: now, as a correction, or as a plan."""
    place: tuple[int, int, int] | None = None
    """Where the value stands: text number (-1 the turn, 0.. its history), start, end."""


class ClaimHead:
    """Asks the claims graph. Thread-safe."""

    def __init__(self, encoders: Encoders) -> None:
        self._encoders = encoders

    def judge(self, rows: Sequence[Encoded], *, read: bool = False) -> list[Verdict]:
        """One verdict a row; with `read`, each with the place of the value."""
        if not rows:
            return []
        wanted = ["claim", "span"] if read else ["claim"]
        answers = self._encoders.run(GRAPH, rows, wanted)
        probabilities = self._calibration.probabilities(answers["claim"])
        places = [_place(row, answers["span"][at]) if read else None for at, row in enumerate(rows)]
        return [
            _verdict([float(p) for p in probabilities[at]], places[at]) for at in range(len(rows))
        ]

    @cached_property
    def _calibration(self) -> Calibration:
        return Calibration.from_card(self._encoders.card[GRAPH]["calibration"]["claim"])


def threshold(encoders: Encoders, name: str) -> float:
    """A threshold of the claims graph, from the model card."""
    thresholds: dict[str, Any] = encoders.card[GRAPH]["thresholds"]
    return float(thresholds[name])


def _verdict(probabilities: list[float], place: tuple[int, int, int] | None) -> Verdict:
    by_name = dict(zip(CLAIM_VERDICTS, probabilities, strict=True))
    stands = sum(by_name[name] for name in ("commit", "correct", "hold"))
    names = ("commit", "correct", "hold") if stands >= 0.5 else CLAIM_VERDICTS[3:]
    top = max(names, key=lambda name: by_name[name])
    return Verdict(top, by_name[top], stands, place)


def _place(row: Encoded, logits: NDArray[np.float32]) -> tuple[int, int, int] | None:
    """The likeliest run of tokens inside one text."""
    inside = [at for at, place in enumerate(row.places) if place is not None]
    best, found = float("-inf"), None
    for first in inside:
        for last in range(first, min(first + _LONGEST_VALUE, len(row.places))):
            start, end = row.places[first], row.places[last]
            if start is None or end is None or start[0] != end[0]:
                break
            score = float(logits[first, 0] + logits[last, 1])
            if score > best:
                best, found = score, (start[0], start[1], end[2])
    return found
