"""Figures of a classifier: AUROC, accuracy, F1, calibration error, Wilson intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def softmax(logits: NDArray[np.floating]) -> Floats:
    """Row-wise softmax."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True)).astype(np.float64)
    total: Floats = shifted / shifted.sum(axis=1, keepdims=True)
    return total


def auroc(positive: Sequence[bool], score: NDArray[np.floating]) -> float:
    """Chance that a positive scores above a negative (ties count half)."""
    truth = np.asarray(positive, bool)
    ranks = np.empty(len(score))
    order = np.argsort(score, kind="mergesort")
    ranks[order] = np.arange(1, len(score) + 1)
    for value in np.unique(score):
        tied = score == value
        ranks[tied] = ranks[tied].mean()
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return float("nan")
    top = ranks[truth].sum() - positives * (positives + 1) / 2
    return float(top / (positives * negatives))


def f1(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    """Harmonic mean of precision and recall; 0 when nothing was said or true."""
    both = int((truth & said).sum())
    return 2 * both / max(1, int(truth.sum()) + int(said.sum()))


def calibration_error(probabilities: Floats, truth: NDArray[np.int64], bins: int = 10) -> float:
    """Expected calibration error of the top class, in equal-width bins."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    error = 0.0
    for low in np.arange(bins) / bins:
        inside = (sure > low) & (sure <= low + 1 / bins)
        if inside.any():
            error += inside.mean() * abs(sure[inside].mean() - right[inside].mean())
    return float(error)


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """95 % Wilson interval of a proportion."""
    if of == 0:
        return 0.0, 1.0
    share, square = hits / of, z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def evidence_figures(probabilities: Floats, truth: Sequence[int]) -> dict[str, float]:
    """The figures of issue "judgement" for four-class evidence, class 0 being speculation."""
    y = np.asarray(truth)
    said = probabilities.argmax(axis=1)
    return {
        "n": float(len(y)),
        "auroc_hold": auroc(list(y == 0), probabilities[:, 0]),
        "accuracy": float((said == y).mean()),
        "speculation_f1": f1(y == 0, said == 0),
        "event_f1": f1(y == 1, said == 1),
        "correction_f1": f1(y == 2, said == 2),
        "ece": calibration_error(probabilities, y),
    }


def asked_share(hold: NDArray[np.floating], truth: Sequence[int], target: float = 0.98) -> float:
    """Share of statements that an oracle must answer, the least sure first, until hold-or-not
    agrees with the truth on `target` of all."""
    y = np.asarray(truth) == 0
    wrong = (hold >= 0.5) != y
    least_sure = np.argsort(-np.minimum(hold, 1 - hold), kind="mergesort")
    allowed = math.floor((1 - target) * len(y) + 1e-9)
    left = int(wrong.sum())
    for asked, at in enumerate(least_sure):
        if left <= allowed:
            return asked / len(y)
        left -= int(wrong[at])
    return 1.0
