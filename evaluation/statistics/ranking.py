"""How well scores order and weigh: area under the ROC curve, calibration error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def auroc(scores: Sequence[float], positives: Sequence[bool]) -> float | None:
    """Chance that a positive scores above a negative, ties counted half; None with one class."""
    values, truth = np.asarray(scores, dtype=float), np.asarray(positives, dtype=bool)
    up, down = int(truth.sum()), int((~truth).sum())
    if not up or not down:
        return None
    ranks = _mean_ranks(values)
    return float((ranks[truth].sum() - up * (up + 1) / 2) / (up * down))


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    means: NDArray[np.float64] = (last - counts + 1 + last) / 2
    return means[places]


def calibration_error(
    confidences: Sequence[float], right: Sequence[bool], *, bins: int = 10
) -> float | None:
    """Expected calibration error over equally wide bins: the mean gap between how sure a judgement
    was and how often such judgements were right, weighted by bin size."""
    if not confidences:
        return None
    sure, hit = np.asarray(confidences, dtype=float), np.asarray(right, dtype=float)
    places = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [
        abs(hit[places == at].mean() - sure[places == at].mean()) * (places == at).mean()
        for at in np.unique(places)
    ]
    return float(sum(gaps))
