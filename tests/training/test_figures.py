"""The figures, checked on cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.training.agreement import agreement, kappa
from evaluation.training.figures import asked_share, auroc, calibration_error, f1, wilson


def test_auroc_counts_ties_half() -> None:
    assert auroc([True, False], np.array([0.9, 0.1])) == 1.0
    assert auroc([True, False], np.array([0.5, 0.5])) == 0.5
    assert auroc([True, True, False, False], np.array([0.8, 0.3, 0.5, 0.1])) == 0.75


def test_auroc_of_one_class_is_no_number() -> None:
    assert np.isnan(auroc([True, True], np.array([0.1, 0.2])))


def test_f1() -> None:
    truth, said = np.array([True, True, False]), np.array([True, False, True])
    assert f1(truth, said) == pytest.approx(0.5)


def test_a_sure_and_wrong_judge_is_badly_calibrated() -> None:
    sure = np.array([[0.99, 0.01], [0.99, 0.01]])
    assert calibration_error(sure, np.array([1, 1])) == pytest.approx(0.99)
    assert calibration_error(sure, np.array([0, 0])) == pytest.approx(0.01)


def test_wilson_matches_the_published_interval() -> None:
    low, high = wilson(0, 40)
    assert (round(low, 3), round(high, 3)) == (0.0, 0.088)
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_oracle_is_asked_only_until_agreement_is_reached() -> None:
    hold = np.array([0.99] * 50 + [0.01] * 48 + [0.6, 0.4])
    truth = [0] * 50 + [3] * 48 + [3, 0]
    assert asked_share(hold, truth, 0.98) == 0.0
    assert asked_share(hold, truth, 0.99) == pytest.approx(0.01)
    assert asked_share(hold, truth, 1.0) == pytest.approx(0.02)


def test_kappa_takes_chance_away() -> None:
    half = [("a", "a"), ("b", "b"), ("a", "b"), ("b", "a")]
    assert agreement(half) == 0.5
    assert kappa(half) == pytest.approx(0.0)
    assert kappa([("a", "a"), ("b", "b")]) == pytest.approx(1.0)
    assert kappa([("a", "a"), ("a", "a")]) == 1.0
