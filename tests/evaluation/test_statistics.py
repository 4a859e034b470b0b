"""The intervals agree with the paper's own, and the resampling with what can be worked out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.statistics.bootstrap import interval, paired_difference
from evaluation.statistics.proportion import Proportion, percent
from evaluation.statistics.ranking import auroc, calibration_error


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (35, 40, 73.9, 94.5),  # the paper's table 2
        (0, 40, 0.0, 8.8),
        (19, 40, 32.9, 62.5),
        (9, 88, 5.5, 18.3),
        (54, 60, 79.9, 95.3),  # table 3
        (44, 44, 92.0, 100.0),  # table 5
        (11, 15, 48.0, 89.1),
        (0, 20, 0.0, 16.1),  # table 6
    ],
)
def test_the_interval_is_the_papers(successes: int, n: int, low: float, high: float) -> None:
    found = Proportion(successes=successes, n=n).interval
    assert found is not None
    assert (round(100 * found[0], 1), round(100 * found[1], 1)) == (low, high)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_rate(case: tuple[int, int]) -> None:
    share = Proportion(successes=case[0], n=case[1])
    assert share.rate is not None
    assert share.interval is not None
    assert share.interval[0] <= share.rate + 1e-12
    assert share.interval[1] >= share.rate - 1e-12


def test_no_cases_have_no_rate() -> None:
    assert str(Proportion.of([])) == "–"
    assert Proportion.of([]).rate is None


def test_a_share_reads_as_a_person_reads_it() -> None:
    assert str(Proportion(successes=35, n=40)) == "87.5% [73.9, 94.5] n=40"
    assert str(Proportion(successes=0, n=40)) == "0% [0.0, 8.8] n=40"
    assert percent(0.0004) == "0%"


def test_a_paired_difference_counts_who_gained() -> None:
    pairs = [(n, n < 8, n < 4) for n in range(10)]
    found = paired_difference(pairs)
    assert found is not None
    assert (found.better, found.worse, found.n) == (4, 0, 10)
    assert found.difference == pytest.approx(0.4)
    assert 0.0 < found.low < 0.4 < found.high < 0.8


def test_clusters_are_drawn_whole() -> None:
    one_voice = [("a", True, False)] * 50 + [("b", False, False)] * 50
    many = [(n, n < 50, False) for n in range(100)]
    wide, narrow = paired_difference(one_voice), paired_difference(many)
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_equal_pairs_do_not_differ() -> None:
    found = paired_difference([(n, n % 2 == 0, n % 2 == 0) for n in range(30)])
    assert found is not None
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)
    assert paired_difference([]) is None


def test_the_area_counts_pairs_and_halves_ties() -> None:
    assert auroc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert auroc([0.5, 0.7], [True, True]) is None


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=40))
def test_the_area_is_the_share_of_ordered_pairs(items: list[tuple[int, bool]]) -> None:
    scores, truth = [float(score) for score, _ in items], [positive for _, positive in items]
    pairs = [
        1.0 if up > down else 0.5 if up == down else 0.0
        for up, is_up in zip(scores, truth, strict=True)
        if is_up
        for down, other in zip(scores, truth, strict=True)
        if not other
    ]
    found = auroc(scores, truth)
    assert found is None if not pairs else found == pytest.approx(sum(pairs) / len(pairs))


def test_calibration_error_is_the_gap_between_sure_and_right() -> None:
    assert calibration_error([0.8] * 10, [True] * 8 + [False] * 2) == pytest.approx(0.0)
    assert calibration_error([1.0] * 4, [True, False, False, False]) == pytest.approx(0.75)
    assert calibration_error([], []) is None


def test_an_interval_of_any_score() -> None:
    items = [1.0] * 90 + [0.0] * 10
    found = interval(items, lambda drawn: sum(drawn) / len(drawn))
    assert found is not None
    assert 0.8 < found[0] < 0.9 < found[1] < 1.0
    assert interval([], lambda _: 1.0) is None
