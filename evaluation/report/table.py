"""A table of results, whatever it is shown on: terminal, HTML or Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from evaluation.statistics.bootstrap import Difference
from evaluation.statistics.proportion import Proportion

Cell = Proportion | Difference | float | int | str | None


class Row(BaseModel):
    """A labelled row."""

    name: str
    cells: list[Cell]


class Table(BaseModel):
    """Rows over columns. `theirs` holds the paper's own figures by (row, column), shown beside
    ours and always marked as theirs, on their data."""

    title: str
    columns: list[str]
    rows: list[Row]
    note: str | None = None
    theirs: dict[str, str] = {}

    @classmethod
    def build(
        cls,
        title: str,
        columns: Sequence[str],
        rows: Sequence[tuple[str, Sequence[Cell]]],
        *,
        note: str | None = None,
        theirs: Mapping[tuple[str, str], str] | None = None,
    ) -> Table:
        """A table from plain sequences; every row has a cell for every column."""
        return cls(
            title=title,
            columns=list(columns),
            rows=[Row(name=name, cells=list(cells)) for name, cells in rows],
            note=note,
            theirs={_key(*place): value for place, value in (theirs or {}).items()},
        )

    def their(self, row: str, column: str) -> str | None:
        """The paper's figure for a cell, if it published one."""
        return self.theirs.get(_key(row, column))


def _key(row: str, column: str) -> str:
    return f"{row} | {column}"


def shown(cell: Cell) -> str:
    """A cell as a person reads it."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
