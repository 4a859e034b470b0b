"""Many writers and many workers on one ledger."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memgate_core.errors import NotAllowedError
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import EventType, FactStatus, StagedStatus, Subject
from tests.support import invariants
from tests.support.build import ANA, MARCH, day, make_fact, make_key, make_staged
from tests.support.ledgers import (
    SHARED_BACKENDS,
    commit,
    ended,
    fresh_url,
    hold,
    opened,
    promote,
)
from tests.support.processes import PATIENCE_S, together

ROUNDS = 150

pytestmark = pytest.mark.slow


# --- the barrier: two proposals for a key that does not exist yet ---------------------------------


def race_for_new_keys(barrier: Any, url: str, name: str) -> list[str]:
    ledger = open_ledger(url, timeout_s=PATIENCE_S)
    outcomes = []
    for number in range(ROUNDS):
        fact = make_fact(name, f"{name}-{number}", key=make_key(f"key{number}"))
        barrier.wait()
        outcomes.append(_try_to_commit(ledger, fact))
        barrier.wait()
    ledger.close()
    return outcomes


def _try_to_commit(ledger: SqlLedger, fact: Any) -> str:
    try:
        with ledger.write(ANA) as tx:
            tx.lock([fact.key])
            written = tx.commit_fact(fact, expected_version=0)
            tx.append(EventType.COMMITTED, occurred_at=MARCH, fact=written)
    except NotAllowedError:
        return "lost"
    return "won"


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_of_two_first_values_exactly_one_is_committed(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    open_ledger(url).close()
    one, other = together(race_for_new_keys, [(url, "Leeds"), (url, "Lyon")])
    assert [sorted(pair) for pair in zip(one, other, strict=True)] == [["lost", "won"]] * ROUNDS
    with opened(url) as ledger:
        invariants.check(ledger)
        facts = ledger.facts(ANA)
        assert len(facts) == ROUNDS
        winners = Counter(fact.value for fact in facts)
        assert winners == Counter(Leeds=one.count("won"), Lyon=other.count("won"))


# --- superseding ---------------------------------------------------------------------------------


def count_up(barrier: Any, url: str, name: str, times: int) -> int:
    ledger = open_ledger(url, timeout_s=PATIENCE_S)
    barrier.wait()
    retries = sum(_add_one(ledger, f"{name}-{number}") for number in range(times))
    ledger.close()
    return retries


def _add_one(ledger: SqlLedger, message_id: str) -> int:
    """Adds one to the value it read, until nobody was faster; returns how often somebody was."""
    tries = 0
    while True:
        now = ledger.current(ANA, make_key())
        version, value = (now.version, int(now.value or 0)) if now else (0, 0)
        fact = make_fact(str(value + 1), message_id, valid_from=day(value))
        try:
            with ledger.write(ANA) as tx:
                tx.lock([fact.key])
                written = tx.commit_fact(fact, expected_version=version)
                if now is not None:
                    tx.close_fact(ended(now, fact))
                tx.append(EventType.COMMITTED, occurred_at=MARCH, fact=written)
        except NotAllowedError:
            tries += 1
        else:
            return tries


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_concurrent_superseding_loses_no_update(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    open_ledger(url).close()
    together(count_up, [(url, name, 40) for name in ("a", "b", "c")])
    with opened(url) as ledger:
        now = ledger.current(ANA, make_key())
        assert now is not None
        assert (now.value, now.version) == ("120", 120)
        history = ledger.facts(ANA, include_closed=True)
        assert [fact.value for fact in history] == [str(number) for number in range(1, 121)]
        assert {f.status for f in history[:-1]} == {FactStatus.SUPERSEDED}
        invariants.check(ledger)


# --- confirming one held item --------------------------------------------------------------------


def confirm(barrier: Any, url: str, name: str, times: int) -> int:
    ledger = open_ledger(url, timeout_s=PATIENCE_S)
    won = 0
    for number in range(times):
        item = make_staged("Seattle", f"plan{number}", key=make_key(f"key{number}"))
        fact = make_fact("Seattle", f"{name}-{number}", key=item.key)
        barrier.wait()
        try:
            promote(ledger, item, fact)
            won += 1
        except NotAllowedError:
            pass
    ledger.close()
    return won


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_an_item_is_promoted_by_one_of_two_confirmations(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    with opened(url) as ledger:
        for number in range(40):
            hold(ledger, make_staged("Seattle", f"plan{number}", key=make_key(f"key{number}")))
    assert sum(together(confirm, [(url, "a", 40), (url, "b", 40)])) == 40
    with opened(url) as ledger:
        items = ledger.staged(ANA, status=None)
        assert {item.status for item in items} == {StagedStatus.PROMOTED}
        assert len(ledger.facts(ANA)) == 40
        invariants.check(ledger)


# --- delivering ----------------------------------------------------------------------------------


def carry(barrier: Any, url: str, expected: int) -> list[tuple[float, float, str, int]]:
    """Delivers until everything went; notes when each native write began and ended."""
    ledger = open_ledger(url, timeout_s=PATIENCE_S)
    written = []
    barrier.wait()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        batch = ledger.due("p", limit=7)
        with ledger.keeping(batch) as kept:
            for delivery in kept:
                began = time.monotonic()
                time.sleep(0.002)
                user = delivery.event.subject.user_id
                written.append((began, time.monotonic(), user, delivery.event.seq))
                ledger.acknowledge(delivery)
        if not batch and _delivered(ledger) == expected:
            break
    ledger.close()
    return written


def _delivered(ledger: SqlLedger) -> int:
    return sum(len(ledger.facts(Subject(user_id=f"u{number}"))) for number in range(8))


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_two_workers_deliver_each_event_once_and_in_order(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    with opened(url) as ledger:
        ledger.register("p")
        for number in range(80):
            key = make_key(f"key{number}", subject=Subject(user_id=f"u{number % 8}"))
            commit(ledger, make_fact("x", f"m{number}", key=key, native=False))
    written = [row for rows in together(carry, [(url, 80), (url, 80)]) for row in rows]
    assert sorted(seq for *_, seq in written) == sorted({seq for *_, seq in written})
    assert len(written) == 80
    by_subject = defaultdict(list)
    for began, finished, user, seq in sorted(written):
        by_subject[user].append((seq, began, finished))
    for rows in by_subject.values():
        assert rows == sorted(rows), "a subject's events went out of order"
        assert all(a[2] <= b[1] for a, b in pairwise(rows)), "two at once"


# --- reading all events while others write -------------------------------------------------------


def write_events(barrier: Any, url: str, name: str, times: int) -> list[int]:
    ledger = open_ledger(url, timeout_s=PATIENCE_S)
    subject = Subject(user_id=name)
    barrier.wait()
    for number in range(times):
        hold(ledger, make_staged("x", f"m{number}", key=make_key(f"k{number}", subject=subject)))
    ledger.close()
    return []


def follow_events(barrier: Any, url: str, expected: int) -> list[int]:
    ledger = open_ledger(url, timeout_s=PATIENCE_S)
    seen: list[int] = []
    barrier.wait()
    deadline = time.monotonic() + PATIENCE_S
    while len(seen) < expected and time.monotonic() < deadline:
        seen += [event.seq for event in ledger.events(after=seen[-1] if seen else 0, limit=5)]
    ledger.close()
    return seen


def write_or_follow(barrier: Any, url: str, name: str, times: int) -> list[int]:
    follows = name == "reader"
    return (follow_events if follows else write_events)(
        barrier, url, *((times,) if follows else (name, times))
    )


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_whoever_follows_the_numbers_misses_no_event(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    open_ledger(url).close()
    calls = [(url, "ana", 60), (url, "ben", 60), (url, "kim", 60), (url, "reader", 180)]
    seen = together(write_or_follow, calls)[-1]
    assert len(seen) == 180
    with opened(url) as ledger:
        assert seen == [event.seq for event in ledger.events()]
