"""The paper's figures 2 and 3 on our conversations, with its own lines drawn thin beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.plans import paper
from evaluation.plans.shares import MAIN, Scores
from evaluation.plans.tables import HEDGES, WORDINGS, by_hedge, by_wording
from evaluation.report.plots import Plot, levels
from evaluation.report.table import Table
from evaluation.statistics.proportion import Proportion


def plots(scores: Scores) -> list[Plot]:
    """Both figures, where there are conversations for them."""
    names = [name for name in MAIN if name in scores]
    made = [_hedges(by_hedge(scores, names)), _wordings(by_wording(scores))]
    return [plot for plot in made if plot is not None]


def _hedges(table: Table) -> Plot | None:
    if not table.rows:
        return None
    return levels(
        "Figure 2. At-end contamination by hedge strength",
        f"Wilson 95 % bars. Dotted, in the same colours: {paper.MARK}.",
        HEDGES,
        _lines(table, HEDGES),
        reference=_reference(paper.HEDGES, HEDGES, table.columns),
    )


def _wordings(table: Table) -> Plot | None:
    if not table.rows:
        return None
    return levels(
        "Figure 3. Promotion by confirmation wording",
        f"Wilson 95 % bars. Dotted, in the same colours: {paper.MARK}.",
        WORDINGS,
        _lines(table, WORDINGS),
        reference=_reference(paper.PROMOTION, WORDINGS, table.columns),
    )


def _lines(table: Table, names: Sequence[str]) -> dict[str, list[Proportion | None]]:
    by_name = {row.name: row.cells for row in table.rows}
    lines: dict[str, list[Proportion | None]] = {column: [] for column in table.columns}
    for name in names:
        cells = by_name.get(name, [None] * len(table.columns))
        for column, cell in zip(table.columns, cells, strict=True):
            lines[column].append(cell if isinstance(cell, Proportion) else None)
    return lines


def _reference(
    published: Mapping[tuple[str, str], str], rows: Sequence[str], columns: Sequence[str]
) -> dict[str, list[float | None]]:
    return {column: [_rate(published.get((row, column))) for row in rows] for column in columns}


def _rate(text: str | None) -> float | None:
    return float(text.split("%")[0]) / 100 if text else None
