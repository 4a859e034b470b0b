"""Starts workers, kills some, holds the database, checks invariants, and heals at the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy import create_engine, text

from evaluation.soak import invariants
from evaluation.soak.store import NAME, FailingStore
from evaluation.soak.worker import TENANT, USERS
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Subject
from memgate_core.projection import deliver

_SUBJECTS = [Subject(tenant=TENANT, user_id=user) for user in USERS]
_MOST_BREACHES = 50


class SoakReport(BaseModel):
    """What a soak went through, and every breach it found."""

    seconds: float
    turns: int
    facts: int
    held: int
    killed: int
    held_up: int
    """Times that the database was locked from outside."""
    checks: int
    undelivered: int
    breaches: list[str]


def soak(
    url: str, folder: Path, *, seconds: float, workers: int, failing: float, seed: int
) -> SoakReport:
    """Runs `workers` processes on the ledger at `url` for so many seconds.

    Workers are killed without warning and started again, the database is held for a moment, the
    store fails for a share of its writes. At the end everything is delivered with a store that
    works, and ledger and store are compared.
    """
    source = random.Random(seed)
    store = FailingStore(folder / "store.db", failing=0.0, seed=seed)
    ledger = open_ledger(url)
    ledger.register(NAME)
    crew = _Crew(url, folder, failing, seed)
    counts = {"killed": 0, "held_up": 0, "checks": 0}
    breaches: list[str] = []
    started = time.monotonic()
    try:
        crew.start(workers, seconds)
        while (left := seconds - (time.monotonic() - started)) > 0:
            time.sleep(min(1.0, left))
            breaches += _check(ledger, source.choice(_SUBJECTS))
            counts["checks"] += 1
            if source.random() < 0.15:
                counts["killed"] += crew.kill_one(source, left)
            if source.random() < 0.15:
                counts["held_up"] += _hold_up(url, 0.3)
    finally:
        crew.stop()
    left = _heal(ledger, store)
    for subject in _SUBJECTS:
        breaches += _check(ledger, subject)
    breaches += invariants.delivered(ledger, _SUBJECTS, store.contents())
    breaches += invariants.nothing_lost(ledger, folder, TENANT)
    report = SoakReport(
        seconds=round(time.monotonic() - started, 1),
        turns=sum(1 for subject in _SUBJECTS for _ in ledger.turns(subject)),
        facts=sum(len(ledger.facts(subject, include_closed=True)) for subject in _SUBJECTS),
        held=sum(ledger.pending_count(subject) for subject in _SUBJECTS),
        undelivered=left,
        breaches=list(dict.fromkeys(breaches))[:_MOST_BREACHES],
        **counts,
    )
    ledger.close()
    return report


def _check(ledger: Ledger, subject: Subject) -> list[str]:
    """Breaches that two looks agree on: between the reads of one look others may write."""
    first = set(invariants.always(ledger, subject))
    return sorted(first & set(invariants.always(ledger, subject))) if first else []


def _heal(ledger: Ledger, store: FailingStore) -> int:
    """Delivers everything with a store that works; returns what is left."""
    ledger.retry_parked(NAME)
    ends = time.monotonic() + 90  # a killed worker's lease runs out after a minute
    while time.monotonic() < ends:
        ledger.retry_now(NAME)
        deliver(ledger, store)
        if not (left := ledger.projections()[NAME]):
            return 0
        time.sleep(0.5)
    return left


@contextmanager
def _transaction(url: str) -> Iterator[None]:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                connection.execute(text("BEGIN IMMEDIATE"))
            else:
                connection.execute(text("LOCK TABLE memgate_turn IN EXCLUSIVE MODE"))
            yield
            connection.rollback()
    finally:
        engine.dispose()


def _hold_up(url: str, seconds: float) -> int:
    """Locks the ledger from outside for a moment."""
    with _transaction(url):
        time.sleep(seconds)
    return 1


class _Crew:
    """The worker processes."""

    def __init__(self, url: str, folder: Path, failing: float, seed: int) -> None:
        self._url, self._folder, self._failing, self._seed = url, folder, failing, seed
        self._running: list[subprocess.Popen[bytes]] = []
        self._hired = 0

    def start(self, count: int, seconds: float) -> None:
        """Starts so many workers."""
        for _ in range(count):
            self._hired += 1
            command = [
                sys.executable, "-m", "evaluation.soak.worker",
                "--url", self._url, "--folder", str(self._folder),
                "--name", f"w{self._hired}", "--seed", str(self._seed * 1000 + self._hired),
                "--seconds", str(seconds), "--failing", str(self._failing),
            ]  # fmt: skip
            self._running.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))

    def kill_one(self, source: random.Random, left: float) -> int:
        """Kills a worker without warning and starts another in its place."""
        alive = [one for one in self._running if one.poll() is None]
        if not alive:
            return 0
        victim = source.choice(alive)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        self.start(1, left)
        return 1

    def stop(self) -> None:
        """Waits for the workers to end by themselves, and kills those that do not."""
        for one in self._running:
            try:
                one.wait(timeout=30)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
