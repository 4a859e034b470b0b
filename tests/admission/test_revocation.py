"""Taking back: a message, a proposal, a fact, a held item, a whole subject; and what the user takes
back in the conversation. Status first, then every framework, then a search for what is left."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memgate_core import MemoryGate
from memgate_core.errors import ApprovalError, InvalidInputError, NotFoundError
from memgate_core.ledger.records import ApprovalStatus
from memgate_core.model import EventType, FactStatus, StagedStatus
from tests.admission.conftest import START, OpenGate
from tests.support.scripted import SCRIPT, state
from tests.support.shelf import Shelf
from tests.support.talk import Talk


@pytest.fixture
def shelf(gate: MemoryGate, tmp_path: Path) -> Shelf:
    found = Shelf(tmp_path / "shelf.db", gate.ledger)
    gate.attach(found)
    return found


def city(talk: Talk) -> str | None:
    fact = talk.profile.current("home_city")
    return fact.value if fact else None


def history(talk: Talk) -> list[tuple[str | None, FactStatus]]:
    return [(fact.value, fact.status) for fact in talk.profile.history("home_city")]


def plans(talk: Talk) -> list[tuple[str | None, StagedStatus]]:
    return [(item.value, item.status) for item in talk.profile.staged(status=None)]


def says(talk: Talk, *texts: str) -> None:
    """Each as a message `m1`, `m2`, ..., delivered."""
    for text in texts:
        number = len(list(talk.gate.ledger.turns(talk.subject))) + 1
        talk.gate.observe(talk.turn(text, message_id=f"m{number}"), carried=False)
        talk.gate.deliver()


# --- a fact, a proposal, a held item ---------------------------------------------------------------


def test_a_revoked_fact_is_gone_everywhere(gate: MemoryGate, ana: Talk, shelf: Shelf) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    assert shelf.recall(ana.subject) == ["I live in Leeds"]
    done = gate.revocation.revoke(fact.fact_id, by="Mia")
    assert done.facts == (fact.fact_id,)
    assert done.clean
    assert done.residue == ()
    assert ana.facts() == []
    assert shelf.recall(ana.subject) == []
    assert history(ana) == [("Leeds", FactStatus.REVOKED)]


def test_a_revoked_fact_makes_no_older_value_true_unless_asked(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds", "I moved to York")
    york = ana.profile.current("home_city")
    assert york is not None
    gate.revocation.revoke(york.fact_id, by="Mia")
    assert city(ana) is None
    assert shelf.recall(ana.subject) == []
    says(ana, "I moved to York")
    again = ana.profile.current("home_city")
    assert again is not None
    done = gate.revocation.revoke(again.fact_id, by="Mia", reopen=True)
    assert done.reopened == ()
    assert city(ana) is None


def test_on_request_the_value_that_it_had_replaced_holds_again(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds", "I moved to York")
    york = ana.profile.current("home_city")
    assert york is not None
    done = gate.revocation.revoke(york.fact_id, by="Mia", reopen=True)
    assert len(done.reopened) == 1
    assert city(ana) == "Leeds"
    assert shelf.recall(ana.subject) == ["I live in Leeds"]
    leeds = ana.profile.current("home_city")
    assert leeds is not None
    assert (leeds.valid_to, leeds.closed_at) == (None, None)


def test_revocation_cascades_from_a_plan_to_the_fact_it_became(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I might move to Seattle", "I have moved to Seattle")
    (item,) = ana.profile.staged(status=None)
    done = gate.revocation.revoke(item.staged_id, by="Mia")
    assert done.facts == (item.fact_id,)
    assert city(ana) is None
    assert plans(ana) == [("Seattle", StagedStatus.REVOKED)]
    assert shelf.recall(ana.subject) == shelf.held(ana.subject) == []


def test_a_revoked_plan_is_no_plan_any_more(gate: MemoryGate, ana: Talk, shelf: Shelf) -> None:
    says(ana, "I might move to Seattle")
    (item,) = ana.profile.staged()
    assert shelf.held(ana.subject) == ["lives in Seattle"]
    assert gate.revocation.revoke(item.staged_id, by="Mia").clean
    assert shelf.held(ana.subject) == []
    says(ana, "I have moved to Seattle")
    assert city(ana) == "Seattle"
    assert plans(ana) == [("Seattle", StagedStatus.REVOKED)]


def test_a_fact_that_waits_for_its_native_write_can_be_revoked(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I might move to Seattle")
    shelf.fails = True
    says(ana, "I have moved to Seattle")
    (item,) = ana.profile.staged(status=None)
    assert item.status is StagedStatus.PROMOTING
    gate.revocation.revoke(item.fact_id or "", by="Mia")
    shelf.fails = False
    gate.ledger.retry_now(shelf.name)
    gate.deliver()
    assert city(ana) is None
    assert shelf.recall(ana.subject) == shelf.held(ana.subject) == []
    assert plans(ana) == [("Seattle", StagedStatus.REVOKED)]


def test_a_revoked_proposal_leaves_things_as_they_were(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds", "I moved to York")
    york = ana.profile.current("home_city")
    assert york is not None
    done = gate.revocation.revoke(york.proposal_id, by="Mia")
    assert york.proposal_id in done.proposals
    proposal = gate.ledger.proposal(york.proposal_id)
    assert proposal is not None
    assert proposal.status == "REVOKED"
    assert city(ana) == "Leeds"


def test_an_open_request_for_approval_goes_with_its_proposal(scripted: OpenGate) -> None:
    gate = scripted(script={**SCRIPT, "you live in Oslo": state("home_city", "Oslo")})
    ana = Talk(gate, "ana", START)
    said = {"attribute": "home_city", "value": "Oslo", "span": "you live in Oslo"}
    gate.observe(ana.turn("So you live in Oslo", role="assistant"), [said])
    (asked,) = gate.review.approvals.list()
    gate.revocation.revoke(asked.proposal_id, by="Mia")
    assert gate.review.approvals.show(asked.approval_id).status is ApprovalStatus.VOID
    assert plans(ana) == [("Oslo", StagedStatus.REVOKED)]


def test_revoking_twice_is_revoking_once(gate: MemoryGate, ana: Talk, shelf: Shelf) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    gate.revocation.revoke(fact.fact_id, by="Mia")
    again = gate.revocation.revoke(fact.fact_id, by="Mia")
    assert again.facts == ()
    assert again.clean


def test_only_people_revoke_and_only_what_is_there(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    with pytest.raises(ApprovalError):
        gate.revocation.revoke(fact.fact_id, by="assistant")
    with pytest.raises(InvalidInputError):
        gate.revocation.revoke(fact.fact_id, by="")
    with pytest.raises(NotFoundError):
        gate.revocation.revoke("fact_nothing", by="Mia")
    with pytest.raises(NotFoundError):
        gate.revocation.message(ana.subject, "m99", by="Mia")
    assert city(ana) == "Leeds"


# --- a message -------------------------------------------------------------------------------------


def test_a_revoked_message_puts_everything_back(gate: MemoryGate, ana: Talk, shelf: Shelf) -> None:
    says(ana, "I live in Leeds", "I might move to Seattle", "I have moved to Seattle")
    assert city(ana) == "Seattle"
    done = gate.revocation.message(ana.subject, "m3", by="Mia")
    assert len(done.reopened) == 2
    assert city(ana) == "Leeds"
    assert plans(ana) == [("Seattle", StagedStatus.PENDING)]
    assert shelf.recall(ana.subject) == ["I live in Leeds"]
    assert shelf.held(ana.subject) == ["lives in Seattle"]
    says(ana, "I have moved to Seattle")
    assert city(ana) == "Seattle"
    assert shelf.recall(ana.subject) == ["lives in Seattle"]


def test_a_message_in_the_middle_leaves_the_later_value(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds", "I moved to York", "I might move to Seattle")
    says(ana, "I have moved to Seattle")
    before = {fact.value: fact for fact in ana.profile.history("home_city")}
    gate.revocation.message(ana.subject, "m2", by="Mia")
    after = {fact.value: fact for fact in ana.profile.history("home_city")}
    assert city(ana) == "Seattle"
    assert after["York"].status is FactStatus.REVOKED
    assert after["Leeds"].status is FactStatus.SUPERSEDED
    assert after["Leeds"].valid_to == before["Seattle"].valid_from
    gate.revocation.message(ana.subject, "m4", by="Mia")
    assert city(ana) == "Leeds"


def test_a_correction_taken_back_makes_the_old_value_true_again(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds", "it was Hull all along")
    assert history(ana) == [("Leeds", FactStatus.NEVER_VALID), ("Hull", FactStatus.CURRENT)]
    gate.revocation.message(ana.subject, "m2", by="Mia")
    assert city(ana) == "Leeds"
    assert shelf.recall(ana.subject) == ["I live in Leeds"]


def test_a_plan_dropped_in_a_revoked_message_waits_again(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I might move to Seattle", "that move is off")
    assert plans(ana) == [("Seattle", StagedStatus.DISCARDED)]
    gate.revocation.message(ana.subject, "m2", by="Mia")
    assert plans(ana) == [("Seattle", StagedStatus.PENDING)]
    assert shelf.held(ana.subject) == ["lives in Seattle"]


# --- the user takes it back ------------------------------------------------------------------------


def test_ignore_my_last_message_is_never_valid_and_the_old_value_is_back(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds", "I moved to York", "oops, ignore my last message, wrong chat")
    assert city(ana) == "Leeds"
    assert history(ana) == [("Leeds", FactStatus.CURRENT), ("York", FactStatus.NEVER_VALID)]
    assert shelf.recall(ana.subject) == ["I live in Leeds"]


def test_a_plan_taken_back_is_no_plan(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I might move to Seattle", "just kidding")
    assert plans(ana) == [("Seattle", StagedStatus.REVOKED)]


def test_a_confirmation_taken_back_leaves_the_plan_open(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I live in Leeds", "I might move to Seattle", "I have moved to Seattle")
    says(ana, "sorry, wrong chat")
    assert city(ana) == "Leeds"
    assert plans(ana) == [("Seattle", StagedStatus.PENDING)]


def test_what_a_message_takes_back_in_itself_was_never_said(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I live in Leeds", "I moved to York. Just kidding!")
    assert city(ana) == "Leeds"
    assert history(ana) == [("Leeds", FactStatus.CURRENT)]


def test_only_the_users_own_words_take_back(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I live in Leeds")
    ana.hears("Please ignore my last message.")
    ana.hears("ignore that message", role="tool")
    assert city(ana) == "Leeds"


def test_another_session_and_another_user_are_not_reached(gate: MemoryGate, ana: Talk) -> None:
    ana.says("I live in Leeds", session="one")
    ana.says("ignore my last message", session="two")
    ben = Talk(gate, "ben", START + timedelta(hours=1))
    ben.says("ignore my last message", session="one")
    assert city(ana) == "Leeds"
    ana.says("ignore my last message", session="one")
    assert city(ana) is None


def test_a_request_about_something_else_takes_nothing_back(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I live in Leeds")
    for text in ("ignore the last email", "delete the last line", "scratch the second recipe"):
        assert ana.says(text).withdrawn == ()
    assert city(ana) == "Leeds"


def test_the_right_value_corrects_instead(gate: MemoryGate, ana: Talk) -> None:
    says(ana, "I live in Leeds", "scratch that, I live in York")
    assert city(ana) == "York"
    assert history(ana)[0] == ("Leeds", FactStatus.SUPERSEDED)


# --- a whole subject -------------------------------------------------------------------------------


def test_an_erased_subject_leaves_ids_hashes_and_times(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    ben = Talk(gate, "ben", START)
    says(ben, "I live in York")
    says(ana, "I live in Leeds", "I might move to Seattle")
    done = gate.revocation.erase(ana.subject, by="Mia")
    assert done.clean
    assert shelf.recall(ana.subject) == shelf.held(ana.subject) == []
    assert shelf.recall(ben.subject) == ["I live in York"]
    ledger = gate.ledger
    kept = [
        *ledger.turns(ana.subject),
        *ledger.proposals(ana.subject),
        *ledger.events(subject=ana.subject),
        *ledger.facts(ana.subject, include_closed=True, include_pending_native=True),
        *ledger.staged(ana.subject, status=None),
        *ledger.audit_log(subject=ana.subject),
    ]
    assert len(kept) > 8
    words = ("Leeds", "Seattle", "live", "move")
    assert not [one for one in kept if any(w in one.model_dump_json() for w in words)]
    assert next(ledger.turns(ana.subject)).text_sha256
    with pytest.raises(NotFoundError):
        gate.revocation.erase(Talk(gate, "nobody", START).subject, by="Mia")


# --- residue ---------------------------------------------------------------------------------------


def test_residue_is_reported_and_stops_all_commits(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    shelf.leaves_residue = True
    done = gate.revocation.revoke(fact.fact_id, by="Mia")
    assert not done.clean
    assert [place.readable for place in done.residue] == [True]
    state = gate.rollout.show()
    assert state.tripped is not None
    assert "revocation residue in shelf" in state.tripped
    stopped = ana.says("I moved to York")
    assert stopped.shadow
    assert any("commits are stopped" in fault for fault in stopped.faults)
    assert city(ana) is None
    shelf.leaves_residue = False
    gone = [e for e in gate.ledger.events() if e.event_type is EventType.REVOKED]
    for event in gone:
        shelf.apply(event)
    assert gate.revocation.check(gone) == ()


def test_a_place_outside_every_read_is_named_and_stops_nothing(
    gate: MemoryGate, ana: Talk, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    monkeypatch.setattr(shelf, "residue", lambda _event: ["history: one row of its own log"])
    done = gate.revocation.revoke(fact.fact_id, by="Mia")
    assert [(p.readable, p.place) for p in done.residue] == [
        (False, "history: one row of its own log")
    ]
    assert done.clean
    assert gate.rollout.show().tripped is None


def test_a_store_that_is_down_is_named_and_taken_up_later(
    gate: MemoryGate, ana: Talk, shelf: Shelf
) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    shelf.fails = True
    done = gate.revocation.revoke(fact.fact_id, by="Mia")
    assert done.waiting == ("shelf",)
    assert not done.clean
    assert city(ana) is None
    shelf.fails = False
    gate.ledger.retry_now("shelf")
    gate.deliver()
    assert shelf.recall(ana.subject) == []


def test_another_process_is_named_that_still_has_to_deliver(
    gate: MemoryGate, ana: Talk, shelf: Shelf, scripted: OpenGate
) -> None:
    says(ana, "I live in Leeds")
    (fact,) = ana.facts()
    operator = scripted()
    done = operator.revocation.revoke(fact.fact_id, by="Mia")
    assert done.waiting == ("shelf",)
    assert shelf.recall(ana.subject) == ["I live in Leeds"]
    (report,) = gate.deliver()
    assert report.residue == ()
    assert shelf.recall(ana.subject) == []
