"""What a reviewer does: read, explain, confirm, discard, revoke, erase."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memgate_core import MemoryGate
from tests.cli.conftest import START, Run
from tests.support.talk import Talk

pytestmark = pytest.mark.usefixtures("life")


def held_id(run: Run, user: str = "ana") -> str:
    (item,) = run("staged", "list", "--user", user, "--json").json
    return str(item["staged_id"])


def test_held_items_are_listed_by_user_and_for_all(run: Run) -> None:
    shown = run("staged", "list", "--user", "ana")
    assert shown.status == 0
    assert "lives in Seattle" in shown.out
    assert "Initech" not in shown.out
    assert len(run("staged", "list", "--all-users", "--json").json) == 2


def test_a_read_without_a_user_is_refused(run: Run) -> None:
    for command in (("staged", "list"), ("facts",), ("history", "home_city")):
        refused = run(*command)
        assert refused.status == 2
        assert "user_id" in refused.err


def test_a_held_item_is_shown_whole(run: Run) -> None:
    shown = run("staged", "show", held_id(run))
    assert "“I might move to Seattle”" in shown.out
    assert "PENDING" in shown.out


def test_facts_never_hold_a_plan(run: Run) -> None:
    values = {fact["value"] for fact in run("facts", "--user", "ana", "--json").json}
    assert values == {"Leeds", "Acme"}
    assert "Seattle" not in run("facts", "--user", "ana").out


def test_confirming_makes_a_fact_from_the_day_given(run: Run) -> None:
    done = run("staged", "confirm", held_id(run), "--by", "rita", "--on", "2025-04-01", "--json")
    assert (done.status, done.json["value"]) == (0, "Seattle")
    (fact,) = run("facts", "--user", "ana", "--field", "home_city", "--json").json
    assert (fact["value"], fact["valid_from"]) == ("Seattle", "2025-04-01T00:00:00Z")
    (before,) = run(
        "facts", "--user", "ana", "--field", "home_city", "--as-of", "2025-03-20", "--json"
    ).json
    assert before["value"] == "Leeds"
    past = run("history", "home_city", "--user", "ana", "--json").json
    assert [(one["value"], one["status"]) for one in past] == [
        ("Leeds", "SUPERSEDED"),
        ("Seattle", "CURRENT"),
    ]


def test_what_is_settled_cannot_be_settled_again(run: Run) -> None:
    item = held_id(run)
    assert run("staged", "discard", item, "--by", "rita", "--reason", "called her").status == 0
    again = run("staged", "confirm", item, "--by", "rita")
    assert again.status == 1
    assert "DISCARDED" in again.err
    assert run("staged", "list", "--user", "ana").out.strip() == "nothing is held"


def test_a_program_cannot_settle(run: Run) -> None:
    refused = run("staged", "confirm", held_id(run), "--by", "assistant")
    assert refused.status == 1
    assert len(run("staged", "list", "--user", "ana", "--json").json) == 1


def test_an_unknown_id_is_said(run: Run) -> None:
    for command in (("staged", "show"), ("explain",)):
        missing = run(*command, "nothing-here")
        assert missing.status == 1
        assert "nothing-here" in missing.err
        assert missing.out == ""


def test_explaining_answers_who_on_what_and_how_to_take_it_back(run: Run) -> None:
    (fact,) = run("facts", "--user", "ana", "--field", "home_city", "--json").json
    told = run("explain", fact["fact_id"]).out
    assert "“I live in Leeds”" in told
    assert "message m1" in told
    assert "approved by" in told
    assert f"memgate revoke {fact['fact_id']}" in told


def test_explaining_a_plan_that_came_true_names_both_sets_of_words(run: Run) -> None:
    item = held_id(run)
    run("staged", "confirm", item, "--by", "rita")
    found = run("explain", item, "--json").json
    assert found["staged"]["status"] == "PROMOTED"
    assert found["fact"]["value"] == "Seattle"
    assert found["fact"]["approved_by"] == "approver:rita"
    assert found["replaced"]["value"] == "Leeds"
    assert found["proposed_on"]["words"] == "I might move to Seattle"
    assert found["proposed_on"]["verified"] is True
    assert [entry["by"] for entry in found["audit"] if entry["action"] == "confirm"] == ["rita"]


def test_revoking_takes_a_fact_back(run: Run) -> None:
    (fact,) = run("facts", "--user", "ana", "--field", "employer", "--json").json
    done = run("revoke", fact["fact_id"], "--by", "rita", "--json")
    assert (done.status, done.json["facts"]) == (0, [fact["fact_id"]])
    assert run("facts", "--user", "ana", "--field", "employer").out.strip() == "nothing holds"
    (past,) = run("history", "employer", "--user", "ana", "--json").json
    assert past["status"] == "REVOKED"


def test_revoking_a_message_takes_back_what_came_of_it(run: Run) -> None:
    done = run("revoke", "m3", "--message", "--user", "ana", "--by", "rita")
    assert done.status == 0
    assert "1 held items" in done.out
    assert run("staged", "list", "--user", "ana", "--json").json == []


def test_erasing_leaves_no_word_and_asks_first(run: Run, life: Path) -> None:
    assert run("erase", "--user", "ana", "--by", "rita", "--yes").status == 0
    assert b"Seattle" not in life.read_bytes()
    assert b"Leeds" not in life.read_bytes()
    assert len(run("staged", "list", "--user", "ben", "--json").json) == 1


def test_json_is_one_document_on_standard_output(run: Run) -> None:
    for command in (
        ("facts", "--user", "ana"),
        ("staged", "list", "--user", "ana"),
        ("approvals", "list"),
        ("policy", "show"),
        ("rollout", "show"),
        ("metrics",),
        ("deliver",),
    ):
        shown = run(*command, "--json")
        assert shown.status == 0, command
        json.loads(shown.out)


def test_a_rollback_is_set_shown_and_cleared(run: Run) -> None:
    assert run("rollout", "back", "residue in mem0:memories", "--by", "rita").status == 0
    assert "residue in mem0" in run("rollout", "show").out
    refused = run("rollout", "set", "on", "--by", "rita")
    assert refused.status == 1
    assert run("rollout", "set", "canary", "--percent", "5", "--by", "rita", "--clear").status == 0
    assert run("rollout", "show", "--json").json["canary_percent"] == 5.0
    assert run("rollout", "set", "canary", "--by", "rita").status == 2


def test_a_case_is_explained_row_by_row(run: Run) -> None:
    found = run("policy", "explain", "evidence=speculation", "registered=true", "--json").json
    assert found["decision"]["decision"] == "STAGE"
    assert found["steps"][-1]["decides"] is True
    assert run("policy", "explain", "evidence=maybe").status == 2
    assert run("policy", "explain", "nonsense").status == 2
    assert run("policy", "show", "no-such-rule").status == 1


def test_metrics_and_upkeep_work_on_the_same_ledger(run: Run) -> None:
    assert "hold rate" in run("metrics").out
    report = run("upkeep", "--unheard-days", "30", "--json").json
    assert len(report["expired_items"]) == 2
    assert run("staged", "list", "--user", "ana", "--json").json == []


def test_the_false_commit_rate_is_shown_by_policy_version(run: Run, tmp_path: Path) -> None:
    drawn, labelled = tmp_path / "sample.jsonl", tmp_path / "labelled.jsonl"
    run("sample", "--out", str(drawn), "--count", "100")
    lines = [json.loads(one) for one in drawn.read_text(encoding="utf-8").splitlines()]
    wrong = {"I work at Acme": "speculation"}
    told = [{**one, "label": wrong.get(one["text"], "other")} for one in lines]
    labelled.write_text("\n".join(json.dumps(one) for one in told), encoding="utf-8")
    found = run("metrics", "--labels", str(labelled), "--json").json["false_commits"]
    assert found["overall"] == {"count": 1, "of": 2}
    (version,) = found["by_policy"]
    assert version == run("policy", "show", "--json").json["version"]
    assert "1 of 2 (50.0%)" in run("metrics", "--labels", str(labelled)).out


def test_what_was_given_up_on_is_listed_without_a_word(run: Run, life: Path) -> None:
    with MemoryGate.open(f"sqlite:///{life}") as gate:
        gate.ledger.register("shelf")
        Talk(gate, "ana", START + timedelta(days=9)).says("I moved to York.")
        (first, *_) = gate.ledger.due("shelf")
        gate.ledger.fail(first, "StoreError at event 9", park_after=1)
    (parked,) = run("deliver", "--json").json["parked"]
    assert (parked["projection"], parked["user"], parked["tries"]) == ("shelf", "default:ana", 1)
    shown = run("deliver").out
    assert "StoreError at event 9" in shown
    assert "York" not in shown
