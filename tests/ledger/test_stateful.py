"""The ledger against a plain model of it, under any order of steps (hypothesis)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memgate_core.errors import NotAllowedError
from memgate_core.ledger.open import open_ledger
from memgate_core.model import (
    EventType,
    Fact,
    FactStatus,
    StagedItem,
    StagedStatus,
    Subject,
)
from tests.support import invariants, postgres
from tests.support.build import day, make_fact, make_key, make_staged
from tests.support.clock import Clock
from tests.support.ledgers import commit, ended, hold, moved_to, promote

SUBJECTS = [
    Subject(user_id="ana"),
    Subject(user_id="ana", actor="kim"),
    Subject(tenant="t", user_id="ana"),
]
KEYS = [make_key(name, subject=who) for who in SUBJECTS for name in ("home_city", "employer")]
PROJECTIONS = ("p", "q")

keys = st.sampled_from(KEYS)


class Model:
    """What the ledger should say, in lists and dicts."""

    def __init__(self) -> None:
        self.facts: dict[str, Fact] = {}
        self.items: dict[str, StagedItem] = {}
        self.queues: dict[str, list[tuple[EventType, Subject, str]]] = {}
        self.waiting: dict[str, set[str]] = {}
        """fact id -> projections that still have to acknowledge it."""

    def on(self, key: Any) -> Fact | None:
        current = (f for f in self.facts.values() if f.status is FactStatus.CURRENT)
        return next((fact for fact in current if fact.key == key), None)

    def tell(self, event_type: EventType, subject: Subject, about: str) -> None:
        for queue in self.queues.values():
            queue.append((event_type, subject, about))

    def wait_for(self, fact_id: str) -> None:
        self.waiting[fact_id] = set(self.queues)
        self.settle(fact_id)

    def settle(self, fact_id: str) -> None:
        if self.waiting.get(fact_id):
            return
        self.facts[fact_id] = self.facts[fact_id].model_copy(update={"native": True})
        for item in [i for i in self.items.values() if i.fact_id == fact_id]:
            if item.status is StagedStatus.PROMOTING:
                self.items[item.staged_id] = moved_to(item, StagedStatus.PROMOTED)

    def shown(self, subject: Subject) -> list[str | None]:
        """Values that a read shows: a waiting fact is replaced by what it replaces."""
        values = []
        for fact in self.facts.values():
            if fact.key.subject != subject or fact.status is not FactStatus.CURRENT:
                continue
            one: Fact | None = fact
            while one is not None and not one.native:
                before = self.facts[one.supersedes] if one.supersedes else None
                holds = before is not None and before.status is FactStatus.SUPERSEDED
                one = before if holds else None
            if one is not None:
                values.append(one.value)
        return sorted(values, key=str)


class LedgerMachine(RuleBasedStateMachine):
    """Each rule does one thing to the ledger and to the model."""

    url = "sqlite://"

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.ledger = open_ledger(self.url, clock=self.clock)
        self.model = Model()
        self.steps = 0

    def teardown(self) -> None:
        invariants.check(self.ledger)
        self.ledger.close()

    def _next(self) -> tuple[str, Any]:
        self.steps += 1
        return f"m{self.steps}", day(self.steps)

    def _pending(self) -> list[StagedItem]:
        return [i for i in self.model.items.values() if i.status is StagedStatus.PENDING]

    @initialize(count=st.integers(0, 2))
    def register(self, count: int) -> None:
        for name in PROJECTIONS[:count]:
            self.ledger.register(name)
            self.model.queues[name] = []

    @rule(key=keys, native=st.booleans())
    def commits(self, key: Any, native: bool) -> None:
        message_id, at = self._next()
        fact = make_fact(message_id, message_id, key=key, valid_from=at, native=native)
        former = self.model.on(key)
        written = commit(self.ledger, fact)
        assert written.version == 1 + sum(f.key == key for f in self.model.facts.values())
        self._supersede(former, written)
        self.model.tell(EventType.COMMITTED, key.subject, written.fact_id)
        self.model.wait_for(written.fact_id)

    def _supersede(self, former: Fact | None, by: Fact) -> None:
        if former is not None:
            self.model.facts[former.fact_id] = ended(former, by)
        self.model.facts[by.fact_id] = by

    @rule(key=keys)
    def commits_too_late(self, key: Any) -> None:
        message_id, at = self._next()
        fact = make_fact(message_id, message_id, key=key, valid_from=at)
        version = sum(f.key == key for f in self.model.facts.values())
        with pytest.raises(NotAllowedError):
            self._commit_on(fact, version - 1 if version else 1)

    def _commit_on(self, fact: Fact, version: int) -> None:
        with self.ledger.write(fact.key.subject) as tx:
            tx.lock([fact.key])
            tx.commit_fact(fact, expected_version=version)

    @rule(key=keys, status=st.sampled_from([FactStatus.REVOKED, FactStatus.NEVER_VALID]))
    def takes_back(self, key: Any, status: FactStatus) -> None:
        _, at = self._next()
        fact = self.model.on(key)
        if fact is None:
            return
        update = {"status": status, "valid_to": at, "closed_at": at}
        stored = self.ledger.fact(fact.fact_id)
        assert stored is not None
        closed = stored.model_copy(update=update)
        with self.ledger.write(key.subject) as tx:
            tx.lock([key])
            tx.close_fact(closed)
            tx.append(EventType.REVOKED, occurred_at=at, fact=closed)
        self.model.facts[fact.fact_id] = fact.model_copy(update=update)
        self.model.tell(EventType.REVOKED, key.subject, fact.fact_id)

    @rule(key=keys)
    def holds(self, key: Any) -> None:
        message_id, at = self._next()
        item = make_staged(message_id, message_id, key=key, created_at=at)
        hold(self.ledger, item)
        self.model.items[item.staged_id] = item
        self.model.tell(EventType.STAGED, key.subject, item.staged_id)

    @precondition(lambda self: self._pending())
    @rule(data=st.data())
    def promotes(self, data: Any) -> None:
        item = data.draw(st.sampled_from(self._pending()))
        message_id, at = self._next()
        former = self.model.on(item.key)
        fact = make_fact(message_id, message_id, key=item.key, valid_from=at)
        written = promote(self.ledger, item, fact)
        self._supersede(former, written)
        promoting = moved_to(item, StagedStatus.PROMOTING, fact_id=written.fact_id)
        self.model.items[item.staged_id] = promoting
        self.model.tell(EventType.PROMOTED, item.key.subject, written.fact_id)
        if former is not None:
            self.model.tell(EventType.SUPERSEDED, item.key.subject, former.fact_id)
        self.model.wait_for(written.fact_id)

    @precondition(lambda self: self._pending())
    @rule(data=st.data())
    def discards(self, data: Any) -> None:
        item = data.draw(st.sampled_from(self._pending()))
        _, at = self._next()
        moved = moved_to(item, StagedStatus.DISCARDED, resolved_at=at)
        with self.ledger.write(item.key.subject) as tx:
            tx.update_staged(moved, expected=StagedStatus.PENDING)
            tx.append(EventType.DISCARDED, occurred_at=at, staged=moved)
        self.model.items[item.staged_id] = moved
        self.model.tell(EventType.DISCARDED, item.key.subject, item.staged_id)

    @rule(name=st.sampled_from(PROJECTIONS), limit=st.integers(1, 4))
    def delivers(self, name: str, limit: int) -> None:
        queue = self.model.queues.get(name, [])
        batch = self.ledger.due(name, limit=limit)
        assert bool(batch) == bool(queue)
        for delivery in batch:
            told = delivery.event
            about = told.fact.fact_id if told.fact else told.staged.staged_id  # type: ignore[union-attr]
            entry = (told.event_type, told.subject, about)
            first = next(one for one in queue if one[1] == told.subject)
            assert entry == first, "out of order"
            queue.remove(first)
            self.ledger.acknowledge(delivery)
            if told.event_type in (EventType.COMMITTED, EventType.PROMOTED):
                self.model.waiting[about].discard(name)
                self.model.settle(about)

    @rule(name=st.sampled_from(PROJECTIONS))
    def fails_to_deliver(self, name: str) -> None:
        batch = self.ledger.due(name)
        if batch:
            self.ledger.fail(batch[0], "StoreError", park_after=1000)
            left = self.ledger.due(name)
            assert all(d.event.subject != batch[0].event.subject for d in left)
            self.ledger.retry_now(name)

    @invariant()
    def reads_agree(self) -> None:
        for subject in SUBJECTS:
            shown = sorted((f.value for f in self.ledger.facts(subject)), key=str)
            assert shown == self.model.shown(subject)
            everything = self.ledger.facts(
                subject, include_closed=True, include_pending_native=True
            )
            assert {f.fact_id: (f.status, f.native) for f in everything} == {
                f.fact_id: (f.status, f.native)
                for f in self.model.facts.values()
                if f.key.subject == subject
            }

    @invariant()
    def held_items_agree(self) -> None:
        for subject in SUBJECTS:
            mine = [i for i in self.model.items.values() if i.key.subject == subject]
            stored = self.ledger.staged(subject, status=None)
            assert {i.staged_id: i.status for i in stored} == {i.staged_id: i.status for i in mine}
            pending = sum(item.status is StagedStatus.PENDING for item in mine)
            assert self.ledger.pending_count(subject) == pending


class PostgresMachine(LedgerMachine):
    """The same on PostgreSQL."""

    def __init__(self) -> None:
        self.url = postgres.emptied_database()
        super().__init__()


def _settings(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def test_the_ledger_does_what_its_model_does() -> None:
    run_state_machine_as_test(LedgerMachine, settings=_settings(25, 30))


@pytest.mark.postgres
@pytest.mark.slow
def test_the_ledger_on_postgres_does_what_its_model_does() -> None:
    run_state_machine_as_test(PostgresMachine, settings=_settings(8, 25))
