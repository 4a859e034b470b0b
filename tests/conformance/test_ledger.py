"""What every ledger backend does with turns, proposals and facts."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memgate_core.errors import (
    InvalidInputError,
    LedgerError,
    NotAllowedError,
    NotFoundError,
    ProtocolConflictError,
)
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import EventType, Evidence, Fact, FactStatus, Role, Subject
from tests.support.build import (
    ANA,
    BEN,
    MARCH,
    day,
    make_fact,
    make_key,
    make_proposal,
    make_receipt,
    make_staged,
    make_turn,
    span_of,
)
from tests.support.ledgers import commit, ended, hold, promote

# --- turns -------------------------------------------------------------------------------------


def save(ledger: SqlLedger, text: str, message_id: str, **rest: object) -> None:
    turn = make_turn(text, message_id, **rest)
    with ledger.write(turn.subject) as tx:
        tx.save_turn(turn, turn.text, make_receipt(turn))


def test_a_turn_is_read_back_as_it_came(ledger: SqlLedger) -> None:
    turn = make_turn("Je déménage à Lyon 🚚", taint={"web"}, speaker="Ana", session="s1")
    receipt = make_receipt(turn, model_calls=3)
    with ledger.write(ANA) as tx:
        tx.save_turn(turn, turn.text, receipt)
        assert tx.turn("m1") is not None
    record = ledger.turn(ANA, "m1")
    assert record is not None
    assert record.receipt == receipt
    assert record.as_turn() == turn
    assert ledger.turn(BEN, "m1") is None


def test_a_message_id_is_taken_once(ledger: SqlLedger) -> None:
    save(ledger, "first", "m1")
    with pytest.raises(NotAllowedError), ledger.write(ANA) as tx:
        tx.save_turn(make_turn("second"), "second", make_receipt(make_turn("second")))
    record = ledger.turn(ANA, "m1")
    assert record is not None
    assert record.text == "first"


def test_an_exception_leaves_nothing_behind(ledger: SqlLedger) -> None:
    with pytest.raises(RuntimeError):
        _fail_half_way(ledger)
    assert ledger.turn(ANA, "m1") is None
    assert ledger.staged(ANA) == []
    assert ledger.events() == []
    assert ledger.pending_count(ANA) == 0
    assert ledger.subjects() == []


def _fail_half_way(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.save_turn(make_turn(), "x", make_receipt(make_turn()))
        tx.stage(make_staged())
        tx.append(EventType.STAGED, occurred_at=MARCH, staged=make_staged())
        raise RuntimeError("the gate failed")


def test_an_answer_is_kept_for_retries(ledger: SqlLedger) -> None:
    save(ledger, "hello", "m1")
    with ledger.write(ANA) as tx:
        tx.save_answer("m1", {"results": [{"id": "n1", "score": 0.5}]})
    record = ledger.turn(ANA, "m1")
    assert record is not None
    assert record.answer == {"results": [{"id": "n1", "score": 0.5}]}
    with pytest.raises(NotFoundError), ledger.write(ANA) as tx:
        tx.save_answer("m2", {})
    with pytest.raises(InvalidInputError), ledger.write(ANA) as tx:
        tx.save_answer("m1", {"when": MARCH})


def test_recent_turns_are_of_the_session_and_in_order(ledger: SqlLedger) -> None:
    save(ledger, "one", "m1", session="a", occurred_at=day(0))
    save(ledger, "two", "m2", session="a", occurred_at=day(1), role=Role.ASSISTANT)
    save(ledger, "elsewhere", "m3", session="b", occurred_at=day(1))
    save(ledger, "three", "m4", session="a", occurred_at=day(1))
    save(ledger, "later", "m5", session="a", occurred_at=day(9))
    save(ledger, "alone", "m6", occurred_at=day(1))
    recent = ledger.recent_turns(ANA, before=day(1), session="a", limit=2)
    assert [(turn.role, turn.content) for turn in recent] == [
        (Role.ASSISTANT, "two"),
        (Role.USER, "three"),
    ]
    assert [t.content for t in ledger.recent_turns(ANA, before=day(2))] == ["alone"]
    assert ledger.recent_turns(BEN, before=day(2), session="a") == ()


def test_evidence_is_read_again_and_checked(ledger: SqlLedger) -> None:
    turn = make_turn("Well, I live in Leeds now")
    save(ledger, turn.text, "m1")
    good = Evidence.of(turn, span_of(turn, "I live in Leeds"))
    assert ledger.evidence_words(ANA, good) == "I live in Leeds"
    assert ledger.evidence_words(BEN, good) is None
    for change in ({"end": good.end + 1}, {"end": 999}, {"message_id": "m2"}, {"start": 24}):
        assert ledger.evidence_words(ANA, good.model_copy(update=change)) is None


def test_turns_are_streamed_for_replay(ledger: SqlLedger) -> None:
    for number in range(5):
        save(ledger, f"text {number}", f"m{number}", subject=(ANA, BEN)[number % 2])
    everything = list(ledger.turns())
    assert [record.message_id for record in everything] == ["m0", "m1", "m2", "m3", "m4"]
    assert [record.message_id for record in ledger.turns(BEN)] == ["m1", "m3"]
    after = everything[1].position
    assert [record.message_id for record in ledger.turns(after=after, limit=2)] == ["m2", "m3"]
    assert list(ledger.turns(after=everything[-1].position)) == []


# --- proposals ---------------------------------------------------------------------------------


def test_the_same_proposal_again_is_the_recorded_one(ledger: SqlLedger) -> None:
    first = make_proposal()
    with ledger.write(ANA) as tx:
        assert tx.save_proposal(first) == first
    again = first.model_copy(update={"policy_version": "p2"})
    with ledger.write(ANA) as tx:
        assert tx.save_proposal(again) == first
    assert ledger.proposal(first.proposal_id) == first


def test_another_payload_is_a_visible_conflict(ledger: SqlLedger) -> None:
    first, other = make_proposal("Leeds"), make_proposal("Lyon!")
    assert first.proposal_id == other.proposal_id
    with ledger.write(ANA) as tx:
        tx.save_proposal(first)
    with pytest.raises(ProtocolConflictError), ledger.write(ANA) as tx:
        tx.save_proposal(other)
    assert ledger.proposal(first.proposal_id) == first
    counted = {counter.name: counter.value for counter in ledger.counters()}
    assert counted == {"protocol_conflicts": 1}
    (entry,) = ledger.audit_log(subject=ANA)
    assert (entry.action, entry.target) == ("protocol_conflict", first.proposal_id)


def test_a_conflict_that_the_gate_survives_is_counted_too(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.save_proposal(make_proposal("Leeds"))
        with pytest.raises(ProtocolConflictError):
            tx.save_proposal(make_proposal("Lyon!"))
    assert [(counter.name, counter.value) for counter in ledger.counters()] == [
        ("protocol_conflicts", 1)
    ]


def test_what_became_of_a_proposal_is_noted(ledger: SqlLedger) -> None:
    proposal = make_proposal()
    with ledger.write(ANA) as tx:
        tx.save_proposal(proposal)
        tx.settle_proposal(proposal.proposal_id, status="REVOKED")
        tx.settle_proposal(proposal.proposal_id, fact_id="fact_1")
    stored = ledger.proposal(proposal.proposal_id)
    assert stored is not None
    assert (stored.status, stored.fact_id, stored.staged_id) == ("REVOKED", "fact_1", None)
    assert [p.proposal_id for p in ledger.proposals(ANA, message_id="m1")] == [proposal.proposal_id]
    assert ledger.proposals(ANA, message_id="m2") == []
    assert ledger.proposals(BEN) == []
    with pytest.raises(NotFoundError), ledger.write(BEN) as tx:
        tx.settle_proposal(proposal.proposal_id, status="REVOKED")


# --- facts -------------------------------------------------------------------------------------


def test_a_first_value_and_its_successor(ledger: SqlLedger) -> None:
    leeds = commit(ledger, make_fact("Leeds", valid_from=day(0)))
    lyon = commit(ledger, make_fact("Lyon", "m2", valid_from=day(10)))
    assert (leeds.version, lyon.version) == (1, 2)
    now = ledger.current(ANA, make_key())
    assert now == lyon
    assert [fact.value for fact in ledger.facts(ANA)] == ["Lyon"]
    history = ledger.facts(ANA, include_closed=True)
    assert [(f.value, f.status, f.valid_to) for f in history] == [
        ("Leeds", FactStatus.SUPERSEDED, day(10)),
        ("Lyon", FactStatus.CURRENT, None),
    ]


def test_what_was_valid_at_a_time(ledger: SqlLedger) -> None:
    commit(ledger, make_fact("Leeds", valid_from=day(0)))
    commit(ledger, make_fact("Lyon", "m2", valid_from=day(10)))

    def value_at(at: datetime) -> list[str | None]:
        return [fact.value for fact in ledger.facts(ANA, as_of=at)]

    assert value_at(day(-1)) == []
    assert value_at(day(0)) == ["Leeds"]
    assert value_at(day(9)) == ["Leeds"]
    assert value_at(day(10)) == ["Lyon"]


@pytest.mark.parametrize("status", [FactStatus.NEVER_VALID, FactStatus.REVOKED])
def test_corrected_and_revoked_facts_were_never_valid(
    ledger: SqlLedger, status: FactStatus
) -> None:
    wrong = commit(ledger, make_fact("Leeds", valid_from=day(0)))
    right = make_fact("Lyon", "m2", valid_from=day(0))
    with ledger.write(ANA) as tx:
        tx.close_fact(ended(wrong, right, status))
        tx.commit_fact(right, expected_version=tx.lock([right.key])[right.key].version)
    assert [fact.value for fact in ledger.facts(ANA, as_of=day(5))] == ["Lyon"]
    kept = ledger.facts(ANA, include_closed=True)
    assert [(fact.value, fact.status) for fact in kept] == [
        ("Leeds", status),
        ("Lyon", FactStatus.CURRENT),
    ]


def test_the_loser_of_a_race_is_told(ledger: SqlLedger) -> None:
    commit(ledger, make_fact("Leeds"))
    late = make_fact("Lyon", "m2")
    with pytest.raises(NotAllowedError):
        _commit_blindly(ledger, late)
    assert [fact.value for fact in ledger.facts(ANA)] == ["Leeds"]


def _commit_blindly(ledger: SqlLedger, fact: Fact) -> None:
    with ledger.write(ANA) as tx:
        tx.lock([fact.key])
        tx.commit_fact(fact, expected_version=0)


def test_a_replaced_fact_must_be_closed_in_its_transaction(ledger: SqlLedger) -> None:
    commit(ledger, make_fact("Leeds"))
    with pytest.raises(InvalidInputError), ledger.write(ANA) as tx:
        tx.commit_fact(make_fact("Lyon", "m2"), expected_version=1)
    assert [fact.value for fact in ledger.facts(ANA)] == ["Leeds"]


def test_a_fact_is_committed_once(ledger: SqlLedger) -> None:
    commit(ledger, make_fact("Leeds"))
    again = make_fact("Leeds", key=make_key("other")).model_copy(
        update={"fact_id": make_fact("Leeds").fact_id}
    )
    with pytest.raises(NotAllowedError):
        _commit_blindly(ledger, again)


def test_an_interval_does_not_end_before_it_begins(ledger: SqlLedger) -> None:
    fact = commit(ledger, make_fact("Leeds", valid_from=day(3)))
    early = fact.model_copy(update={"status": FactStatus.SUPERSEDED, "valid_to": day(2)})
    with pytest.raises(InvalidInputError), ledger.write(ANA) as tx:
        tx.close_fact(early)
    with pytest.raises(NotFoundError), ledger.write(ANA) as tx:
        tx.close_fact(make_fact("Lyon", "m9"))


def test_locking_shows_what_hangs_on_each_key(ledger: SqlLedger) -> None:
    leeds = commit(ledger, make_fact("Leeds"))
    job = make_key("employer")
    with ledger.write(ANA) as tx:
        states = tx.lock([job, make_key()])
        assert states[make_key()].current == leeds
        assert states[make_key()].version == 1
        assert (states[job].current, states[job].version) == (None, 0)


def test_a_transaction_reads_its_own_writes(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.lock([make_key()])
        tx.commit_fact(make_fact("Leeds"), expected_version=0)
        tx.stage(make_staged())
        assert ledger.current(ANA, make_key()) is not None
        assert len(ledger.pending_on(ANA, make_key())) == 1


def test_the_newest_facts_within_a_limit(ledger: SqlLedger) -> None:
    for number in range(4):
        key = make_key(f"k{number}")
        commit(ledger, make_fact(f"v{number}", key=key, attribute=None, valid_from=day(number)))
    assert [fact.value for fact in ledger.facts(ANA, limit=2)] == ["v2", "v3"]
    assert ledger.facts(ANA, limit=0) == []
    assert ledger.facts(ANA, attribute="home_city") == []


def test_subjects_do_not_see_or_touch_each_other(ledger: SqlLedger) -> None:
    fact = commit(ledger, make_fact("Leeds"))
    ben = make_key(subject=BEN)
    assert ledger.current(BEN, ben) is None
    assert ledger.facts(BEN, include_closed=True) == []
    with pytest.raises(NotAllowedError):
        ledger.current(BEN, fact.key)
    with pytest.raises(NotAllowedError), ledger.write(BEN) as tx:
        tx.lock([fact.key])
    with pytest.raises(NotAllowedError), ledger.write(BEN) as tx:
        tx.close_fact(ended(fact, fact))
    with pytest.raises(NotAllowedError), ledger.write(BEN) as tx:
        tx.save_proposal(make_proposal())


def test_tenants_with_equal_user_ids_are_apart(ledger: SqlLedger) -> None:
    other = Subject(tenant="acme", user_id="ana")
    commit(ledger, make_fact("Leeds"))
    commit(ledger, make_fact("Lyon", key=make_key(subject=other)))
    assert [fact.value for fact in ledger.facts(ANA)] == ["Leeds"]
    assert [fact.value for fact in ledger.facts(other)] == ["Lyon"]
    assert ledger.subjects("acme") == [other]


def test_an_actor_cannot_be_forged_in_a_user_id(ledger: SqlLedger) -> None:
    with pytest.raises(InvalidInputError):
        ledger.facts(Subject(user_id="ana\x1fkim"))


def test_times_come_back_to_the_microsecond_and_in_utc(ledger: SqlLedger) -> None:
    odd = datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)  # noqa: UP017
    commit(ledger, make_fact("Leeds", valid_from=odd))
    (fact,) = ledger.facts(ANA, as_of=odd)
    assert fact.valid_from == odd
    assert fact.valid_from.tzinfo is not None


def test_expired_facts_are_listed(ledger: SqlLedger) -> None:
    commit(ledger, make_fact("Leeds", expires_at=day(5)))
    commit(ledger, make_fact("Lyon", "m2", key=make_key("summer_home"), expires_at=day(9)))
    assert [fact.value for fact in ledger.expired_facts(day(4))] == []
    assert [fact.value for fact in ledger.expired_facts(day(5))] == ["Leeds"]


# --- what a waiting promotion shows ------------------------------------------------------------


def test_what_a_waiting_promotion_replaces_is_still_shown(ledger: SqlLedger) -> None:
    ledger.register("p")
    commit(ledger, make_fact("Leeds", valid_from=day(0)), event=None)
    item = hold(ledger, make_staged("Seattle", "m2"))
    promote(ledger, item, make_fact("Seattle", "m3", valid_from=day(7)))
    shown = ledger.current(ANA, make_key())
    assert shown is not None
    assert (shown.value, shown.status, shown.valid_to) == ("Leeds", FactStatus.CURRENT, None)
    assert ledger.facts(ANA) == [shown]
    assert ledger.facts(ANA, as_of=day(8)) == [shown]
    assert ledger.facts(ANA, as_of=day(-1)) == []
    assert ledger.facts(ANA, include_closed=True) == [shown]
    assert ledger.facts(ANA, attribute="employer") == []
    raw = ledger.facts(ANA, include_pending_native=True)
    assert [fact.value for fact in raw] == ["Seattle"]


def test_two_waiting_promotions_in_a_row_show_the_value_before_both(ledger: SqlLedger) -> None:
    ledger.register("p")
    commit(ledger, make_fact("Leeds", valid_from=day(0)), event=None)
    promote(ledger, hold(ledger, make_staged("Lyon", "m2")), make_fact("Lyon", "m3"))
    promote(ledger, hold(ledger, make_staged("Bath", "m4")), make_fact("Bath", "m5"))
    assert [fact.value for fact in ledger.facts(ANA)] == ["Leeds"]


# --- what cannot be stored ---------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["nul \x00", "lone \udc80"])
def test_what_utf8_cannot_hold_is_a_ledger_error(ledger: SqlLedger, bad: str) -> None:
    turn = make_turn()
    with pytest.raises(LedgerError), ledger.write(ANA) as tx:
        tx.save_turn(turn, bad, make_receipt(turn, forward=None))
    with pytest.raises(LedgerError), ledger.write(ANA) as tx:
        tx.stage(make_staged(session=bad))
    assert ledger.turn(ANA, "m1") is None
    assert ledger.staged(ANA) == []


def test_transactions_do_not_nest(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.stage(make_staged())
        with pytest.raises(LedgerError), ledger.write(BEN):
            pass
    assert ledger.pending_count(ANA) == 1


def test_a_closed_ledger_says_so(ledger: SqlLedger) -> None:
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.facts(ANA)
