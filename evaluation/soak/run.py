"""Starts workers, kills some, holds the database, checks invariants, and heals at the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
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
_LONGEST = 10


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


class Least(BaseModel):
    """What a soak must have gone through before it may end, however slow the machine is."""

    turns: int = 1
    killed: int = 0
    held_up: int = 0


def soak(
    url: str,
    folder: Path,
    *,
    seconds: float,
    workers: int,
    failing: float,
    seed: int,
    least: Least | None = None,
) -> SoakReport:
    """Runs `workers` processes on the ledger at `url` for so many seconds, and longer where `least`
    has not happened by then (ten times as long at most).

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
        crew.start(workers)
        while (lasts := time.monotonic() - started) < seconds * _LONGEST:
            if lasts >= seconds and _enough(least or Least(), counts, folder):
                break
            time.sleep(min(1.0, seconds))
            breaches += _check(ledger, source.choice(_SUBJECTS))
            breaches += crew.fallen()
            counts["checks"] += 1
            if source.random() < 0.15:
                counts["killed"] += crew.kill_one(source)
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


def _enough(least: Least, counts: Mapping[str, int], folder: Path) -> bool:
    return (
        counts["killed"] >= least.killed
        and counts["held_up"] >= least.held_up
        and invariants.acknowledged(folder) >= least.turns
    )


def _heal(ledger: Ledger, store: FailingStore) -> int:
    """Delivers everything with a store that works; returns what is left when nothing moves for
    longer than a killed worker's lease lasts (a minute)."""
    ledger.retry_parked(NAME)
    left, moved = ledger.projections()[NAME], time.monotonic()
    while left and time.monotonic() - moved < 90:
        ledger.retry_now(NAME)
        deliver(ledger, store)
        if (now := ledger.projections()[NAME]) != left:
            left, moved = now, time.monotonic()
        time.sleep(0.2)
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


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if lines else "without a word"


class _Crew:
    """The worker processes."""

    def __init__(self, url: str, folder: Path, failing: float, seed: int) -> None:
        self._url, self._folder, self._failing, self._seed = url, folder, failing, seed
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self._hired = 0

    def start(self, count: int) -> None:
        """Starts so many workers; they act until they are stopped."""
        for _ in range(count):
            self._hired += 1
            command = [
                sys.executable, "-m", "evaluation.soak.worker",
                "--url", self._url, "--folder", str(self._folder),
                "--name", f"w{self._hired}", "--seed", str(self._seed * 1000 + self._hired),
                "--failing", str(self._failing),
            ]  # fmt: skip
            log = self._folder / f"w{self._hired}.err"
            with log.open("wb") as said:
                self._running[log] = subprocess.Popen(command, stderr=said)

    def fallen(self) -> list[str]:
        """What workers said that ended by themselves, as none should; others take their place."""
        ended = [log for log, one in self._running.items() if one.poll() is not None]
        for log in ended:
            del self._running[log]
        self.start(len(ended))
        return [f"{log.stem} ended: {_last_words(log)}" for log in ended]

    def kill_one(self, source: random.Random) -> int:
        """Kills a worker without warning and starts another in its place."""
        alive = [log for log, one in self._running.items() if one.poll() is None]
        if not alive:
            return 0
        victim = self._running.pop(source.choice(alive))
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        self.start(1)
        return 1

    def stop(self) -> None:
        """Asks the workers to end after what they are doing, and kills those that do not."""
        for one in self._running.values():
            one.terminate()
        for one in self._running.values():
            try:
                one.wait(timeout=60)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
