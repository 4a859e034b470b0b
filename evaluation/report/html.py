"""One self-contained HTML page: tables, plots, how it was made. It opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from evaluation.plans.paper import MARK
from evaluation.report.plots import Plot
from evaluation.report.table import Row, Table, shown
from memgate_core.errors import InvalidInputError

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2.4rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid #8884;
  vertical-align: top; }
td .theirs { display: block; color: #1b6ca8; font-size: .85em; }
p.note, figcaption { color: #777; font-size: .9em; }
figure { margin: 2rem 0; } figure svg { max-width: 100%; height: auto; background: #fff; }
.scroll { overflow-x: auto; }
"""


def page(
    title: str,
    about: Sequence[tuple[str, str]],
    tables: Sequence[Table],
    plots: Sequence[Plot] = (),
) -> str:
    """The page as one string; `about` says on what, with what and how it was measured."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        _about(about),
        *(_figure(plot) for plot in plots),
        *(_table(table) for table in tables),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def write(path: Path, text: str) -> None:
    """Writes the page.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise InvalidInputError(f"{path}: {fault.strerror}") from fault


def _about(pairs: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in pairs)
    return f'<table class="about">{rows}</table>'


def _figure(plot: Plot) -> str:
    return (
        f"<figure><h2>{escape(plot.title)}</h2>{plot.svg}"
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in ("", *table.columns))
    body = "".join(_row(table, row) for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    mark = f'<p class="note">In blue: {escape(MARK)}.</p>' if table.theirs else ""
    return (
        f'<h2>{escape(table.title)}</h2><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}{mark}"
    )


def _row(table: Table, row: Row) -> str:
    cells = []
    for cell, column in zip(row.cells, table.columns, strict=True):
        theirs = table.their(row.name, column)
        below = f'<span class="theirs">{escape(theirs)}</span>' if theirs else ""
        cells.append(f"<td>{escape(shown(cell))}{below}</td>")
    return f"<tr><th>{escape(row.name)}</th>{''.join(cells)}</tr>"
