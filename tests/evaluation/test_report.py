"""The page is one file that opens without a network, in a real browser where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evaluation.plans.figures import plots
from evaluation.plans.score import score
from evaluation.plans.tables import tables
from evaluation.report.html import page
from evaluation.report.table import Table, shown
from evaluation.statistics.proportion import Proportion
from tests.evaluation.conversations import conversation, holding, line, trace

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@pytest.fixture
def html() -> str:
    told = [conversation("open", id=f"t-{n}", kind="hedge") for n in range(3)]
    written = trace(line(0, "Leeds"), line(2, "York"), line(4, "York"))
    gated = trace(
        line(0, "Leeds"), line(2, "Leeds", decisions=(holding("York"),)), line(4, "Leeds")
    )
    scores = {
        "literal ungated": [score(one, written) for one in told],
        "literal gated": [score(one, gated) for one in told],
    }
    about = [("data", "made for this test <b>")]
    return page("Plans & memory", about, tables(scores), plots(scores))


def test_the_page_asks_for_nothing_from_outside(html: str) -> None:
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", html)
    assert "<script" not in without_names
    assert not re.search(r'(src|href)="(?!#)', without_names)
    assert not re.search(r"url\((?!#)", without_names)
    assert "@import" not in without_names


def test_what_people_wrote_is_escaped(html: str) -> None:
    assert "made for this test &lt;b&gt;" in html
    assert "<title>Plans &amp; memory</title>" in html


def test_theirs_is_marked_as_theirs(html: str) -> None:
    assert "on its data and its model" in html
    assert html.count('class="theirs"') == 3  # one hedge level, two pipelines; one cost


def test_the_same_scores_give_the_same_page(html: str, request: pytest.FixtureRequest) -> None:
    again = page("x", [], [], plots({}))
    assert "<figure>" not in again
    assert html.count("<svg") == 1
    del request


def test_a_real_browser_shows_it_offline(html: str, tmp_path: Path) -> None:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium here")
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path}/profile",
            path.as_uri(),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Table 6. At-end contamination by hedge strength" in done.stdout
    assert "<svg" in done.stdout


def test_cells_read_as_people_read_them() -> None:
    assert shown(None) == "–"
    assert shown(0.12345) == "0.123"
    assert shown(12345) == "12,345"
    assert shown(Proportion(successes=0, n=0)) == "–"


def test_every_row_has_a_cell_for_every_column() -> None:
    table = Table.build("t", ["a", "b"], [("r", [1, 2])], theirs={("r", "b"): "7 n=9"})
    assert (table.their("r", "a"), table.their("r", "b")) == (None, "7 n=9")
