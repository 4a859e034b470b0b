"""The datasheet and README say what the data and docs/figures.md say."""

from __future__ import annotations

import re
from pathlib import Path

from evaluation import datasheet
from evaluation.write_docs import statement_file

_ROOT = Path(__file__).parents[2]
_FIGURES = (_ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
_README = " ".join((_ROOT / "README.md").read_text(encoding="utf-8").split())


def test_the_tables_are_those_of_the_data() -> None:
    page = (_ROOT / "docs" / "datasheet.md").read_text(encoding="utf-8")
    assert datasheet.written(page) == page
    assert page.count("<!-- table: ") == page.count("<!-- end -->") == 2


def test_a_stale_table_is_written_anew() -> None:
    stale = "before\n<!-- table: agreement -->\n| old |\n<!-- end -->\nafter\n"
    page = datasheet.written(stale)
    assert "| old |" not in page
    assert page.startswith("before\n<!-- table: agreement -->\n| sample | n |")
    assert page.endswith("<!-- end -->\nafter\n")


def test_figures_are_of_the_statements_that_there_are(tmp_path: Path) -> None:
    kept = statement_file(tmp_path / "statements.jsonl").read_text(encoding="utf-8").splitlines()
    assert f"### Overall, {len(kept)} statements" in _FIGURES
    assert f"{len(kept):,} statements" in _README


def test_readme_quotes_what_was_measured() -> None:
    assert f"hold or not right {_share('hold or not'):.1f} %" in _README
    assert f"four classes right {_share('accuracy'):.1f} %" in _README
    assert f"310 acceptance cases, {_share('all'):.0f} % right" in _README
    assert f"in {_share('a value that must never be current is'):.0f} % a value stays" in _README


def _share(row: str) -> float:
    """The first share of the first row of that name."""
    found = re.search(rf"^\| {re.escape(row)} \| ([\d.]+)%", _FIGURES, re.MULTILINE)
    assert found is not None, row
    return float(found[1])
