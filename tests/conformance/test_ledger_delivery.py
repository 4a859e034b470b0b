"""What every ledger backend does to carry events to projections."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from memgate_core.errors import InvalidInputError, NotFoundError
from memgate_core.ledger.leases import LEASE_S
from memgate_core.ledger.protocol import Delivery
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import (
    EventType,
    FactStatus,
    NativeLink,
    StagedItem,
    StagedStatus,
    Subject,
)
from tests.support.build import ANA, BEN, MARCH, day, make_fact, make_key, make_staged
from tests.support.clock import Clock
from tests.support.ledgers import commit, deliver_all, discard, ended, hold, moved_to, promote


def types(deliveries: Sequence[Delivery]) -> list[EventType]:
    return [delivery.event.event_type for delivery in deliveries]


def in_thread(work: Callable[[], Sequence[Delivery]]) -> Sequence[Delivery]:
    """As another worker would see it: leases belong to threads."""
    answer: list[Sequence[Delivery]] = []
    thread = threading.Thread(target=lambda: answer.append(work()))
    thread.start()
    thread.join()
    return answer[0]


def fail(ledger: SqlLedger, projection: str = "p", times: int = 1, **rest: int) -> None:
    for _ in range(times):
        (first, *_) = ledger.due(projection)
        ledger.fail(first, "StoreError", **rest)


# --- events ------------------------------------------------------------------------------------


def test_events_are_numbered_in_order(ledger: SqlLedger) -> None:
    hold(ledger, make_staged())
    commit(ledger, make_fact("Leeds", key=make_key(subject=BEN)))
    first, second = ledger.events()
    assert (first.event_type, first.subject) == (EventType.STAGED, ANA)
    assert (second.event_type, second.subject) == (EventType.COMMITTED, BEN)
    assert first.seq < second.seq
    assert first.staged == make_staged()
    assert ledger.events(after=first.seq) == [second]
    assert ledger.events(subject=ANA) == [first]
    assert ledger.events(limit=1) == [first]


def test_events_of_an_actor_come_back_as_his(ledger: SqlLedger) -> None:
    kim = Subject(user_id="ana", actor="kim")
    hold(ledger, make_staged(key=make_key(subject=kim)))
    assert [event.subject for event in ledger.events()] == [kim]
    assert ledger.subjects() == [kim]


# --- delivering --------------------------------------------------------------------------------


def test_only_events_after_registration_are_due(ledger: SqlLedger) -> None:
    hold(ledger, make_staged("Oslo", "m0"))
    ledger.register("p")
    ledger.register("p")
    hold(ledger, make_staged("Bath", "m1"))
    assert [delivery.event.staged.value for delivery in ledger.due("p")] == ["Bath"]
    assert ledger.due("q") == ()
    with pytest.raises(InvalidInputError):
        ledger.register("")


def test_each_projection_takes_every_event_once(ledger: SqlLedger) -> None:
    ledger.register("p")
    ledger.register("q")
    item = hold(ledger, make_staged())
    discard(ledger, item)
    assert deliver_all(ledger, "p") == [EventType.STAGED, EventType.DISCARDED]
    assert deliver_all(ledger, "p") == []
    assert deliver_all(ledger, "q") == [EventType.STAGED, EventType.DISCARDED]


def test_an_acknowledgement_twice_is_one(ledger: SqlLedger) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    (delivery,) = ledger.due("p")
    link = NativeLink(projection="p", native_id="n1", staged_ids=(make_staged().staged_id,))
    ledger.acknowledge(delivery, [link])
    ledger.acknowledge(delivery, [link])
    assert ledger.due("p") == ()
    assert ledger.links("p", native_id="n1") == [link]
    stranger = delivery.model_copy(update={"projection": "q"})
    with pytest.raises(NotFoundError):
        ledger.acknowledge(stranger)


def test_one_subject_can_be_asked_for(ledger: SqlLedger) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    hold(ledger, make_staged(key=make_key(subject=BEN)))
    assert [delivery.event.subject for delivery in ledger.due("p", subject=BEN)] == [BEN]
    assert ledger.due("p", limit=0) == ()


def test_nothing_overtakes_a_failed_event_of_its_subject(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    discard(ledger, item)
    hold(ledger, make_staged(key=make_key(subject=BEN)))
    fail(ledger)
    assert [delivery.event.subject for delivery in ledger.due("p")] == [BEN]
    clock.forward(1)
    retried = ledger.due("p", subject=ANA)
    assert types(retried) == [EventType.STAGED, EventType.DISCARDED]
    assert (retried[0].attempts, retried[0].error) == (1, "StoreError")


def test_the_wait_grows_with_each_failure(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    for wait in (1, 3, 9, 27):
        fail(ledger)
        clock.forward(wait - 0.5)
        assert ledger.due("p") == ()
        clock.forward(0.5)
    fail(ledger)
    assert ledger.due("p") == ()
    assert ledger.retry_now("p") == 1
    assert len(ledger.due("p")) == 1


def test_an_event_is_parked_after_too_many_failures(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    fail(ledger)
    clock.forward(5)
    fail(ledger, park_after=2)
    clock.forward(10_000)
    assert ledger.due("p") == ()
    (parked,) = ledger.parked()
    assert (parked.parked, parked.attempts, parked.error) == (True, 2, "StoreError")
    assert ledger.parked("q") == []
    assert ledger.retry_parked("p") == 1
    assert ledger.parked() == []
    assert deliver_all(ledger, "p") == [EventType.STAGED]


def test_a_parked_event_holds_back_its_own_key_only(ledger: SqlLedger) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    commit(ledger, make_fact("baker", "m2", key=make_key("employer")))
    commit(ledger, make_fact("Leeds", "m3"))
    fail(ledger, park_after=1)
    commit(ledger, make_fact("Bath", "m4"))
    assert [d.event.fact.value for d in ledger.due("p") if d.event.fact] == ["baker"]
    deliver_all(ledger, "p")
    assert ledger.retry_parked("p") == 1
    due = ledger.due("p")
    assert types(due) == [EventType.STAGED, EventType.COMMITTED, EventType.COMMITTED]
    assert due[0].event.staged == item


def test_what_takes_away_is_held_back_by_nothing(ledger: SqlLedger) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    fail(ledger, park_after=1)
    discard(ledger, item)
    assert deliver_all(ledger, "p") == [EventType.DISCARDED]
    assert ledger.parked() == []
    assert ledger.retry_parked("p") == 0


def test_a_revoked_promotion_is_never_written_later(ledger: SqlLedger) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    deliver_all(ledger, "p")
    fact = promote(ledger, item, make_fact("Seattle", "m2"))
    fail(ledger, park_after=1)
    revoked = ended(fact, fact, FactStatus.REVOKED)
    with ledger.write(ANA) as tx:
        tx.close_fact(revoked)
        tx.append(EventType.REVOKED, occurred_at=day(9), fact=revoked)
    assert deliver_all(ledger, "p") == [EventType.REVOKED]
    assert ledger.parked() == []
    assert ledger.facts(ANA, include_pending_native=True) == []


def test_what_each_projection_has_still_to_take_is_counted(ledger: SqlLedger) -> None:
    ledger.register("p")
    ledger.register("q")
    hold(ledger, make_staged())
    deliver_all(ledger, "p")
    assert dict(ledger.projections()) == {"p": 0, "q": 1}


# --- leases ------------------------------------------------------------------------------------


def test_another_worker_does_not_get_a_leased_subject(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    hold(ledger, make_staged(key=make_key(subject=BEN)))
    (mine,) = ledger.due("p", limit=1)
    assert mine.event.subject == ANA
    discard(ledger, item)
    others = in_thread(lambda: ledger.due("p"))
    assert [delivery.event.subject for delivery in others] == [BEN]
    assert types(ledger.due("p")) == [EventType.STAGED, EventType.DISCARDED]
    clock.forward(LEASE_S + 1)
    assert len(in_thread(lambda: ledger.due("p"))) == 3


def test_a_lease_ends_with_its_last_event(ledger: SqlLedger) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    (delivery,) = ledger.due("p")
    discard(ledger, make_staged())
    assert in_thread(lambda: ledger.due("p")) in ((), [])
    ledger.acknowledge(delivery)
    assert types(in_thread(lambda: ledger.due("p"))) == [EventType.DISCARDED]


def test_a_failure_ends_the_lease(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    fail(ledger)
    clock.forward(2)
    assert len(in_thread(lambda: ledger.due("p"))) == 1


# --- promotions --------------------------------------------------------------------------------


def waiting(ledger: SqlLedger) -> StagedItem:
    item = hold(ledger, make_staged())
    promote(ledger, item, make_fact("Seattle", "m2", valid_from=day(7)))
    return item


def status(ledger: SqlLedger, item: StagedItem) -> StagedStatus:
    stored = ledger.staged_item(item.staged_id)
    assert stored is not None
    return stored.status


def test_a_promotion_is_readable_when_every_projection_took_it(ledger: SqlLedger) -> None:
    ledger.register("p")
    ledger.register("q")
    item = waiting(ledger)
    deliver_all(ledger, "p")
    assert status(ledger, item) is StagedStatus.PROMOTING
    assert ledger.facts(ANA) == []
    deliver_all(ledger, "q")
    assert status(ledger, item) is StagedStatus.PROMOTED
    (fact,) = ledger.facts(ANA)
    assert (fact.value, fact.native) == ("Seattle", True)


def test_without_a_projection_a_promotion_is_readable_at_once(ledger: SqlLedger) -> None:
    item = waiting(ledger)
    assert status(ledger, item) is StagedStatus.PROMOTED
    assert [fact.value for fact in ledger.facts(ANA)] == ["Seattle"]


def test_a_commit_that_a_projection_writes_is_readable_afterwards(ledger: SqlLedger) -> None:
    ledger.register("p")
    commit(ledger, make_fact("Leeds", native=False))
    assert ledger.facts(ANA) == []
    deliver_all(ledger, "p")
    assert [fact.value for fact in ledger.facts(ANA)] == ["Leeds"]


def test_a_projection_that_leaves_holds_nothing_back(ledger: SqlLedger) -> None:
    ledger.register("p")
    ledger.register("q")
    item = waiting(ledger)
    deliver_all(ledger, "p")
    assert ledger.unregister("q") == 2
    assert status(ledger, item) is StagedStatus.PROMOTED
    hold(ledger, make_staged("Oslo", "m5", key=make_key("other")))
    assert ledger.due("q") == ()
    assert deliver_all(ledger, "p") == [EventType.STAGED]


def test_a_promotion_revoked_on_its_way_stays_revoked(ledger: SqlLedger) -> None:
    ledger.register("p")
    item = waiting(ledger)
    (_, promoted) = ledger.due("p")
    fact = promoted.event.fact
    assert fact is not None
    with ledger.write(ANA) as tx:
        tx.close_fact(ended(fact, fact, FactStatus.REVOKED))
        moved = moved_to(item, StagedStatus.REVOKED)
        tx.update_staged(moved, expected=StagedStatus.PROMOTING)
        tx.append(EventType.REVOKED, occurred_at=MARCH, fact=fact, staged=moved)
    ledger.acknowledge(promoted)
    assert status(ledger, item) is StagedStatus.REVOKED
    assert ledger.facts(ANA) == []


# --- native objects ----------------------------------------------------------------------------


def test_links_are_found_by_what_they_carry(ledger: SqlLedger) -> None:
    link = NativeLink(
        projection="p", native_id="n1", fact_ids=("f1", "f2"), message_id="m1", text="lives"
    )
    plain = NativeLink(projection="p", native_id="n2", message_id="m1")
    with ledger.write(ANA) as tx:
        tx.link(link)
        tx.link(plain)
    assert ledger.links("p", fact_id="f2") == [link]
    assert ledger.links("p", subject=ANA, message_id="m1") == [link, plain]
    assert ledger.links("p", fact_id="f1", staged_id="s1") == []
    assert ledger.links("q", native_id="n1") == []
    assert ledger.links("p", subject=BEN) == []
    with pytest.raises(InvalidInputError):
        ledger.links("p")


def test_a_native_id_has_one_link(ledger: SqlLedger) -> None:
    with ledger.write(ANA) as tx:
        tx.link(NativeLink(projection="p", native_id="n1", fact_ids=("f1",)))
        tx.link(NativeLink(projection="p", native_id="n1", staged_ids=("s1",)))
    assert ledger.links("p", fact_id="f1") == []
    assert len(ledger.links("p", staged_id="s1")) == 1
    with ledger.write(BEN) as tx:
        tx.unlink("p", "n1")
    assert len(ledger.links("p", staged_id="s1")) == 1
    with ledger.write(ANA) as tx:
        tx.unlink("p", "n1")
    assert ledger.links("p", staged_id="s1") == []
    assert ledger.links("p", native_id="n1") == []
