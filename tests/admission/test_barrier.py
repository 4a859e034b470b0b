"""Two writers at one fact key, held at a barrier until both have judged (article: concurrency).

On SQLite each writer is a process with its own gate; on PostgreSQL each has its own gate and
connections. A barrier stands between judging and deciding, where the race is.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import Any, Protocol

import pytest

from memgate_core import DecisionType, Fact, MemoryGate
from memgate_core.judgement.protocol import StandingClaim
from memgate_core.ledger.open import open_ledger
from memgate_core.model import FactStatus, StandingJudgement, Subject, Turn
from tests.admission.conftest import START
from tests.support.postgres import fresh_database
from tests.support.processes import PATIENCE_S
from tests.support.scripted import FIELDS, ScriptedJudges, event, state

ROUNDS = 200
CITIES = ("Leeds", "York", "Hull", "Bath")
SCRIPT = {
    **{f"I live in {name}": state("home_city", name) for name in CITIES},
    **{f"I moved to {name}": event("home_city", name) for name in CITIES},
}
LOST = (DecisionType.CONFIRM_REPLACE, DecisionType.CONFLICT)

Outcome = tuple[int, str, str]
"""Round, value, decision."""


class Waits(Protocol):
    """A barrier of threads or of processes."""

    def wait(self, timeout: float | None = None) -> int: ...


class AtTheBarrier(ScriptedJudges):
    """Judges, and then waits for the other writers before anything is decided."""

    def __init__(self, barrier: Waits) -> None:
        super().__init__(SCRIPT)
        self._barrier = barrier

    def stand(self, turn: Turn, claims: Sequence[StandingClaim]) -> list[StandingJudgement]:
        self._barrier.wait(PATIENCE_S)
        return super().stand(turn, claims)


def write(url: str, barrier: Waits, number: int, sentence: str, rounds: int) -> list[Outcome]:
    """One writer: its own value, to a fresh key each round."""
    judges = AtTheBarrier(barrier)
    names: Any = dict.fromkeys(("classifier", "matcher", "checker", "standing", "reader"), judges)
    value = CITIES[number]
    outcomes = []
    patient = open_ledger(url, timeout_s=PATIENCE_S)
    with MemoryGate.open(url, fields=FIELDS, ledger=patient, **names) as gate:
        for n in range(rounds):
            turn = gate.turn(
                sentence.format(value),
                user_id=f"u{n}",
                occurred_at=START + timedelta(days=1),
                message_id=f"w{number}",
            )
            (judged,) = gate.observe(turn).judged
            outcomes.append((n, value, judged.decision.decision.value))
    return outcomes


Race = Callable[[str, int, int], tuple[str, list[Outcome]]]


def _processes(tmp_path: Path) -> Race:
    def race(sentence: str, writers: int, rounds: int) -> tuple[str, list[Outcome]]:
        url = f"sqlite:///{tmp_path / 'ledger.db'}"
        open_ledger(url).close()
        context = multiprocessing.get_context("spawn")
        with context.Manager() as manager, context.Pool(writers) as pool:
            barrier = manager.Barrier(writers)
            jobs = [(url, barrier, n, sentence, rounds) for n in range(writers)]
            return url, _flat(pool.starmap(write, jobs))

    return race


def _connections(_tmp_path: Path) -> Race:
    def race(sentence: str, writers: int, rounds: int) -> tuple[str, list[Outcome]]:
        url = fresh_database()
        open_ledger(url).close()
        barrier = Barrier(writers)
        with ThreadPoolExecutor(writers) as pool:
            jobs = [pool.submit(write, url, barrier, n, sentence, rounds) for n in range(writers)]
            return url, _flat(job.result() for job in jobs)

    return race


def _flat(found: Iterable[list[Outcome]]) -> list[Outcome]:
    return [outcome for outcomes in found for outcome in outcomes]


@pytest.fixture(
    params=[
        pytest.param(_processes, id="sqlite-processes", marks=pytest.mark.slow),
        pytest.param(_connections, id="postgres-connections", marks=pytest.mark.postgres),
    ]
)
def race(request: pytest.FixtureRequest, tmp_path: Path) -> Race:
    made: Race = request.param(tmp_path)
    return made


def by_round(outcomes: Iterable[Outcome]) -> dict[int, list[Outcome]]:
    rounds: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        rounds.setdefault(outcome[0], []).append(outcome)
    return rounds


def history(url: str, n: int) -> list[Fact]:
    ledger = open_ledger(url)
    try:
        subject = Subject(user_id=f"u{n}")
        return list(ledger.facts(subject, attribute="home_city", include_closed=True))
    finally:
        ledger.close()


def test_a_key_that_does_not_exist_yet_gets_one_value(race: Race) -> None:
    url, outcomes = race("I live in {}", 2, ROUNDS)
    assert len(outcomes) == 2 * ROUNDS
    lost: Counter[str] = Counter()
    for n, found in by_round(outcomes).items():
        winners = [value for _, value, decision in found if decision == DecisionType.COMMIT]
        losers = [decision for _, _, decision in found if decision != DecisionType.COMMIT]
        assert len(winners) == 1, (n, found)
        assert [DecisionType(one) in LOST for one in losers] == [True]
        lost.update(losers)
        if n % 20 == 0:
            assert [(f.value, f.status) for f in history(url, n)] == [
                (winners[0], FactStatus.CURRENT)
            ]
    assert lost.total() == ROUNDS


def test_concurrent_superseding_loses_no_update(race: Race) -> None:
    writers, rounds = 4, 50
    _url, outcomes = race("I moved to {}", writers, rounds)
    for n, found in by_round(outcomes).items():
        committed = [value for _, value, decision in found if decision == DecisionType.COMMIT]
        rest = [DecisionType(d) for _, _, d in found if d != DecisionType.COMMIT]
        assert len(committed) == 1, (n, found)
        assert all(decision in LOST for decision in rest)
        assert len(rest) == writers - 1


def test_from_a_version_that_exists_one_supersedes_and_nobody_overwrites(race: Race) -> None:
    """The same, where every key holds a value already: its end is the winner's begin."""
    url, _outcomes = race("I live in {}", 2, 40)
    held = {n: history(url, n)[0] for n in range(40)}
    again = _again(url)
    for n, found in by_round(again).items():
        facts = history(url, n)
        current = [fact for fact in facts if fact.status is FactStatus.CURRENT]
        winners = [value for _, value, decision in found if decision == DecisionType.COMMIT]
        assert len(current) == 1
        assert len(winners) <= 1
        if winners:
            assert current[0].value == winners[0]
            assert current[0].supersedes == held[n].fact_id
            assert current[0].version == held[n].version + 1
            old = next(fact for fact in facts if fact.fact_id == held[n].fact_id)
            assert (old.status, old.valid_to) == (FactStatus.SUPERSEDED, current[0].valid_from)
        else:
            assert current[0].fact_id == held[n].fact_id
    assert sum(decision == DecisionType.COMMIT for _, _, decision in again) >= 38


def _again(url: str) -> list[Outcome]:
    """Two writers with new values, at once, on the keys of the first race."""
    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(_supersede, url, barrier, n) for n in (2, 3)]
        return _flat(job.result() for job in jobs)


def _supersede(url: str, barrier: Waits, number: int) -> list[Outcome]:
    judges = AtTheBarrier(barrier)
    names: Any = dict.fromkeys(("classifier", "matcher", "checker", "standing", "reader"), judges)
    outcomes = []
    patient = open_ledger(url, timeout_s=PATIENCE_S)
    with MemoryGate.open(url, fields=FIELDS, ledger=patient, **names) as gate:
        for n in range(40):
            turn = gate.turn(
                f"I moved to {CITIES[number]}",
                user_id=f"u{n}",
                occurred_at=START + timedelta(days=9),
                message_id=f"s{number}",
            )
            found = gate.observe(turn).judged
            outcomes.append((n, CITIES[number], found[0].decision.decision.value))
    return outcomes
