"""Kill -9 before every single write step of holding, committing, promoting, correcting, approving,
revoking, erasing and delivering; then the same call again. Nothing is lost, nothing happens twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memgate_core import MemoryGate
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.records import ApprovalStatus
from memgate_core.model import Subject
from tests.admission.conftest import START
from tests.support.killing import dies_before_write
from tests.support.postgres import fresh_database
from tests.support.processes import PATIENCE_S
from tests.support.scripted import SCRIPT, scripted_gate, state
from tests.support.shelf import Shelf

GUESS = "you live in Oslo"
WORDS = {**SCRIPT, GUESS: state("home_city", "Oslo")}


class Case(NamedTuple):
    """What was before, and the act that is interrupted and then done again."""

    before: tuple[str, ...]
    act: Callable[[MemoryGate, Subject], Any]
    writes: int
    """At least so many are killed before; else the count itself would be broken."""


def say(gate: MemoryGate, who: Subject, text: str, number: int) -> None:
    at = START + timedelta(days=number)
    role, said = ("assistant", [_guessed()]) if GUESS in text else ("user", None)
    turn = gate.turn(text, user_id=who.user_id, occurred_at=at, message_id=f"m{number}", role=role)
    gate.observe(turn, said, carried=False)


def _guessed() -> dict[str, str]:
    return {"attribute": "home_city", "value": "Oslo", "span": GUESS}


def saying(text: str) -> Callable[[MemoryGate, Subject], None]:
    return lambda gate, who: say(gate, who, text, 9)


def revoking(gate: MemoryGate, who: Subject) -> None:
    (fact,) = gate.ledger.facts(who, attribute="home_city", include_closed=True)
    gate.revocation.revoke(fact.fact_id, by="Mia")


def revoking_message(gate: MemoryGate, who: Subject) -> None:
    gate.revocation.message(who, "m3", by="Mia")


def erasing(gate: MemoryGate, who: Subject) -> None:
    gate.revocation.erase(who, by="Mia")


def delivering(gate: MemoryGate, who: Subject) -> None:
    gate.deliver(subject=who)


def approving(gate: MemoryGate, who: Subject) -> None:
    (asked,) = gate.ledger.approvals(subject=who)
    gate.review.approvals.approve(asked.approval_id, asked.payload_hash, by="Mia")


PLANNED = ("I live in Leeds", "I might move to Seattle")
MOVED = (*PLANNED, "I have moved to Seattle")
CASES = {
    "hold": Case(("I live in Leeds",), saying("I might move to Seattle"), 12),
    "commit": Case(PLANNED, saying("I moved to York"), 20),
    "promote": Case(PLANNED, saying("I have moved to Seattle"), 18),
    "correct": Case(("I live in Leeds",), saying("it was Hull all along"), 15),
    "retract": Case(MOVED, saying("ignore my last message, wrong chat"), 20),
    "approve": Case((f"Noted, {GUESS}",), approving, 15),
    "revoke": Case(("I live in Leeds",), revoking, 10),
    "revoke message": Case(MOVED, revoking_message, 20),
    "erase": Case(PLANNED, erasing, 12),
    "deliver": Case(MOVED, delivering, 15),
}


class World:
    """One ledger and one shelf, opened anew for every attempt: each subject is a run of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._shelf = url, folder / "shelf.db"

    def open(self) -> tuple[MemoryGate, Shelf]:
        patient = open_ledger(self._url, timeout_s=PATIENCE_S)  # the dead one's locks go soon
        gate = scripted_gate(self._url, script=WORDS, ledger=patient)
        shelf = Shelf(self._shelf, gate.ledger)
        gate.attach(shelf)
        return gate, shelf

    def prepare(self, case: Case, who: Subject, *, deliver: bool) -> None:
        gate, _shelf = self.open()
        with gate:
            for number, text in enumerate(case.before, 1):
                say(gate, who, text, number)
                if deliver:
                    gate.deliver(subject=who)

    def finish(self, case: Case, who: Subject) -> dict[str, Any]:
        """The act (again), then everything that is due; and what stands afterwards."""
        gate, shelf = self.open()
        with gate:
            case.act(gate, who)
            gate.ledger.retry_now(shelf.name)
            gate.deliver(subject=who)
            return outcome(gate, shelf, who)


def outcome(gate: MemoryGate, shelf: Shelf, who: Subject) -> dict[str, Any]:
    """All that may not depend on whether somebody was killed on the way."""
    ledger = gate.ledger
    facts = ledger.facts(who, include_closed=True, include_pending_native=True)
    return {
        "facts": sorted((f.value, f.version, f.status.value, f.native, f.valid_from) for f in facts)
        if all(f.value for f in facts)
        else [f.status.value for f in facts],
        "staged": [(i.value, i.status.value) for i in ledger.staged(who, status=None)],
        "turns": [turn.message_id for turn in ledger.turns(who)],
        "events": Counter(e.event_type.value for e in ledger.events(subject=who)),
        "proposals": Counter(p.status for p in ledger.proposals(who)),
        "approvals": Counter(a.status.value for a in ledger.approvals(subject=who)),
        "due": len(ledger.due(shelf.name, subject=who)),
        "pending": ledger.pending_count(who),
        "recall": shelf.recall(who),
        "held": shelf.held(who),
    }


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.slow),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    sqlite = request.param == "sqlite"
    return World(f"sqlite:///{tmp_path / 'ledger.db'}" if sqlite else fresh_database(), tmp_path)


@pytest.mark.parametrize("name", list(CASES))
def test_killed_before_any_write_and_done_again(world: World, name: str) -> None:
    case, deliver = CASES[name], name != "deliver"
    undisturbed = Subject(user_id="undisturbed")
    world.prepare(case, undisturbed, deliver=deliver)
    expected = world.finish(case, undisturbed)
    killed = 0
    while True:
        who = Subject(user_id=f"killed-{killed + 1}")
        world.prepare(case, who, deliver=deliver)
        if not dies_before_write(killed + 1, lambda start, w=who: _act(world, case, w, start)):
            break
        killed += 1
        found = world.finish(case, who)
        assert _comparable(found, name) == _comparable(expected, name), f"write {killed}"
    assert killed >= case.writes


def _act(world: World, case: Case, who: Subject, start: Callable[[], None]) -> None:
    gate, _shelf = world.open()
    start()
    case.act(gate, who)


def _comparable(found: dict[str, Any], name: str) -> dict[str, Any]:
    """An erasure says so each time it is asked for; everything else happens once."""
    if name == "erase":
        return {**found, "events": set(found["events"])}
    return found


def test_an_approval_is_given_once(world: World) -> None:
    """The other side of the same coin: a survivor's answer is not given a second time."""
    who = Subject(user_id="ana")
    world.prepare(CASES["approve"], who, deliver=True)
    world.finish(CASES["approve"], who)
    again = world.finish(CASES["approve"], who)
    assert again["approvals"] == Counter({ApprovalStatus.APPROVED.value: 1})
    assert again["recall"] == ["lives in Oslo"]
