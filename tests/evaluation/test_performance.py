"""What `make bench` writes, and that a file's size does not show in memory. No clock is tested."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.performance import calls, streaming
from evaluation.performance.judging import growth
from evaluation.performance.measured import Measured, Series
from evaluation.performance.page import write
from evaluation.performance.paired import WARM, Paired, paired

FLAT = Series(name="turn by held items", unit="ms", sizes=[10, 1000], values=[2.0, 3.5])


def test_a_target_is_met_or_missed_in_either_direction() -> None:
    most = Measured(part="p", name="n", value=1.4, unit="×", target=1.3)
    least = most.model_copy(update={"at_least": True})
    free = most.model_copy(update={"target": None})
    assert [one.verdict for one in (most, least, free)] == ["missed", "met", ""]


def test_both_sides_are_timed_in_turns_and_their_first_rounds_are_not_counted() -> None:
    order: list[str] = []

    def noted(what: str) -> Callable[[], None]:
        return lambda: order.append(what)

    found = paired([(noted("plain"), noted("gated"))] * (WARM + 2), between=noted("rest"))
    assert order == ["plain", "rest", "gated", "rest"] * (WARM + 2)
    assert (len(found.plain), len(found.gated)) == (2, 2)
    ratio = Paired([10.0, 10.0, 40.0], [11.0, 11.0, 11.0]).ratio("p", "n", target=1.1)
    assert (round(ratio.value, 6), ratio.verdict) == (1.1, "met")


def test_growth_is_the_dearest_against_the_cheapest() -> None:
    found = growth(FLAT, until=1000, target=1.5)
    assert (found.value, found.verdict) == (1.75, "missed")


def test_the_page_says_what_was_missed_and_draws_what_must_stay_flat(tmp_path: Path) -> None:
    measured = [
        Measured(
            part="ledger",
            name="ledger against bare",
            value=0.5,
            unit="×",
            target=0.4,
            at_least=True,
        ),
        growth(FLAT, until=1000, target=1.5),
    ]
    page = write(tmp_path, measured, [FLAT], full=False, load=0.5).read_text(encoding="utf-8")
    assert "| ledger | ledger against bare | 0.50 × | ≥ 0.4 | met |" in page
    assert "Missed in this run: turn by held items: 1,000 against 10 (1.75 ×)." in page
    assert "](performance-items.svg)" in page
    assert (tmp_path / "performance-items.svg").read_text(encoding="utf-8").startswith("<svg")
    found = json.loads((tmp_path / "performance.json").read_text(encoding="utf-8"))
    assert [one["verdict"] for one in found["measured"]] == ["met", "missed"]


@pytest.mark.slow
def test_every_backend_is_asked_no_oftener_than_its_budget_allows() -> None:
    found = {one.name: one.value for one in calls.measures()}
    assert found["model calls a user message, local"] == 0
    assert 0 < found["model calls a user message, cascade"] <= 2
    assert found["model calls a user message, llm"] <= 2
    assert found["model calls a user message, llm, which also extracts"] <= 2


@pytest.mark.slow
def test_a_larger_file_takes_no_more_memory(tmp_path: Path) -> None:
    off, on = streaming.measures(tmp_path, 10)
    assert "gate off" in off.name
    assert "gate on" in on.name
    for found in (off, on):
        assert found.value < 1.2, found.note
