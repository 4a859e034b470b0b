"""Chooses the claims graph's thresholds on the held-out part, by how often they may be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.training.figures import softmax
from evaluation.training.fit import Course, logits_of, vectors_of
from evaluation.training.network import Judge
from evaluation.training.samples import Sample
from memgate_core.judgement.inputs import SPEAKERS
from memgate_core.judgement.verdicts import CLAIM_VERDICTS, RESOLUTION_ORDER
from memgate_core.model import ResolutionType

_FALSE_RESOLUTIONS = {
    "confirm": 0.008,
    "confirm_named": 0.016,
    "abandon": 0.016,
    "abandon_named": 0.016,
}
"""Of later turns that do not settle a held item so, how many may be read as if they did: those that
say its value, and the others. Nearly all that were written to name a value name it to tempt; in a
conversation few turns are so near."""
_FALSE_FITS = 0.02
_FALSE_READS = 0.02
_FALSE_GUESSES = 0.05
"""Of an assistant's or a tool's turns that claim nothing of the user: what is read from an
assistant is never committed, only held until the user says so."""
_FALSE_FACTS = {"commit": 0.004, "correct": 0.004}
"""Of turns that assert no value, how many may be read as a fact or a correction unasked. Nearly all
turns of the held-out part were written to tempt; of what people say, few are so near."""
_FAR_PAIRS = 0.02
_ASSERTING = tuple(CLAIM_VERDICTS.index(name) for name in ("commit", "correct"))
_STANDING = tuple(CLAIM_VERDICTS.index(name) for name in ("commit", "correct", "hold"))


def choose(model: Judge, checks: Course, temperatures: Mapping[str, float]) -> dict[str, float]:
    """Thresholds by name, each the lowest that keeps its kind of error rare."""
    chances, truth = _chances(model, checks, "resolution", temperatures)
    named = np.array([sample.named for sample in checks.samples["resolution"]])
    found = {}
    for kind in (ResolutionType.CONFIRM, ResolutionType.ABANDON):
        at = RESOLUTION_ORDER.index(kind)
        for name, those in ((kind.value, ~named), (f"{kind.value}_named", named)):
            allowed = _FALSE_RESOLUTIONS[name]
            found[name] = _lowest(chances[those & (truth != at), at], allowed)
    claims, said = _chances(model, checks, "claim", temperatures)
    stands = claims[:, _STANDING].sum(axis=1)
    found["read"] = _lowest(stands[~np.isin(said, _STANDING)], _FALSE_READS)
    guessed = np.array([not _by_user(sample) for sample in checks.samples["claim"]])
    found["read_guess"] = _lowest(stands[guessed & ~np.isin(said, _STANDING)], _FALSE_GUESSES)
    for name, allowed in _FALSE_FACTS.items():
        at = CLAIM_VERDICTS.index(name)
        found[f"read_{name}"] = _lowest(claims[~np.isin(said, _ASSERTING), at], allowed)
    if checks.samples.get("fit"):
        fits, same = _chances(model, checks, "fit", temperatures)
        found["fit"] = _lowest(fits[same == 0, 1], _FALSE_FITS)
    if checks.vectors:
        found["near"] = _floor(model, checks)
    return {name: round(value, 4) for name, value in found.items()}


def _chances(
    model: Judge, checks: Course, head: str, temperatures: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    samples = checks.samples[head]
    logits = logits_of(model, head, [sample.row for sample in samples])
    truth = np.array([sample.target for sample in samples], np.int64)
    return softmax(logits / temperatures[head]), truth


def _by_user(sample: Sample) -> bool:
    """Whether the turn is the user's: the last mark of a speaker in the row is that of the turn."""
    return next(mark for mark in reversed(sample.row.ids) if mark in SPEAKERS) == SPEAKERS[0]


def _lowest(wrong: NDArray[np.float64], allowed: float) -> float:
    """The lowest threshold of at least one half that lets no more than a share of these pass."""
    if not len(wrong):
        return 0.5
    return float(min(0.99, max(0.5, np.quantile(wrong, 1 - allowed))))


def _floor(model: Judge, checks: Course) -> float:
    """Cosine that nearly all rows that belong together reach."""
    left = vectors_of(model, [pair[0] for pair in checks.vectors])
    right = vectors_of(model, [pair[1] for pair in checks.vectors])
    return float(np.quantile((left * right).sum(axis=1), _FAR_PAIRS))


def promotion_figures(
    chances: NDArray[np.float64], kinds: Sequence[str], threshold: float
) -> dict[str, float]:
    """Share promoted by the letter of the grammar, and of false promotions, at a threshold."""
    promoted = chances[:, RESOLUTION_ORDER.index(ResolutionType.CONFIRM)] >= threshold
    letters = np.array(list(kinds))
    figures = {}
    for letter in sorted(set(kinds)):
        figures[f"promoted_{letter}"] = float(promoted[letters == letter].mean())
    return figures
