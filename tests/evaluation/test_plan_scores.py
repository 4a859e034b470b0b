"""What a trace is worth: every measure of the paper on traces worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evaluation.plans.profile_store import ProfileStore
from evaluation.plans.score import score
from evaluation.plans.tables import tables
from evaluation.report.table import Table, shown
from evaluation.statistics.proportion import Proportion
from tests.evaluation.conversations import conversation, held, holding, line, promoted, trace

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def test_a_plan_that_is_held_and_promoted_on_time() -> None:
    found = score(
        conversation("came_true"),
        trace(
            line(0, "Leeds"),
            line(2, "Leeds", decisions=(holding("York"),), staged=(held("York"),)),
            line(4, "York", resolutions=(promoted("York"),)),
        ),
    )
    assert (found.staged, found.promoted, found.falsely_promoted, found.right) == (
        True,
        True,
        False,
        True,
    )
    assert found.exposed is False
    assert found.pending_contaminated is None  # not at risk: it came true


def test_an_ungated_store_is_contaminated_while_the_plan_is_open() -> None:
    found = score(
        conversation("abandoned"),
        trace(line(0, "Leeds"), line(2, "York"), line(4, "Leeds")),
    )
    assert (found.pending_contaminated, found.end_contaminated, found.right) == (True, False, True)
    assert found.staged is False
    assert found.plan_worded is False


def test_an_open_plan_that_stays_written_is_contamination_at_the_end_too() -> None:
    found = score(conversation("open"), trace(line(0, "Leeds"), line(2, "York"), line(4, "York")))
    assert (found.pending_contaminated, found.end_contaminated, found.right) == (True, True, False)


def test_a_promotion_while_the_plan_is_open_is_a_false_one() -> None:
    found = score(
        conversation("open"),
        trace(
            line(0, "Leeds"),
            line(2, "Leeds", decisions=(holding("York"),), staged=(held("York"),)),
            line(4, "York", resolutions=(promoted("York"),)),
        ),
    )
    assert found.falsely_promoted is True


def test_a_promotion_after_the_outcome_turn_is_late_and_not_valid() -> None:
    told = conversation("came_true")
    told.sessions[1].turns.append(told.sessions[0].turns[0].model_copy(update={"mark": None}))
    found = score(
        told,
        trace(
            line(0, "Leeds"),
            line(2, "Leeds", decisions=(holding("York"),), staged=(held("York"),)),
            line(4, "Leeds", staged=(held("York"),)),
            line(6, "York", resolutions=(promoted("York"),)),
        ),
    )
    assert (found.promoted, found.settled_by_end) == (False, True)


def test_an_abandoned_plan_is_discarded_only_when_nothing_of_it_is_held() -> None:
    base = (
        line(0, "Leeds"),
        line(2, "Leeds", decisions=(holding("York"),), staged=(held("York"),)),
    )
    gone = score(conversation("abandoned"), trace(*base, line(4, "Leeds")))
    stays = score(conversation("abandoned"), trace(*base, line(4, "Leeds", staged=(held("York"),))))
    assert (gone.discarded, stays.discarded) == (True, False)


def test_a_plan_held_without_a_field_is_counted_apart() -> None:
    found = score(
        conversation("open"),
        trace(
            line(0, "Leeds"), line(2, "Leeds", decisions=(holding("York", None),)), line(4, "Leeds")
        ),
    )
    assert (found.staged, found.held_open) == (False, True)


def test_completed_changes_must_commit_at_once_and_corrections_apply() -> None:
    done = score(
        conversation("completed"), trace(line(0, "Leeds"), line(2, "Leeds"), line(4, "York"))
    )
    late = score(
        conversation("completed"),
        trace(line(0, "Leeds"), line(2, "Leeds"), line(4, "Leeds", decisions=(holding("York"),))),
    )
    fixed = score(
        conversation("corrected"), trace(line(0, "Leeds"), line(2, "Leeds"), line(4, "York"))
    )
    assert (done.committed_at_once, done.over_held) == (True, False)
    assert (late.committed_at_once, late.over_held) == (False, True)
    assert fixed.corrected is True


def test_plan_typed_readings_differ_only_in_what_a_confirmation_resolves() -> None:
    refresh, strict = ProfileStore("refresh"), ProfileStore("strict")
    for store in (refresh, strict):
        store.write("Leeds", NOW)
        store.write("York", NOW, plan=True)
        assert store.masked() == ["York"]
        current = store.current()
        assert current is not None
        assert current.value == "Leeds"
        store.write("York", NOW)
    assert [s.current().value for s in (refresh, strict)] == ["York", "Leeds"]  # type: ignore[union-attr]
    assert (refresh.masked(), strict.masked()) == ([], ["York"])


@pytest.fixture
def made() -> dict[str, Table]:
    written = trace(line(0, "Leeds"), line(2, "York"), line(4, "York"))
    gated = trace(
        line(0, "Leeds"), line(2, "Leeds", decisions=(holding("York"),)), line(4, "Leeds")
    )
    told = [conversation("open", id=f"t-{n}", kind=k) for n, k in enumerate(("core", "hedge"))]
    scores = {
        "literal ungated": [score(one, written) for one in told],
        "literal gated": [score(one, gated) for one in told],
    }
    return {table.title.split(".")[0]: table for table in tables(scores)}


def test_the_tables_hold_shares_with_their_n(made: dict[str, Table]) -> None:
    rows = {row.name: row.cells for row in made["Table 2"].rows}
    assert rows["core, while pending"] == [
        Proportion(successes=1, n=1),
        Proportion(successes=0, n=1),
    ]
    assert rows["all at-risk plans, at end"][0] == Proportion(successes=2, n=2)
    hedges = {row.name: row.cells for row in made["Table 6"].rows}
    assert set(hedges) == {"weak"}


def test_the_papers_figures_stand_beside_and_never_in_place_of_ours(
    made: dict[str, Table],
) -> None:
    table = made["Table 2"]
    assert table.their("core, while pending", "literal ungated") == "87.5% [73.9, 94.5] n=40"
    assert "87.5" not in shown(table.rows[0].cells[0])
    assert table.their("all at-risk plans, at end", "literal ungated") is None


def test_differences_are_paired_by_conversation(made: dict[str, Table]) -> None:
    rows = {row.name: row.cells[0] for row in made["Gate on minus gate off, in points"].rows}
    assert str(rows["task accuracy"]) == "+100.0 [+100.0, +100.0] n=2"
    assert str(rows["contamination at end"]) == "-100.0 [-100.0, -100.0] n=2"
