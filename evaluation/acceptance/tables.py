"""Acceptance figures as tables."""

from __future__ import annotations

from evaluation.acceptance.score import AcceptanceFigures
from evaluation.report.table import Cell, Table


def tables(found: AcceptanceFigures) -> list[Table]:
    """Shares by category, the false-commit rate, and every case that came out wrong."""
    rows: list[tuple[str, list[Cell]]] = [
        (name, [share]) for name, share in found.by_category.items()
    ]
    rows.append(("all", [found.right]))
    made = [
        Table.build("Acceptance: right decisions and values", ["right"], rows),
        Table.build(
            "Acceptance: commits",
            ["share"],
            [
                ("false_commit_rate", [found.false_commit_rate]),
                ("a value that must never be current is", [found.leaked]),
            ],
            note="false_commit_rate = incorrect commits / all commits.",
        ),
    ]
    if found.wrong:
        made.append(_wrong(found))
    return made


def _wrong(found: AcceptanceFigures) -> Table:
    rows: list[tuple[str, list[Cell]]] = [
        (one.id, [one.category, one.expected, one.decision, one.reason]) for one in found.wrong
    ]
    return Table.build("Cases that came out wrong", ["category", "expected", "got", "reason"], rows)
