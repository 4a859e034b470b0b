"""Tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from evaluation.plans.paper import MARK
from evaluation.report.table import Table, shown


def show(tables: Iterable[Table], console: Console | None = None) -> None:
    """Prints the tables; the paper's figures stand below ours in their cell, in another colour."""
    console = console or _console()
    marked = False
    for table in tables:
        console.print(_rich(table))
        if table.note:
            console.print(Text(table.note, style="italic"))
        console.print()
        marked = marked or bool(table.theirs)
    if marked:
        console.print(Text(f"In (…): {MARK}.", style="cyan"))


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=170)


def _rich(table: Table) -> RichTable:
    rich = RichTable(title=table.title, title_justify="left", header_style="bold", show_lines=False)
    rich.add_column("")
    for column in table.columns:
        rich.add_column(column)
    for row in table.rows:
        cells = (
            _cell(shown(cell), table.their(row.name, column))
            for cell, column in zip(row.cells, table.columns, strict=True)
        )
        rich.add_row(Text(row.name), *cells)
    return rich


def _cell(ours: str, theirs: str | None) -> Text:
    text = Text(ours)
    if theirs is not None:
        text.append(f"\n({theirs})", style="cyan")
    return text
