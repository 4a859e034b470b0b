"""People label their own traffic; the figures follow from their labels."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer

from evaluation.labelling.agreement import cohen_kappa, committed_rightly, label_figures
from evaluation.labelling.traffic import TrafficLine, sample
from tests.cli.conftest import Run, life, run
from tests.support.scripted import scripted_gate
from tests.support.talk import Talk

__all__ = ["life", "run"]


def line(number: int, label: str | None, decision: str = "COMMIT", **rest: object) -> TrafficLine:
    return TrafficLine.model_validate(
        {"id": f"p{number}", "text": "words", "label": label, "decision": decision, **rest}
    )


def test_the_false_commit_rate_counts_commits_that_people_would_hold_or_drop() -> None:
    found = label_figures(
        [
            line(1, "other"),
            line(2, "speculation"),
            line(3, "other", keep=False),
            line(4, "completed_event"),
            line(5, "speculation", "STAGE"),
            line(6, "other", "STAGE"),
            line(7, None),
        ]
    )
    assert (found.n, found.false_commit_rate.successes, found.false_commit_rate.n) == (6, 2, 4)
    assert (found.wrongly_held.successes, found.wrongly_held.n) == (1, 2)


def test_what_is_known_already_and_what_promotes_a_plan_count_as_committed() -> None:
    found = label_figures(
        [
            line(1, "other"),
            line(2, "other", "REAFFIRM"),
            line(3, "speculation", "REAFFIRM"),
            line(4, "completed_event", "REAFFIRM", keep=False),
            line(5, "speculation", "NEEDS_CONFIRMATION"),
            line(6, "other", "IGNORE"),
        ]
    )
    assert (found.false_commit_rate.successes, found.false_commit_rate.n) == (2, 4)
    words = [line(n, "other", decision) for n, decision in enumerate(("REAFFIRM", "STAGE"))]
    assert [committed_rightly(one) for one in words] == [True, None]


def test_words_that_promote_a_plan_are_sampled_as_committed() -> None:
    with scripted_gate("sqlite://") as gate:
        ana = Talk(gate, "ana", datetime(2025, 3, 2, 9, tzinfo=UTC))
        ana.says("I might move to Seattle")
        ana.says("I have moved to Seattle", after=timedelta(days=9))
        drawn = sample(gate.ledger, tenant="default", count=10, seed=1)
    told = [one.model_copy(update={"label": "speculation"}) for one in drawn]
    rate = label_figures(told).false_commit_rate
    assert {one.decision for one in drawn} == {"STAGE", "REAFFIRM"}
    assert (rate.successes, rate.n) == (1, 1)


def test_two_people_agree_beyond_chance() -> None:
    first = [line(n, "speculation" if n < 5 else "other") for n in range(10)]
    second = {
        one.id: one.model_copy(update={"label": "other" if one.id == "p0" else one.label})
        for one in first
    }
    found = label_figures(first, second).agreement
    assert found is not None
    assert found.same.successes == 9
    assert found.kappa == pytest.approx(0.8)
    assert cohen_kappa([]) is None
    assert cohen_kappa([("other", "other")]) == 1.0


def test_a_sample_of_recorded_traffic_is_labelled_and_measured(
    run: Run, life: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del life
    drawn, labelled = tmp_path / "sample.jsonl", tmp_path / "labelled.jsonl"
    assert run("sample", "--out", str(drawn), "--count", "10", "--seed", "3").status == 0
    lines = [json.loads(one) for one in drawn.read_text(encoding="utf-8").splitlines()]
    assert {one["decision"] for one in lines} == {"COMMIT", "STAGE"}
    assert any(one["message"] == "I might move to Seattle" for one in lines)
    keys = iter("s" + "?o" + " " + "x" + "q")
    monkeypatch.setattr(typer, "getchar", lambda: next(keys))
    assert run("label", "--in", str(drawn), "--out", str(labelled), "--by", "rita").status == 0
    done = [json.loads(one) for one in labelled.read_text(encoding="utf-8").splitlines()]
    assert [one["label"] for one in done] == ["speculation", "other", "other"]
    assert done[2]["keep"] is False
    assert {one["labelled_by"] for one in done} == {"rita"}
    monkeypatch.setattr(typer, "getchar", lambda: "o")
    assert run("label", "--in", str(drawn), "--out", str(labelled)).status == 0
    again = labelled.read_text(encoding="utf-8").splitlines()
    assert len(again) == len(lines)
    assert len({json.loads(one)["id"] for one in again}) == len(lines)
    measured = run("bench", "labels", "--data", str(labelled), "--second", str(labelled))
    assert measured.status == 0
    assert "false_commit_rate" in measured.out
