"""The paper's figures as they are copied here agree with each other and with their own intervals."""

from __future__ import annotations

import re

import pytest

from evaluation.plans import paper
from evaluation.statistics.proportion import Proportion

_SHARE = re.compile(r"^(\d+(?:\.\d)?)%(?: \[([\d.]+), ([\d.]+)\])?.*? n=(\d+)")
PUBLISHED = [
    pytest.param(text, id=f"{name}: {row}, {column}")
    for name, table in vars(paper).items()
    if name.isupper() and isinstance(table, dict)
    for (row, column), text in table.items()
    if _SHARE.match(text)
]


@pytest.mark.parametrize("text", PUBLISHED)
def test_a_share_is_a_count_of_its_n_and_has_its_interval(text: str) -> None:
    found = _SHARE.match(text)
    assert found is not None
    n, rate = int(found.group(4)), float(found.group(1))
    share = Proportion(successes=round(rate * n / 100), n=n)
    assert share.rate is not None
    assert 100 * share.rate == pytest.approx(rate, abs=0.051)
    if found.group(2) is not None:
        assert share.interval is not None
        edges = [100 * edge for edge in share.interval]
        assert edges == pytest.approx([float(found.group(2)), float(found.group(3))], abs=0.051)


def test_most_of_what_is_copied_is_checked_so() -> None:
    assert len(PUBLISHED) > 100


def test_tables_that_repeat_each_other_agree() -> None:
    for style in ("cautious", "literal"):
        for gate in ("ungated", "gated"):
            name = f"{style} {gate}"
            at_end = paper.CONTAMINATION["held out, at end", name]
            assert at_end == paper.HELD_OUT["contamination at end", name]
            right = paper.ACCURACY["held out", name]
            assert right == paper.HELD_OUT["probes answered right", name]
