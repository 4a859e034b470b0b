"""No figure on the project's own test part may drop unnoticed."""

from __future__ import annotations

import json

import pytest

from evaluation.guard import MARKS, dropped, measured


@pytest.mark.slow
def test_no_figure_has_dropped() -> None:
    marks = json.loads(MARKS.read_text(encoding="utf-8"))
    assert not dropped(measured(), marks)


def test_a_drop_is_seen_in_its_own_direction() -> None:
    marks = {"a.right": 0.9, "a.wrong_commits": 0.0, "b.staged": 0.5}
    assert dropped({"a.right": 0.89, "a.wrong_commits": 0.01, "b.staged": 0.9}, marks) == []
    worse = dropped({"a.right": 0.8, "a.wrong_commits": 0.1}, marks)
    assert [line.partition(":")[0] for line in worse] == ["a.right", "a.wrong_commits", "b.staged"]
