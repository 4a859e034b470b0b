"""Nothing that was revoked is read on the command line either, unless an audit asks by name.

Each command is shown to print the words first; one that prints nothing proves nothing.
"""

from __future__ import annotations

from pathlib import Path

from memgate_core import MemoryGate
from tests.cli.conftest import START, Run
from tests.support.scripted import SCRIPT, scripted_gate, state
from tests.support.talk import Talk

GUESS = "you live in Oslo"


def reads(run: Run, *ids: str) -> dict[str, str]:
    """What each command prints, as a table and as JSON."""
    commands = {
        "facts": ("facts", "--user", "ana"),
        "facts as of": ("facts", "--user", "ana", "--as-of", "2025-04-01"),
        "history": ("history", "home_city", "--user", "ana"),
        "staged list": ("staged", "list", "--user", "ana", "--all"),
        "approvals list": ("approvals", "list", "--user", "ana", "--all"),
        **{f"explain {one}": ("explain", one) for one in ids},
    }
    shown = {}
    for name, command in commands.items():
        for how in ((), ("--json",)):
            ran = run(*command, *how)
            assert ran.status == 0, ran.err
            shown[" ".join((name, *how))] = ran.out
    return shown


def finding(run: Run, word: str, *ids: str) -> set[str]:
    """Commands that print a word."""
    return {name for name, out in reads(run, *ids).items() if word in out}


def both(*names: str) -> set[str]:
    return {full for name in names for full in (name, f"{name} --json")}


def ids_of(life: Path, value: str) -> list[str]:
    """Ids of the fact or held item with a value, and of its proposal."""
    with MemoryGate.open(f"sqlite:///{life}") as gate:
        (whose,) = [one for one in gate.ledger.subjects() if one.user_id == "ana"]
        facts = [f for f in gate.ledger.facts(whose, include_closed=True) if f.value == value]
        items = [i for i in gate.ledger.staged(whose, status=None) if i.value == value]
        found = [f.fact_id for f in facts] + [i.staged_id for i in items]
        return [*found, *dict.fromkeys(one.proposal_id for one in (*facts, *items))]


def test_a_revoked_fact_is_printed_by_no_read(run: Run, life: Path) -> None:
    ids = ids_of(life, "Leeds")
    explained = [f"explain {one}" for one in ids]
    assert finding(run, "Leeds", *ids) == both("facts", "facts as of", "history", *explained)
    assert run("revoke", ids[0], "--by", "rita").status == 0
    assert finding(run, "Leeds", *ids) == set()
    (past,) = run("history", "home_city", "--user", "ana", "--json").json
    assert (past["status"], past["evidence"]["message_id"]) == ("REVOKED", "m1")
    told = run("explain", ids[0]).out
    assert "revoke by rita" in told
    assert "message m1" in told


def test_a_revoked_plan_and_its_fact_are_printed_by_no_read(run: Run, life: Path) -> None:
    (held, proposal) = ids_of(life, "Seattle")
    run("staged", "confirm", held, "--by", "rita")
    ids = ids_of(life, "Seattle")
    assert finding(run, "Seattle", *ids) >= both("facts", "staged list", f"explain {held}")
    assert run("revoke", held, "--by", "rita").status == 0
    assert finding(run, "Seattle", *ids) == set()
    assert "Seattle" not in run("staged", "show", held).out
    assert proposal in ids


def test_a_revoked_proposal_is_not_shown_to_approvers(run: Run, tmp_path: Path) -> None:
    with scripted_gate(
        f"sqlite:///{tmp_path / 'memgate.db'}",
        script={**SCRIPT, GUESS: state("home_city", "Oslo")},
    ) as gate:
        ana = Talk(gate, "ana", START)
        said = {"attribute": "home_city", "value": "Oslo", "span": GUESS}
        gate.observe(ana.turn(f"Noted, {GUESS}", role="assistant"), [said])
        (asked,) = gate.review.approvals.list()
    assert finding(run, "Oslo", asked.proposal_id) >= both("approvals list", "staged list")
    assert run("revoke", asked.proposal_id, "--by", "rita").status == 0
    assert finding(run, "Oslo", asked.proposal_id, asked.staged_id or "") == set()
    assert "Oslo" not in run("approvals", "show", asked.approval_id).out


def test_an_audit_may_ask_for_the_words_by_name(run: Run, life: Path) -> None:
    (fact_id, _) = ids_of(life, "Leeds")
    run("revoke", fact_id, "--by", "rita")
    assert "I live in Leeds" in run("explain", fact_id, "--revoked-words").out
    assert "Leeds" in run("history", "home_city", "--user", "ana", "--revoked-words").out


def test_after_an_erasure_there_are_no_words_to_ask_for(run: Run, life: Path) -> None:
    ids = ids_of(life, "Leeds")
    run("erase", "--user", "ana", "--by", "rita", "--yes")
    assert finding(run, "Leeds", *ids) == set()
    assert "Leeds" not in run("explain", ids[0], "--revoked-words").out
