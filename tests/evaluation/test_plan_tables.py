"""Every table of the plan bench over one set of scores, small enough to count by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evaluation.plans import figures
from evaluation.plans.score import Score
from evaluation.plans.tables import tables
from evaluation.report.plots import Plot
from evaluation.report.table import Cell, Table
from evaluation.statistics.bootstrap import Difference
from evaluation.statistics.proportion import Proportion

TOLD = {
    "core-gone": ("core", "abandoned", None),
    "core-true": ("core", "came_true", "verbatim"),
    "held-gone": ("heldout", "abandoned", None),
    "held-true": ("heldout", "came_true", "verbatim"),
    "hedged": ("hedge", "open", None),
    "verbatim": ("confirm", "came_true", "verbatim"),
    "paraphrase": ("confirm", "came_true", "paraphrase"),
    "oblique": ("confirm", "came_true", "oblique"),
    "situational": ("confirm", "came_true", "situational"),
    "done": ("control_completed", "completed", None),
    "late": ("control_completed", "completed", None),
    "fixed": ("control_correction", "corrected", None),
}
"""Kind, outcome and confirmation wording of the conversations, by id."""

AT_RISK, PLANS = ("abandoned", "open"), ("abandoned", "open", "came_true")
APPLIES = {
    "pending_contaminated": AT_RISK,
    "end_contaminated": AT_RISK,
    "exposed": PLANS,
    "staged": PLANS,
    "promoted": ("came_true",),
    "discarded": ("abandoned",),
    "committed_at_once": ("completed",),
    "over_held": ("completed",),
    "corrected": ("corrected",),
    "masked_at_end": PLANS,
}
UNGATED = {
    "right": "core-gone held-gone verbatim done fixed",
    "pending_contaminated": "core-gone held-gone hedged",
    "end_contaminated": "hedged",
    "committed_at_once": "done late",
    "corrected": "fixed",
}
GATED = {
    "right": "core-gone core-true held-gone held-true hedged verbatim paraphrase done fixed",
    "staged": "core-gone core-true held-gone verbatim paraphrase oblique situational",
    "promoted": "core-true verbatim",
    "discarded": "core-gone held-gone",
    "committed_at_once": "done",
    "over_held": "late",
    "corrected": "fixed",
}
UNSTAGED = {**GATED, "staged": "core-gone"}
"""As gated, but that only one plan finds its field."""
WIDER = {**UNGATED, "pending_contaminated": "core-gone held-gone", "right": "done fixed"}


def scored(calls: int = 0, **true_of: str) -> list[Score]:
    """The conversations under a pipeline: a measure is true of those that are named, and None
    where it does not apply."""
    return [
        Score(
            id=name,
            kind=kind,
            outcome=outcome,
            hedge="weak" if kind == "hedge" else None,
            wording=wording,
            at_risk=outcome in AT_RISK,
            right=name in true_of["right"].split(),
            answer=None,
            model_calls=calls,
            user_turns=3,
            gate_ms=(1.0, 2.0, 9.0),
            **{
                measure: name in true_of.get(measure, "").split()
                for measure, outcomes in APPLIES.items()
                if outcome in outcomes
            },
        )
        for name, (kind, outcome, wording) in TOLD.items()
    ]


SCORES = {
    "cautious ungated": scored(**UNGATED),
    "cautious gated": scored(2, **GATED),
    "cautious plan-typed refresh": scored(
        right="core-true verbatim paraphrase", masked_at_end="hedged", end_contaminated="held-gone"
    ),
    "cautious plan-typed strict": scored(right="verbatim"),
    "cautious gated names with-retry": scored(**GATED),
    "cautious gated names no-retry": scored(**UNSTAGED),
    "cautious ungated names with-retry": scored(**UNGATED),
    "cautious ungated names no-retry": scored(**WIDER),
}


@pytest.fixture(scope="module")
def made() -> dict[str, Table]:
    return {table.title.split(".")[0]: table for table in tables(SCORES)}


def cell(table: Table, row: str, column: str) -> Cell:
    """The one cell of that row and column."""
    cells = next(found.cells for found in table.rows if found.name == row)
    return cells[table.columns.index(column)]


def of(successes: int, n: int) -> Proportion:
    """A share as tables hold it."""
    return Proportion(successes=successes, n=n)


def points(found: Cell) -> tuple[float, int]:
    """A difference in points, and its n."""
    assert isinstance(found, Difference)
    return round(100 * found.difference, 1), found.n


@pytest.mark.parametrize(
    ("table", "row", "column", "expected"),
    [
        ("Table 1", "control_completed, completed", "n", 2),
        ("Table 2", "held out, while pending", "cautious ungated", of(1, 1)),
        ("Table 3", "core", "cautious gated", of(2, 2)),
        ("Table 3", "held out", "cautious ungated", of(2, 4)),
        ("Table 3", "held out", "cautious gated", of(3, 4)),
        ("Table 3", "all", "cautious ungated", of(5, 12)),
        ("Table 4", "verbatim", "cautious plan-typed", of(1, 1)),
        ("Table 4", "situational", "cautious gated", of(0, 1)),
        ("Table 4", "all levels, refresh-confirm reading", "cautious plan-typed", of(2, 4)),
        ("Table 4", "all levels, strict reading", "cautious plan-typed", of(1, 4)),
        ("Table 4", "all levels, strict reading", "cautious gated", None),
        ("Table 4", "held out, refresh-confirm reading", "cautious gated", of(1, 1)),
        ("Table 4", "every split, refresh-confirm reading", "cautious gated", of(4, 6)),
        ("Table 4", "at-risk plans current at end, held out", "cautious plan-typed", of(1, 1)),
        (
            "Table 4",
            "open plans still masked at end, hedge levels",
            "cautious plan-typed",
            of(1, 1),
        ),
        ("Table 5", "contamination at end", "cautious ungated", of(0, 1)),
        ("Table 5", "plans staged at the plan turn", "cautious gated", of(1, 2)),
        ("Table 5", "plans staged at the plan turn", "cautious ungated", None),
        ("Table 5", "came-true plans promoted", "cautious gated", of(0, 1)),
        ("Table 5", "completed changes committed at once", "cautious gated", of(1, 2)),
        ("Table 5", "completed changes held instead", "cautious gated", of(1, 2)),
        ("Table 6", "weak", "cautious ungated", of(1, 1)),
        ("Table 7", "verbatim", "cautious, all", of(1, 1)),
        ("Table 7", "all levels", "cautious, all", of(1, 4)),
        ("Table 7", "verbatim, every split", "cautious, all", of(2, 3)),
        ("Table 7", "verbatim, every split", "cautious, among staged", of(2, 2)),
        ("Table 7", "every split", "cautious, among staged", of(2, 5)),
        (
            "Controls and fates of plans, all conversations",
            "completed changes held instead",
            "cautious gated",
            of(1, 2),
        ),
        (
            "Controls and fates of plans, all conversations",
            "corrections applied",
            "cautious ungated",
            of(1, 1),
        ),
        (
            "Controls and fates of plans, all conversations",
            "plans staged at the plan turn",
            "cautious gated",
            of(7, 9),
        ),
        (
            "Ablations of field matching",
            "cautious gated names no-retry",
            "plans staged",
            of(1, 9),
        ),
        ("Ablations of field matching", "cautious ungated names no-retry", "plans staged", None),
        (
            "Ablations of field matching",
            "cautious gated names with-retry",
            "task accuracy, held out",
            of(3, 4),
        ),
        ("Cost", "model calls per user message", "cautious gated", pytest.approx(24 / 36)),
        ("Cost", "model calls per user message", "cautious ungated", 0.0),
        ("Cost", "gate milliseconds, median", "cautious gated", 2.0),
        ("Cost", "user messages (n)", "cautious gated", 36),
    ],
)
def test_a_cell_is_what_the_scores_count_to(
    made: dict[str, Table], table: str, row: str, column: str, expected: Any
) -> None:
    assert cell(made[table], row, column) == expected


@pytest.mark.parametrize(
    ("table", "row", "column", "expected"),
    [
        ("Gate on minus gate off, in points", "task accuracy", "cautious", (33.3, 12)),
        ("Gate on minus gate off, in points", "task accuracy, held out", "cautious", (25.0, 4)),
        ("Gate on minus gate off, in points", "corrections applied", "cautious", (0.0, 1)),
        (
            "Ablations, paired differences in points",
            "cautious gated names no-retry minus gated names with-retry",
            "plans staged",
            (-66.7, 9),
        ),
        (
            "Ablations, paired differences in points",
            "cautious ungated names with-retry minus ungated names no-retry",
            "contamination while pending",
            (33.3, 3),
        ),
        (
            "Ablations, paired differences in points",
            "cautious gated names no-retry minus ungated names no-retry",
            "task accuracy, held out",
            (50.0, 4),
        ),
    ],
)
def test_a_difference_is_what_the_pairs_count_to(
    made: dict[str, Table], table: str, row: str, column: str, expected: tuple[float, int]
) -> None:
    assert points(cell(made[table], row, column)) == expected


def test_held_out_is_one_selection_in_every_table(made: dict[str, Table]) -> None:
    ablation = made["Ablations of field matching"]
    for name in ("cautious ungated", "cautious gated"):
        right = cell(made["Table 5"], "probes answered right", name)
        assert right == cell(made["Table 3"], "held out", name)
        assert isinstance(right, Proportion)
        assert right.n == 4
    right = cell(made["Table 3"], "held out", "cautious gated")
    assert cell(ablation, "cautious gated", "task accuracy, held out") == right


@pytest.mark.parametrize(
    ("table", "row", "column"),
    [
        ("Table 4", "all levels, refresh-confirm reading", "cautious plan-typed"),
        ("Table 4", "open plans still masked at end, hedge levels", "cautious plan-typed"),
        ("Table 7", "all levels", "cautious, all"),
        ("Ablations of field matching", "cautious gated names no-retry", "plans staged, core"),
        (
            "Ablations, paired differences in points",
            "cautious ungated names with-retry minus ungated names no-retry",
            "task accuracy",
        ),
    ],
)
def test_the_papers_figure_stands_beside_the_row_it_belongs_to(
    made: dict[str, Table], table: str, row: str, column: str
) -> None:
    assert made[table].their(row, column) is not None
    assert row in {found.name for found in made[table].rows}


def _literal(name: str) -> str:
    return name.replace("cautious", "literal")


def test_every_figure_of_the_paper_has_a_cell() -> None:
    """Its keys are row and column labels: one that is renamed alone would drop out unseen."""
    styles = {**SCORES, **{_literal(name): found for name, found in SCORES.items()}}
    styles["cautious gated permissive"] = scored(**GATED)
    hedges = ("strong", "weak", "confident_undated", "scheduled_dated")
    levels = [
        Score.model_validate({**one.model_dump(), "hedge": hedge, "id": f"{one.id} {hedge}"})
        for one in SCORES["cautious gated"]
        if one.kind == "hedge"
        for hedge in hedges
    ]
    for table in tables({name: [*found, *levels] for name, found in styles.items()}):
        cells = {f"{row.name} | {column}" for row in table.rows for column in table.columns}
        assert set(table.theirs) <= cells, table.title


def test_figure_three_draws_the_wording_split_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lines_of: dict[str, Any] = {}
    theirs_of: dict[str, Any] = {}

    def levels(title: str, caption: str, _: Sequence[str], lines: Any, **rest: Any) -> Plot:
        name = title.split(".")[0]
        lines_of[name], theirs_of[name] = lines, rest["reference"]
        return Plot(title=title, caption=caption, svg="")

    monkeypatch.setattr(figures, "levels", levels)
    figures.plots(SCORES)
    assert lines_of["Figure 3"] == {
        "cautious, all": [of(1, 1), of(0, 1), of(0, 1), of(0, 1)],
        "cautious, among staged": [of(1, 1), of(0, 1), of(0, 1), of(0, 1)],
    }
    assert theirs_of["Figure 3"]["cautious, all"] == [0.25, 0.30, 0.25, 0.15]
