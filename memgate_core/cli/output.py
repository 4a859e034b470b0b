"""What commands print: a table for people, JSON for programs, never both."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

    Row = Sequence[object]


def print_json(found: BaseModel | Mapping[str, Any] | Iterable[BaseModel]) -> None:
    """One JSON document on standard output."""
    print(json_of(found))


def json_of(found: BaseModel | Mapping[str, Any] | Iterable[BaseModel]) -> str:
    """A model, a mapping or several models as one JSON document."""
    from pydantic import BaseModel

    if isinstance(found, BaseModel):
        return found.model_dump_json(indent=2)
    if isinstance(found, Mapping):
        return json.dumps(found, indent=2, ensure_ascii=False, default=str)
    items = [one.model_dump(mode="json") for one in found]
    return json.dumps(items, indent=2, ensure_ascii=False)


def print_table(
    columns: Sequence[str], rows: Iterable[Row], *, title: str | None = None, empty: str = "nothing"
) -> None:
    """A table as wide as the terminal; `empty` is said instead of a table without rows."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", header_style="bold", expand=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(cell)) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table if table.row_count else Text(empty))


def print_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Names and values, one below the other."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, value in pairs:
        table.add_row(Text(name, style="bold"), Text(_cell(value)))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, datetime):
        return day(value)
    return str(value)


def day(value: datetime | None) -> str:
    """A time as people read it, in UTC: the day alone where no hour was named."""
    if value is None:
        return "–"
    midnight = value.hour == value.minute == value.second == 0
    return f"{value:%Y-%m-%d}" if midnight else f"{value:%Y-%m-%d %H:%M}"


@contextmanager
def progress(path: Path, what: str) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of a file, on standard error, when a person is watching.

    Gives a function that is told how many bytes were read.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    size = path.stat().st_size if path.is_file() else None
    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=size)
        yield lambda count: bar.advance(task, count)


def write_json(path: Path, found: BaseModel) -> None:
    """One JSON document into a file; `-` is standard output.

    Raises:
        InvalidInputError: the file cannot be written.
    """
    from memgate_core.errors import InvalidInputError

    if str(path) == "-":
        print_json(found)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_of(found) + "\n", encoding="utf-8")
    except OSError as fault:
        raise InvalidInputError(f"{path}: {fault.strerror}") from fault
