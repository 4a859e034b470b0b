"""Keeps a worker's leases for as long as it works, however long one native write takes.

A lease (`leases`) is short, so that the events of a worker that died go on soon. Beside a worker
that lives it is renewed, well before it ends; so nobody else takes an event that is under way. Only
a process that stood still for a whole lease (frozen, or cut off from the ledger) loses it: it then
carries nothing more of its batch, and what it was writing at that moment may be written once more,
under the same native ids.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from memgate_core.errors import LedgerError
from memgate_core.ledger import leases
from memgate_core.ledger.database import Database
from memgate_core.ledger.protocol import Delivery
from memgate_core.ledger.scope import owner_of
from memgate_core.ledger.times import micros
from memgate_core.model import Subject

RENEW_S = leases.LEASE_S / 4
"""How often leases are renewed: often enough for two tries to fail."""

_log = logging.getLogger(__name__)


Lane = tuple[str, Subject]
"""A projection, and whose events go one after another."""


class Kept:
    """A batch of leased events; iterating ends early where a lease is not sure any more."""

    def __init__(self, batch: Sequence[Delivery], clock: Callable[[], datetime]) -> None:
        self._batch, self._clock, self._at = batch, clock, 0
        self.holder = leases.worker()
        self.until: dict[Lane, datetime] = {
            _lane(one): one.leased_until for one in batch if one.leased_until
        }
        """Until when each lane is surely this worker's, unless it is renewed."""

    def __iter__(self) -> Iterator[Delivery]:
        for at, delivery in enumerate(self._batch):
            self._at = at
            if not self.is_sure(_lane(delivery)):
                return
            yield delivery
        self._at = len(self._batch)

    def is_sure(self, lane: Lane) -> bool:
        """True while nobody else can have taken the lane."""
        until = self.until.get(lane)
        return until is not None and self._clock() < until

    def open(self) -> list[Lane]:
        """Lanes of what is left, the event under way included."""
        return list(dict.fromkeys(_lane(delivery) for delivery in self._batch[self._at :]))


def _lane(delivery: Delivery) -> Lane:
    return delivery.projection, delivery.event.subject


class Keeper:
    """Renews the leases of one process on one ledger, from one thread that ends when idle."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock
        self._kept: set[Kept] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def keeping(self, batch: Sequence[Delivery]) -> Iterator[Kept]:
        """The batch, kept for the calling thread; what is left of it at the end is free."""
        kept = Kept(batch, self._clock)
        self._enter(kept)
        try:
            yield kept
        finally:
            with self._changed:
                self._kept.discard(kept)
            self._release(kept)

    def close(self) -> None:
        """Ends the renewing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # --- the thread ----------------------------------------------------------------------------

    def _enter(self, kept: Kept) -> None:
        with self._changed:
            self._kept.add(kept)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._renew_all, name="memgate-leases", daemon=True
                )
                self._thread.start()

    def _renew_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait(RENEW_S)
                if self._closed or not self._kept:
                    self._thread = None
                    return
                under_way = list(self._kept)
            for kept in under_way:
                try:
                    self._renew(kept)
                except LedgerError as fault:  # the next try may do; the lease ends by itself
                    _log.warning("leases could not be renewed: %s", fault)

    def _renew(self, kept: Kept) -> None:
        """A lane whose lease had ended already is not taken back: somebody else may have it."""
        for lane in kept.open():
            if kept.is_sure(lane):
                until = leases.lease_end(self._clock())
                if self._renew_lane(kept, lane, micros(until)):
                    kept.until[lane] = until
                else:  # finished at this moment, or lost
                    kept.until.pop(lane, None)

    def _renew_lane(self, kept: Kept, lane: Lane, until: int) -> bool:
        """One lane a transaction: nothing is waited for while a row of a lane is held."""
        projection, subject = lane
        with self._database.writing(None, relaxed=True) as runner:
            return leases.renew(runner, owner_of(subject), projection, kept.holder, until)

    # --- the end -------------------------------------------------------------------------------

    def _release(self, kept: Kept) -> None:
        """Lets others have what is left at once; failing that, when the lease ends."""
        try:
            for projection, subject in kept.open():
                owner = owner_of(subject)
                with self._database.reading() as runner:
                    mine = leases.is_held(runner, owner, projection, kept.holder)
                if mine:
                    with self._database.writing(None, relaxed=True) as runner:
                        leases.release(runner, owner, projection, kept.holder)
        except LedgerError as fault:
            _log.warning("leases could not be given back: %s", fault)
