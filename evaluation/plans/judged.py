"""The paper's tables once more, with stored and answered values judged by a model as it does."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.equivalence import JudgeFigures
from evaluation.plans import paper
from evaluation.plans.shares import MAIN, Scores
from evaluation.plans.tables import (
    accuracy,
    by_hedge,
    contamination,
    differences,
    held_out,
    plan_typed,
)
from evaluation.report.table import Cell, Table


def judged_tables(scores: Scores, judge: JudgeFigures) -> list[Table]:
    """Tables 2 to 6 and the paired differences, and how the judge compares with the function that
    decides everywhere else."""
    names = [name for name in MAIN if name in scores]
    made = [
        contamination(scores, names),
        accuracy(scores, names),
        plan_typed(scores),
        held_out(scores, names),
        by_hedge(scores, names),
        differences(scores),
    ]
    filled = [table for table in made if table.rows and table.columns]
    return [*_titled(filled, judge.name), _agreement(judge)]


def _titled(tables: Sequence[Table], name: str) -> list[Table]:
    return [
        table.model_copy(update={"title": f"{table.title} (values judged by {name})"})
        for table in tables
    ]


def _agreement(judge: JudgeFigures) -> Table:
    rows: list[tuple[str, list[Cell]]] = [
        ("same verdict", [judge.agree]),
        ("beyond chance (kappa)", [judge.kappa]),
        ("model the stricter, where they differ", [judge.stricter]),
        ("pairs on which the model failed", [judge.failed]),
        ("questions asked", [judge.calls]),
    ]
    return Table.build(
        f"Equivalence judge {judge.name} against normalised containment",
        ["value"],
        rows,
        note=f"{judge.pairs} different pairs of a labelled and a stored or answered value.",
        theirs=paper.JUDGE,
    )
