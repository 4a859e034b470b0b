"""One process of the soak: it talks, reviews, revokes and delivers until it is stopped or killed.

Every turn that was acknowledged is noted in a file of its own, so that nothing can be lost unseen.
"""

from __future__ import annotations

import argparse
import logging
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evaluation.soak.store import FailingStore
from memgate_core import MemoryGate, Subject
from memgate_core.errors import LedgerBusyError, LedgerError, NotAllowedError, NotFoundError
from memgate_core.fields.catalogue import FieldCatalogue
from memgate_core.model import StagedStatus

TENANT = "soak"
USERS = tuple(f"user-{number}" for number in range(6))
_PLACES = ("Leeds", "York", "Hull", "Bath", "Derby", "Ely", "Truro", "Wells")
_FIRMS = ("Acme", "Initech", "Harrow Freight", "Bluebird Bakery", "Oakline", "Northgate")
_SAID = (
    "I live in {place}.",
    "I might move to {place} in spring.",
    "I'm thinking about moving to {place}, nothing is decided.",
    "I moved to {place} last week.",
    "The move to {place} is off.",
    "I work at {firm}.",
    "I may join {firm} next year.",
    "I started at {firm} on Monday.",
    "I decided against {firm}.",
    "Actually I never lived in {place}, that was my brother.",
    "Thanks, that helps.",
    "Could you look up the trains to {place}?",
    "I like tea and I might get a kettle.",
)
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def main() -> int:
    """Runs until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--failing", type=float, default=0.2)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    store = FailingStore(
        options.folder / "store.db", failing=options.failing, seed=options.seed + 1
    )
    fields = FieldCatalogue.default().only(("home_city", "employer"))
    with MemoryGate.open(options.url, fields=fields) as gate:
        gate.attach(store)
        Worker(gate, options.name, options.seed, options.folder).run()
    return 0


class Worker:
    """Does one thing after another, at random."""

    def __init__(self, gate: MemoryGate, name: str, seed: int, folder: Path) -> None:
        self._gate, self._name = gate, name
        self._random = random.Random(seed)
        self._said, self._stopped = 0, False
        self._noted = (folder / f"acknowledged-{name}.txt").open("a", buffering=1)

    def run(self) -> None:
        """Acts until SIGTERM; a busy ledger is tried again, as any caller would."""
        signal.signal(signal.SIGTERM, self._stop)
        acts: tuple[tuple[Callable[[], None], int], ...] = (
            (self._say, 12),
            (self._deliver, 4),
            (self._settle, 1),
            (self._revoke, 1),
        )
        choices, weights = zip(*acts, strict=True)
        while not self._stopped:
            act = self._random.choices(choices, weights)[0]
            try:
                act()
            except (LedgerBusyError, NotAllowedError, NotFoundError):
                continue  # somebody else was first, or holds the ledger: what a caller retries
            except LedgerError:
                time.sleep(0.05)

    def _stop(self, *_: object) -> None:
        self._stopped = True

    def _subject(self) -> Subject:
        return Subject(tenant=TENANT, user_id=self._random.choice(USERS))

    def _say(self) -> None:
        subject, self._said = self._subject(), self._said + 1
        message_id = f"{self._name}-{self._said}"
        text = self._random.choice(_SAID).format(
            place=self._random.choice(_PLACES), firm=self._random.choice(_FIRMS)
        )
        turn = self._gate.turn(
            text,
            user_id=subject.user_id,
            tenant=TENANT,
            message_id=message_id,
            occurred_at=_START + timedelta(seconds=time.time() - _EPOCH),
        )
        for _ in range(20):
            try:
                self._gate.observe(turn)
                break
            except LedgerBusyError:
                time.sleep(0.05)
        else:
            return
        if self._random.random() < 0.1:
            self._gate.observe(turn)  # a repeated webhook
        self._noted.write(f"{subject.user_id}\t{message_id}\n")

    def _deliver(self) -> None:
        self._gate.deliver()

    def _settle(self) -> None:
        held = self._gate.ledger.staged(self._subject(), status=StagedStatus.PENDING)
        if not held:
            return
        item = self._random.choice(held)
        if item.held_as.asks:
            return
        if self._random.random() < 0.5:
            self._gate.review.confirm(item.staged_id, by="rita")
        else:
            self._gate.review.discard(item.staged_id, by="rita")

    def _revoke(self) -> None:
        facts = self._gate.ledger.facts(self._subject())
        if facts:
            self._gate.revocation.revoke(self._random.choice(facts).fact_id, by="rita")


_EPOCH = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

if __name__ == "__main__":
    sys.exit(main())
