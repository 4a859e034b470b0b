"""A native write may take as long as it likes: on every backend it is made once.

The clock is moved by hand, so nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import select

from memgate_core.ledger import keeping
from memgate_core.ledger.leases import LEASE_S
from memgate_core.ledger.protocol import Delivery
from memgate_core.ledger.schema import lane
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.ledger.times import micros
from memgate_core.model import Event, NativeLink
from memgate_core.projection import DeliveryReport, deliver
from tests.support.build import BEN, make_key, make_staged
from tests.support.clock import Clock
from tests.support.ledgers import discard, hold

NEVER = 3600.0
PATIENCE_S = 600


@pytest.fixture
def renewing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases are renewed at once, in real time; when they end is the hand-moved clock's."""
    monkeypatch.setattr(keeping, "RENEW_S", 0.01)


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing renews a lease, as in a process that stands still."""
    monkeypatch.setattr(keeping, "RENEW_S", NEVER)


def elsewhere(work: Callable[[], object]) -> object:
    """As another worker would see it: leases belong to threads."""
    answer: list[object] = []
    thread = threading.Thread(target=lambda: answer.append(work()))
    thread.start()
    thread.join(PATIENCE_S)
    return answer[0]


def taken_elsewhere(ledger: SqlLedger) -> list[str | None]:
    """What another worker gets now."""
    found = elsewhere(lambda: ledger.due("p"))
    assert isinstance(found, Sequence)
    return [one.event.staged.value for one in found]


def ends(ledger: SqlLedger) -> list[int]:
    """When the leases in force end."""
    with ledger._database.reading() as runner:
        held = select(lane.c.leased_until).where(lane.c.leased_by.is_not(None))
        return [until for (until,) in runner.all(held, {})]


def wait_for_renewal(ledger: SqlLedger, clock: Clock) -> None:
    """Waits until every lease in force has been renewed at the clock's time."""
    deadline = time.monotonic() + PATIENCE_S
    while any(until < micros(clock.now) + LEASE_S * 1_000_000 for until in ends(ledger)):
        assert time.monotonic() < deadline, "nobody renewed the lease"
        time.sleep(0.005)


class SlowStore:
    """A store whose writes take three leases, while another worker tries to do the same."""

    name = "p"

    def __init__(self, ledger: SqlLedger, clock: Clock) -> None:
        self._ledger, self._clock = ledger, clock
        self.written: list[str] = []
        self.others: list[DeliveryReport] = []

    def apply(self, event: Event) -> Sequence[NativeLink]:
        for _ in range(4):
            self._clock.forward(LEASE_S * 0.75)
            wait_for_renewal(self._ledger, self._clock)
        report = elsewhere(lambda: deliver(self._ledger, self))
        assert isinstance(report, DeliveryReport)
        self.others.append(report)
        self.written.append(f"{event.event_type} {event.subject.user_id}")
        return ()

    def residue(self, needle: Event) -> Sequence[str]:
        return ()


@pytest.mark.usefixtures("renewing")
def test_a_write_that_takes_three_leases_is_made_once(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    hold(ledger, make_staged(key=make_key(subject=BEN)))
    discard(ledger, item)
    store = SlowStore(ledger, clock)
    assert deliver(ledger, store).delivered == 3
    assert store.written == ["STAGED ana", "STAGED ben", "DISCARDED ana"]
    assert [report.delivered for report in store.others] == [0, 0, 0]
    assert ends(ledger) == []


@pytest.mark.usefixtures("frozen")
def test_who_stood_still_carries_nothing_more_of_his_batch(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    discard(ledger, item)
    carried: list[Delivery] = []
    with ledger.keeping(ledger.due("p")) as kept:
        for delivery in kept:
            carried.append(delivery)
            clock.forward(LEASE_S + 1)
            assert taken_elsewhere(ledger) == ["Seattle", "Seattle"]
    assert len(carried) == 1
    assert len(ends(ledger)) == 1, "the other worker's lease is not his to give back"


@pytest.mark.usefixtures("renewing")
def test_a_lease_that_another_worker_has_is_not_renewed(ledger: SqlLedger, clock: Clock) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    batch = ledger.due("p")
    clock.forward(LEASE_S + 1)
    assert taken_elsewhere(ledger) == ["Seattle"]
    theirs = ends(ledger)
    with ledger.keeping(batch) as kept:
        assert list(kept) == []
    assert ends(ledger) == theirs


@pytest.mark.usefixtures("frozen")
def test_what_is_left_of_a_batch_is_free_at_once(ledger: SqlLedger) -> None:
    ledger.register("p")
    item = hold(ledger, make_staged())
    hold(ledger, make_staged("Bath", key=make_key(subject=BEN)))
    discard(ledger, item)
    with ledger.keeping(ledger.due("p")) as kept:
        for delivery in kept:
            ledger.acknowledge(delivery)
            break
    assert taken_elsewhere(ledger) == ["Bath", "Seattle"]


@pytest.mark.usefixtures("frozen")
def test_a_worker_that_is_interrupted_leaves_no_lease(ledger: SqlLedger) -> None:
    ledger.register("p")
    hold(ledger, make_staged())
    with pytest.raises(KeyboardInterrupt), ledger.keeping(ledger.due("p")):
        raise KeyboardInterrupt
    assert taken_elsewhere(ledger) == ["Seattle"]
