"""Tables in Markdown, for pages of docs/ that a command writes."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.plans.paper import MARK
from evaluation.report.table import Row, Table, shown


def tables(found: Sequence[Table]) -> str:
    """The tables one below the other; the paper's figures in italics, marked as theirs."""
    return "\n\n".join(_table(one) for one in found) + "\n"


def _table(table: Table) -> str:
    head = f"| | {' | '.join(_plain(column) for column in table.columns)} |"
    rule = f"| --- |{' --- |' * len(table.columns)}"
    lines = [f"### {table.title}", "", head, rule, *(_row(table, row) for row in table.rows)]
    if table.note:
        lines += ["", table.note]
    if table.theirs:
        lines += ["", f"In italics: {MARK}."]
    return "\n".join(lines)


def _row(table: Table, row: Row) -> str:
    cells = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        theirs = table.their(row.name, column)
        cells.append(_plain(shown(cell)) + (f"<br>*{_plain(theirs)}*" if theirs else ""))
    return f"| {_plain(row.name)} | {' | '.join(cells)} |"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
