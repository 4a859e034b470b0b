"""A plain model of what a gate's ledger means, against the real one, with crashes in between.

The model knows nothing of tables, locks or events: a current value, a history, plans, and what a
reader of the framework sees. The gate is interrupted before any statement, at random; whatever the
moment, the same call again must end as if it had happened once.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memgate_core import MemoryGate
from memgate_core.ledger.runner import Runner
from memgate_core.model import FactStatus, Receipt, StagedStatus, Subject
from tests.admission.conftest import START
from tests.support.postgres import fresh_database
from tests.support.scripted import Line, correction, event, plan, scripted_gate, state
from tests.support.shelf import Shelf

CITIES = ("Leeds", "York", "Hull")
WORDS: dict[str, Line] = {}
for _name in CITIES:
    WORDS[f"I live in {_name}"] = state("home_city", _name)
    WORDS[f"I might move to {_name}"] = plan("home_city", _name)
    WORDS[f"the move to {_name} happened"] = event("home_city", _name, confirms=_name)
    WORDS[f"the {_name} move is off"] = Line(abandons=_name)
    WORDS[f"it was {_name} all along"] = correction("home_city", _name)

cities = st.sampled_from(CITIES)
moments = st.one_of(st.none(), st.integers(1, 45))
"""Before which statement the process dies; None: it lives."""


class Died(BaseException):
    """A process that ends in the middle of a statement."""


@contextmanager
def dying(before: int | None) -> Iterator[None]:
    """Inside, the statement of that number raises instead of running, and so does what follows."""
    if before is None:
        yield
        return
    left = before
    names = ("_execute", "many", "script")
    real = {name: getattr(Runner, name) for name in names}

    def counted(name: str) -> Callable[..., Any]:
        def call(self: Runner, *args: Any) -> Any:
            nonlocal left
            left -= 1
            if left <= 0 and args != ("ROLLBACK",):  # a dead process's transaction is rolled back
                raise Died
            return real[name](self, *args)

        return call

    for name in names:
        setattr(Runner, name, counted(name))
    try:
        yield
    finally:
        for name in names:
            setattr(Runner, name, real[name])


@dataclass
class Model:
    """What should hold: values with their status, and plans by value."""

    values: list[tuple[str, FactStatus]] = field(default_factory=list)
    plans: dict[str, list[StagedStatus]] = field(default_factory=dict)

    @property
    def current(self) -> str | None:
        return next((v for v, status in self.values if status is FactStatus.CURRENT), None)

    def pending(self, value: str) -> bool:
        return StagedStatus.PENDING in self.plans.get(value, [])

    def settle(self, value: str, status: StagedStatus) -> None:
        statuses = self.plans[value]
        statuses[statuses.index(StagedStatus.PENDING)] = status

    def write(self, value: str, old: FactStatus) -> None:
        self.values = [(v, old if s is FactStatus.CURRENT else s) for v, s in self.values]
        self.values.append((value, FactStatus.CURRENT))

    def drop_rivals(self, value: str) -> None:
        for other in [v for v in self.plans if v != value and self.pending(v)]:
            self.settle(other, StagedStatus.DISCARDED)

    def promote(self, value: str) -> None:
        self.settle(value, StagedStatus.PROMOTED)
        if self.current != value:
            self.write(value, FactStatus.SUPERSEDED)
        self.drop_rivals(value)

    # what each sentence means

    def live(self, value: str) -> None:
        if self.current == value:
            return
        if self.pending(value):
            self.promote(value)
        elif self.current is None:
            self.write(value, FactStatus.SUPERSEDED)
        else:
            self.write(value, FactStatus.SUPERSEDED)
            self.drop_rivals(value)

    def might(self, value: str) -> None:
        if self.current != value and not self.pending(value):
            self.plans.setdefault(value, []).append(StagedStatus.PENDING)

    def happened(self, value: str) -> None:
        if self.pending(value):
            self.promote(value)
        else:
            self.live(value)

    def off(self, value: str) -> None:
        if self.pending(value):
            self.settle(value, StagedStatus.DISCARDED)

    def correct(self, value: str) -> None:
        if self.current == value:
            return
        if self.current is None:
            self.live(value)
        else:
            self.write(value, FactStatus.NEVER_VALID)

    def take_back(self, before: Model) -> None:
        """Everything as it was before the last message; what that brought was never so."""
        gone = [(v, FactStatus.NEVER_VALID) for v, _ in self.values[len(before.values) :]]
        self.values = [*before.values, *gone]
        for value, statuses in self.plans.items():
            held = before.plans.get(value, [])
            self.plans[value] = [*held, *[StagedStatus.REVOKED] * (len(statuses) - len(held))]

    def revoke(self) -> None:
        self.values = [
            (v, FactStatus.REVOKED if s is FactStatus.CURRENT else s) for v, s in self.values
        ]


class GateMachine(RuleBasedStateMachine):
    """One person's address, told, planned, corrected, revoked, delivered, with crashes."""

    url: str | None = None
    """Set for PostgreSQL; a file of its own otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        self._url = self.url or f"sqlite:///{folder / 'ledger.db'}"
        self._who = Subject(user_id=folder.name)
        self._shelf_path = folder / "shelf.db"
        self.model, self._turns = Model(), 0
        self._before: Model | None = None
        """The model before the last message, while that can still be taken back."""
        self._open()

    def teardown(self) -> None:
        self.gate.close()
        self._folder.cleanup()

    # --- what happens --------------------------------------------------------------------------

    @rule(city=cities, dies=moments)
    def lives(self, city: str, dies: int | None) -> None:
        self._say(f"I live in {city}", dies)
        self.model.live(city)

    @rule(city=cities, dies=moments)
    def might_move(self, city: str, dies: int | None) -> None:
        self._say(f"I might move to {city}", dies)
        self.model.might(city)

    @rule(city=cities, dies=moments)
    def moved(self, city: str, dies: int | None) -> None:
        self._say(f"the move to {city} happened", dies)
        self.model.happened(city)

    @rule(city=cities, dies=moments)
    def called_off(self, city: str, dies: int | None) -> None:
        self._say(f"the {city} move is off", dies)
        self.model.off(city)

    @rule(city=cities, dies=moments)
    def corrected(self, city: str, dies: int | None) -> None:
        self._say(f"it was {city} all along", dies)
        self.model.correct(city)

    @precondition(lambda self: self._before is not None)
    @rule(dies=moments)
    def taken_back(self, dies: int | None) -> None:
        before = self._before
        assert before is not None
        self._say("ignore my last message, wrong chat", dies)
        self.model.take_back(before)
        self._before = None

    @precondition(lambda self: self.model.current is not None)
    @rule(dies=moments)
    def revoked(self, dies: int | None) -> None:
        held = self.gate.ledger.facts(self._who, attribute="home_city", include_pending_native=True)
        fact = held[-1]
        source = [i for i in fact.derived_from if i.startswith("held_")]
        self._insist(lambda: self.gate.revocation.revoke(fact.fact_id, by="Mia"), dies)
        self.model.revoke()
        self._before = None
        for staged_id in source:
            item = self.gate.ledger.staged_item(staged_id)
            assert item is not None
            statuses = self.model.plans[item.value or ""]
            statuses[_last(statuses, StagedStatus.PROMOTED)] = StagedStatus.REVOKED

    @rule(dies=moments)
    def delivered(self, dies: int | None) -> None:
        self._insist(lambda: self.gate.deliver(subject=self._who), dies)

    # --- what always holds ---------------------------------------------------------------------

    @invariant()
    def values_are_the_models(self) -> None:
        facts = self.gate.ledger.facts(self._who, include_closed=True, include_pending_native=True)
        facts = [fact for fact in facts if fact.attribute]
        assert sorted((f.value, f.status.value) for f in facts) == sorted(
            (value, status.value) for value, status in self.model.values
        )

    @invariant()
    def plans_are_the_models(self) -> None:
        held = self.gate.ledger.staged(self._who, status=None)
        found = sorted((i.value or "", _settled(i.status).value) for i in held)
        assert found == sorted((v, s.value) for v, all_ in self.model.plans.items() for s in all_)

    @invariant()
    def intervals_of_true_values_never_overlap(self) -> None:
        facts = self.gate.ledger.facts(
            self._who, attribute="home_city", include_closed=True, include_pending_native=True
        )
        true = [f for f in facts if f.status in (FactStatus.CURRENT, FactStatus.SUPERSEDED)]
        true.sort(key=lambda f: (f.valid_from, f.valid_to is None))
        for one, after in itertools.pairwise(true):
            assert one.valid_to is not None
            assert one.valid_to <= after.valid_from

    @invariant()
    def no_plan_is_readable(self) -> None:
        shown = [fact.value for fact in self.gate.profile(self._who).facts() if fact.attribute]
        assert len(shown) <= 1
        assert set(shown) <= {value for value, _status in self.model.values}

    @invariant()
    def once_delivered_ledger_and_framework_agree(self) -> None:
        self.gate.ledger.retry_now(self.shelf.name)
        self.gate.deliver(subject=self._who)
        shown = [f.text for f in self.gate.profile(self._who).facts()]
        assert sorted(self.shelf.recall(self._who)) == sorted(shown)
        current = self.gate.profile(self._who).current("home_city")
        assert (current.value if current else None) == self.model.current
        waiting = [v for v, all_ in self.model.plans.items() if StagedStatus.PENDING in all_]
        assert sorted(self.shelf.held(self._who)) == sorted(f"lives in {v}" for v in waiting)

    # --- parts ---------------------------------------------------------------------------------

    def _open(self) -> None:
        self.gate: MemoryGate = scripted_gate(self._url, script=WORDS)
        self.shelf = Shelf(self._shelf_path, self.gate.ledger)
        self.gate.attach(self.shelf)

    def _say(self, text: str, dies: int | None) -> None:
        self._turns += 1
        self._before = deepcopy(self.model)
        turn = self.gate.turn(
            text,
            user_id=self._who.user_id,
            occurred_at=START + timedelta(days=self._turns),
            message_id=f"m{self._turns}",
        )

        def observed() -> Receipt:
            return self.gate.observe(turn, carried=False)

        first, again = self._insist(observed, dies), observed()
        assert again.replayed
        assert again.judged == first.judged

    def _insist(self, act: Callable[[], Any], dies: int | None) -> Any:
        """Does it, and after a crash with a new process, again."""
        try:
            with dying(dies):
                return act()
        except Died:
            self.gate.close()
            self._open()
            return act()


def _last(statuses: list[StagedStatus], wanted: StagedStatus) -> int:
    return len(statuses) - 1 - statuses[::-1].index(wanted)


def _settled(status: StagedStatus) -> StagedStatus:
    return StagedStatus.PROMOTED if status is StagedStatus.PROMOTING else status


def _run(machine: type[GateMachine], examples: int) -> None:
    case = machine.TestCase
    case.settings = settings(
        max_examples=examples,
        stateful_step_count=12,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    case("runTest").runTest()


@pytest.mark.slow
def test_the_ledger_means_what_the_plain_model_means_on_sqlite() -> None:
    _run(GateMachine, 25)


@pytest.mark.postgres
def test_the_ledger_means_what_the_plain_model_means_on_postgres() -> None:
    class OnPostgres(GateMachine):
        url = fresh_database()

    _run(OnPostgres, 25)
