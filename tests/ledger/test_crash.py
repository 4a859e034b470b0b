"""kill -9: at every statement of a known story, and at random moments of a busy one."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memgate_core.errors import NotAllowedError
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.runner import Runner
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.model import (
    Event,
    EventType,
    FactStatus,
    Model,
    NativeLink,
    StagedItem,
    StagedStatus,
    Subject,
)
from tests.support import invariants
from tests.support.build import (
    ANA,
    MARCH,
    day,
    make_fact,
    make_key,
    make_receipt,
    make_staged,
    make_turn,
)
from tests.support.clock import Clock
from tests.support.ledgers import (
    POSTGRES,
    SHARED_BACKENDS,
    commit,
    deliver_all,
    discard,
    ended,
    fresh_url,
    hold,
    moved_to,
    opened,
    promote,
)
from tests.support.processes import CONTEXT, PATIENCE_S, start

pytestmark = pytest.mark.slow

# --- a story that can be resumed -----------------------------------------------------------------


class Store:
    """A framework's store: a folder with one file an object. Deleting and rewriting is idempotent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def apply(self, event: Event) -> list[NativeLink]:
        about = event.fact or event.staged
        assert about is not None
        native_id = event.fact.fact_id if event.fact else f"plan-{about.proposal_id[:8]}"
        path = self.folder / native_id
        if event.event_type in (EventType.REVOKED, EventType.SUPERSEDED, EventType.DISCARDED):
            path.unlink(missing_ok=True)
            return []
        path.write_text(about.text)
        return [NativeLink(projection="p", native_id=native_id)]

    def content(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(self.folder.iterdir())}


def story(ledger: SqlLedger, store: Store) -> None:
    """Turns as a gate takes them: each is skipped when it is recorded, so a retry is safe."""
    ledger.register("p")
    for message_id, step in STEPS.items():
        if ledger.turn(ANA, message_id) is None:
            step(ledger, message_id)
        deliver_all(ledger, "p", store.apply)


def _record(tx: Any, message_id: str) -> None:
    turn = make_turn("words", message_id)
    tx.save_turn(turn, turn.text, make_receipt(turn))


def _commits(ledger: SqlLedger, message_id: str) -> None:
    with ledger.write(ANA) as tx:
        fact = make_fact("Leeds", message_id)
        written = tx.commit_fact(fact, expected_version=tx.lock([fact.key])[fact.key].version)
        tx.append(EventType.COMMITTED, occurred_at=MARCH, fact=written)
        _record(tx, message_id)


def _plan() -> StagedItem:
    return make_staged("Seattle", "m2")


def _holds(ledger: SqlLedger, message_id: str) -> None:
    with ledger.write(ANA) as tx:
        tx.stage(_plan())
        tx.append(EventType.STAGED, occurred_at=MARCH, staged=_plan())
        _record(tx, message_id)


def _promotes(ledger: SqlLedger, message_id: str) -> None:
    with ledger.write(ANA) as tx:
        state = tx.lock([make_key()])[make_key()]
        assert state.current is not None
        fact = make_fact("Seattle", message_id, native=False, valid_from=day(3))
        fact = fact.model_copy(update={"supersedes": state.current.fact_id})
        written = tx.commit_fact(fact, expected_version=state.version)
        moved = moved_to(_plan(), StagedStatus.PROMOTING, fact_id=written.fact_id)
        tx.update_staged(moved, expected=StagedStatus.PENDING)
        tx.append(EventType.PROMOTED, occurred_at=day(3), staged=moved, fact=written)
        former = ended(state.current, fact)
        tx.close_fact(former)
        tx.append(EventType.SUPERSEDED, occurred_at=day(3), fact=former)
        _record(tx, message_id)


def _revokes(ledger: SqlLedger, message_id: str) -> None:
    with ledger.write(ANA) as tx:
        state = tx.lock([make_key()])[make_key()]
        assert state.current is not None
        update = {"status": FactStatus.REVOKED, "valid_to": day(9), "closed_at": day(9)}
        revoked = state.current.model_copy(update=update)
        tx.close_fact(revoked)
        tx.append(EventType.REVOKED, occurred_at=day(9), fact=revoked)
        _record(tx, message_id)


STEPS = {"m1": _commits, "m2": _holds, "m3": _promotes, "m4": _revokes}


def story_until(url: str, folder: Path, fatal: int) -> None:
    """Plays the story and is killed just before its statement number `fatal`."""
    ledger, left = open_ledger(url, timeout_s=30, clock=Clock()), fatal

    def dies(method: Any) -> Any:
        def counted(self: Runner, *args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(self, *args)

        return counted

    for name in ("_execute", "script", "many"):
        setattr(Runner, name, dies(getattr(Runner, name)))
    story(ledger, Store(folder))


def end_of_story(url: str, store: Store) -> list[str]:
    """Resumes the story, and says all that ledger and store hold in the end."""
    with opened(url, timeout_s=30, clock=Clock()) as ledger:
        story(ledger, store)
        invariants.check(ledger)
        parts: list[Model] = [*ledger.staged(ANA, status=None), *ledger.links("p", subject=ANA)]
        parts += ledger.facts(ANA, include_closed=True, include_pending_native=True)
        parts += [event.model_copy(update={"seq": 0}) for event in ledger.events()]
        parts += [record.model_copy(update={"position": 0}) for record in ledger.turns()]
        return [part.model_dump_json() for part in parts] + [str(store.content())]


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_killed_at_any_statement_the_story_ends_the_same(backend: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    expected = end_of_story(fresh_url(backend, whole), Store(whole / "store"))

    step = 5 if backend == POSTGRES else 2  # every statement: tests/admission/test_kill.py
    survived, fatal = False, 1
    while not survived:
        folder = tmp_path / str(fatal)
        folder.mkdir()
        url, store = fresh_url(backend, folder), Store(folder / "store")
        process = start(story_until, url, store.folder, fatal)
        process.join(PATIENCE_S)
        assert process.exitcode in (0, -signal.SIGKILL)
        survived = process.exitcode == 0
        assert end_of_story(url, store) == expected, f"killed before statement {fatal}"
        fatal += step
    assert fatal > 50, "the story has too few statements to be worth the test"


# --- a busy ledger -------------------------------------------------------------------------------


WARM = 15
"""Acts before a worker may be killed, so that there is something to lose."""


def be_busy(url: str, seed: int, is_busy: Any) -> None:
    """Commits, holds, promotes, discards and delivers until it is killed."""
    chance = random.Random(seed)
    ledger = open_ledger(url, timeout_s=30)
    ledger.register("p")
    number = 0
    while True:
        number += 1
        subject = Subject(user_id=f"u{chance.randrange(3)}")
        key = make_key(f"k{chance.randrange(4)}", subject=subject)
        with suppress(NotAllowedError):  # the other worker was faster
            _one_act(ledger, chance, f"{seed}-{number}", key)
        if number == WARM:
            is_busy.set()


def _one_act(ledger: SqlLedger, chance: random.Random, message_id: str, key: Any) -> None:
    act = chance.choice(["commit", "hold", "promote", "discard", "deliver"])
    pending = ledger.pending_on(key.subject, key)
    if act == "commit":
        commit(ledger, make_fact(message_id, message_id, key=key, valid_from=_after(ledger, key)))
    elif act == "hold":
        hold(ledger, make_staged(message_id, message_id, key=key))
    elif act == "promote" and pending:
        _promote_now(ledger, pending[0], message_id)
    elif act == "discard" and pending:
        discard(ledger, pending[0])
    else:
        for delivery in ledger.due("p", limit=5):
            ledger.acknowledge(delivery)


def _promote_now(ledger: SqlLedger, item: StagedItem, message_id: str) -> None:
    fact = make_fact(message_id, message_id, key=item.key, valid_from=_after(ledger, item.key))
    promote(ledger, item, fact)


def _after(ledger: SqlLedger, key: Any) -> Any:
    with ledger.write(key.subject) as tx:
        current = tx.lock([key])[key].current
    return MARCH if current is None else current.valid_from


@pytest.mark.parametrize("backend", SHARED_BACKENDS)
def test_killed_at_random_the_invariants_hold(backend: str, tmp_path: Path) -> None:
    url = fresh_url(backend, tmp_path)
    open_ledger(url).close()
    chance = random.Random(20260302)
    for seed in range(6):
        busy = [CONTEXT.Event(), CONTEXT.Event()]
        workers = [start(be_busy, url, seed * 10 + n, busy[n]) for n in range(2)]
        assert all(one.wait(PATIENCE_S) for one in busy)
        time.sleep(chance.uniform(0.1, 0.6))
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
        for worker in workers:
            worker.join(PATIENCE_S)
        with opened(url, timeout_s=30) as ledger:
            invariants.check(ledger)
    with opened(url, timeout_s=30) as ledger:
        assert len(ledger.events()) > 50
        deliver_all(ledger, "p")
        invariants.check(ledger)
        for subject in ledger.subjects():
            assert ledger.staged(subject, status=StagedStatus.PROMOTING) == []
