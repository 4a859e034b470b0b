"""Asks a model its questions over a sample of statements, and makes tables of the answers."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from evaluation.plans import paper
from evaluation.questions.compare import QUESTIONS, Comparison, comparison
from evaluation.questions.material import Asked
from evaluation.questions.put import Questioner, Reading
from evaluation.questions.stability import Stability, stability
from evaluation.report.table import Cell, Table


class Questions(BaseModel):
    """Everything that was learnt of a model."""

    model: str
    asked: int
    comparison: Comparison
    stability: Stability


def questions(asked: Sequence[Asked], questioner: Questioner, *, repeats: int) -> Questions:
    """All three questions once, and the evidence type `repeats` times in all.

    Raises:
        ModelFaultError: the model fails again and again.
    """
    first = [questioner.read(one) for one in asked]
    runs: list[list[Reading]] = [first]
    runs += [[questioner.typed(one) for one in asked] for _ in range(repeats - 1)]
    return Questions(
        model=questioner.name,
        asked=len(asked),
        comparison=comparison(list(zip(asked, first, strict=True))),
        stability=stability(asked, runs),
    )


def tables(found: Questions) -> list[Table]:
    """Which question ranks best, and how stable the answers are."""
    return [_comparison(found), _stability(found)]


def _comparison(found: Questions) -> Table:
    one = found.comparison
    rows: list[tuple[str, list[Cell]]] = [
        (
            label,
            [str(one.areas[name]), str(one.ahead[name]) if name in one.ahead else None],
        )
        for name, label in QUESTIONS.items()
    ]
    return Table.build(
        f"Evidence type against direct questions ({found.model})",
        ["AUROC", "evidence type ahead by"],
        rows,
        note=f"n={one.n} statements, {one.updating} of which should change the profile."
        " 95 % cluster-bootstrap intervals; differences on the same statements.",
        theirs=paper.QUESTIONS,
    )


def _stability(found: Questions) -> Table:
    one = found.stability
    groups: list[tuple[str, list[Cell]]] = [
        (f"… {group}", [share]) for group, share in one.same_by_group.items()
    ]
    rows: list[tuple[str, list[Cell]]] = [
        ("one label in all runs", [one.same]),
        *groups,
        ("most frequent label is the first run's", [one.majority_is_first]),
        ("deviation of the update score, mean", [one.deviation_mean]),
        ("deviation of the update score, median", [one.deviation_median]),
        ("AUROC over runs, lowest / mean / highest", [_spread(one.areas)]),
    ]
    return Table.build(
        f"Stability over {one.runs} runs ({found.model})",
        ["value"],
        rows,
        note=f"n={one.n} statements that every run answered.",
        theirs=paper.STABILITY,
    )


def _spread(areas: Sequence[float]) -> str | None:
    if not areas:
        return None
    return f"{min(areas):.3f} / {sum(areas) / len(areas):.3f} / {max(areas):.3f}"
