"""Writes the tables of docs/datasheet.md from the data itself, between the page's own marks."""

from __future__ import annotations

import re
from pathlib import Path

from evaluation.training import agreement, counts

_MARKED = re.compile(r"(?<=<!-- table: )(?P<name>\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)


def written(page: str) -> str:
    """The page with its tables as they should be.

    Raises:
        KeyError: a mark names a table that is not known.
    """
    made = {"counts": counts.table, "agreement": agreement.table}
    return _MARKED.sub(lambda m: f"{m['name']}{m[2]}{made[m['name']]()}\n", page)


def write(folder: Path) -> Path:
    """Brings the page in a folder up to date; returns its path."""
    page = folder / "datasheet.md"
    page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
    return page
