"""The page is one file that opens without a network, in a real browser where there is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluation.plans.figures import plots
from evaluation.plans.score import score
from evaluation.plans.tables import tables
from evaluation.report.html import page
from evaluation.report.table import Table, shown
from evaluation.statistics.proportion import Proportion
from tests.evaluation.conversations import conversation, holding, line, trace
from tests.support.browser import NoBrowserError, browser
from tests.support.devtools import opened


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
    # one hedge level and one cost for two pipelines, the open plans of table 4
    assert html.count('class="theirs"') == 4


def test_the_same_scores_give_the_same_page(html: str, request: pytest.FixtureRequest) -> None:
    again = page("x", [], [], plots({}))
    assert "<figure>" not in again
    assert html.count("<svg") == 1
    del request


@pytest.mark.slow
def test_a_real_browser_shows_it_offline(html: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")
    with opened(browser(), tmp_path / "profile") as shown_page:
        shown_page.open(path)
        titles = shown_page.value("[...document.querySelectorAll('h2')].map(h => h.innerText)")
        sizes = shown_page.value(
            "[...document.querySelectorAll('svg, td .theirs')]"
            ".map(e => e.getBoundingClientRect()).map(r => [r.width, r.height])"
        )
        shown_page.picture(tmp_path / "report.png")
    assert "Table 6. At-end contamination by hedge strength" in titles
    assert "Figure 2. At-end contamination by hedge strength" in titles
    assert sizes
    assert all(width > 10 and height > 5 for width, height in sizes)
    assert shown_page.requested == [path.as_uri()]
    assert shown_page.complaints == []
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_browser_would_have_told_of_a_page_that_asks_outside(tmp_path: Path) -> None:
    path = tmp_path / "asks.html"
    path.write_text('<img src="https://example.org/a.png"><script>nope()</script>', "utf-8")
    with opened(browser(), tmp_path / "profile") as shown_page:
        shown_page.open(path)
    assert "https://example.org/a.png" in shown_page.requested
    assert any("Uncaught" in one for one in shown_page.complaints)


def test_without_a_browser_the_wider_ring_fails_and_the_plain_one_skips(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing() -> None:
        raise NoBrowserError("none here")

    monkeypatch.setattr("tests.support.browser.found_browser", nothing)
    monkeypatch.setenv("MEMGATE_REQUIRE_SERVERS", "1")
    with pytest.raises(pytest.fail.Exception, match="none here"):
        browser()
    monkeypatch.delenv("MEMGATE_REQUIRE_SERVERS")
    with pytest.raises(pytest.skip.Exception, match="none here"):
        browser()


def test_cells_read_as_people_read_them() -> None:
    assert shown(None) == "–"
    assert shown(0.12345) == "0.123"
    assert shown(12345) == "12,345"
    assert shown(Proportion(successes=0, n=0)) == "–"


def test_every_row_has_a_cell_for_every_column() -> None:
    table = Table.build("t", ["a", "b"], [("r", [1, 2])], theirs={("r", "b"): "7 n=9"})
    assert (table.their("r", "a"), table.their("r", "b")) == (None, "7 n=9")
