"""The ledger on SQL databases: transactions, delivery and operation, the same for every backend."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime

from memgate_core.errors import LedgerError, NotFoundError
from memgate_core.ledger import deliveries, events, leases, measures, native_links, subjects
from memgate_core.ledger.database import Database
from memgate_core.ledger.deliveries import Outcome
from memgate_core.ledger.keeping import Keeper, Kept
from memgate_core.ledger.protocol import Delivery
from memgate_core.ledger.records import Rollout
from memgate_core.ledger.runner import Runner
from memgate_core.ledger.scope import Owner, owner_of
from memgate_core.ledger.sql_reads import SqlReads
from memgate_core.ledger.times import micros, utc_now
from memgate_core.ledger.transaction import SqlTransaction, note_conflict
from memgate_core.model import JsonObject, NativeLink, Subject

_KNOWN_SUBJECTS = 100_000

_log = logging.getLogger(__name__)


class SqlLedger(SqlReads):
    """See `Ledger`. Opened by `memgate_core.ledger.open.open_ledger`.

    `clock` gives record time and the times of delivery (waits and leases), nothing else.
    """

    def __init__(
        self, database: Database, url: str, clock: Callable[[], datetime] = utc_now
    ) -> None:
        super().__init__(database, url, clock)
        self._introduced: set[str] = set()
        self._keeper = Keeper(database, clock)
        self._free_the_dead()

    # --- transactions --------------------------------------------------------------------------

    @contextmanager
    def write(self, subject: Subject, *, relaxed: bool = False) -> Iterator[SqlTransaction]:
        owner = owner_of(subject)
        tx: SqlTransaction | None = None
        try:
            with self._database.writing(owner.lock, relaxed=relaxed) as runner:
                self._introduce(runner, owner)
                tx = SqlTransaction(runner, owner, self._clock())
                yield tx
                tx.finish()
        except BaseException:
            if tx is not None and tx.conflicts:
                self._note_conflicts(owner, tx)
            raise
        self._remember(owner)
        if tx is not None and tx.erased:
            self._scrub()

    # --- delivery ------------------------------------------------------------------------------

    def register(self, projection: str) -> None:
        now = micros(self._clock())
        with self._database.writing(None) as runner:
            events.register(runner, projection, now)

    def unregister(self, projection: str) -> int:
        with self._database.writing(None) as runner:
            events.deactivate(runner, projection)
        with self._database.reading() as runner, self._database.backend.fence(runner):
            waiting = deliveries.subjects_with_undelivered(runner, projection)
        void = 0
        for subject in waiting:
            owner = owner_of(subject)
            with self._database.writing(owner.lock) as runner:
                void += deliveries.withdraw(runner, owner, projection, micros(self._clock()))
        return void

    def due(
        self, projection: str, *, subject: Subject | None = None, limit: int = 100
    ) -> Sequence[Delivery]:
        owner = None if subject is None else owner_of(subject)
        now = micros(self._clock())
        with self._database.reading() as runner:
            if limit <= 0 or not leases.has_work(runner, owner, projection, now):
                return ()
        lock = None if owner is None else owner.lock
        with self._database.writing(lock, relaxed=True) as runner:
            return leases.take(runner, owner, projection, now, limit)

    def keeping(self, batch: Sequence[Delivery]) -> AbstractContextManager[Kept]:
        return self._keeper.keeping(batch)

    def acknowledge(self, delivery: Delivery, links: Sequence[NativeLink] = ()) -> None:
        event = delivery.event
        owner = owner_of(event.subject)
        with self._database.writing(owner.lock, relaxed=True) as runner:
            before = _require_outcome(runner, owner, delivery)
            for link in links:
                native_links.save(runner, owner, link if before.status != "VOID" else _bare(link))
            if before.status in ("DONE", "VOID"):
                events.new_head(runner, owner, delivery.projection, event.seq)
                return
            deliveries.done(runner, owner, delivery, before, micros(self._clock()))
            deliveries.settle_if_delivered(runner, owner, event)

    def fail(self, delivery: Delivery, error: str, *, park_after: int = 8) -> None:
        owner = owner_of(delivery.event.subject)
        now = micros(self._clock())
        with self._database.writing(owner.lock, relaxed=True) as runner:
            before = _require_outcome(runner, owner, delivery)
            if before.status == "DUE":
                deliveries.failed(
                    runner, owner, delivery, before, error=error, park_after=park_after, now=now
                )

    def retry_parked(self, projection: str) -> int:
        with self._database.reading() as runner:
            waiting = deliveries.subjects_with_parked(runner, projection)
        count = 0
        for subject in waiting:
            owner = owner_of(subject)
            with self._database.writing(owner.lock) as runner:
                count += deliveries.unpark(runner, owner, projection)
        return count

    def retry_now(self, projection: str) -> int:
        with self._database.writing(None, relaxed=True) as runner:
            return deliveries.end_waits(runner, projection, micros(self._clock()))

    # --- operation -----------------------------------------------------------------------------

    def count(self, name: str, policy_version: str = "", by: int = 1) -> None:
        with self._database.writing(None, relaxed=True) as runner:
            measures.count(runner, name, {(name, policy_version): by})

    def set_rollout(self, state: Rollout) -> Rollout:
        now = micros(self._clock())
        with self._database.writing("rollout") as runner:
            moved = measures.set_rollout(runner, state)
            detail = {"mode": moved.mode, "tripped": moved.tripped, "revision": moved.revision}
            measures.note(runner, None, now, "rollout", moved.mode, moved.changed_by, detail)
        return moved

    def audit(
        self,
        action: str,
        target: str,
        *,
        by: str,
        subject: Subject | None = None,
        detail: JsonObject | None = None,
    ) -> None:
        owner = None if subject is None else owner_of(subject)
        with self._database.writing(None) as runner:
            measures.note(runner, owner, micros(self._clock()), action, target, by, detail)

    def close(self) -> None:
        self._keeper.close()
        self._database.close()

    # --- parts ---------------------------------------------------------------------------------

    def _introduce(self, runner: Runner, owner: Owner) -> None:
        if owner.lock not in self._introduced:
            subjects.introduce(runner, owner, micros(self._clock()))

    def _remember(self, owner: Owner) -> None:
        if len(self._introduced) >= _KNOWN_SUBJECTS:
            self._introduced.clear()
        self._introduced.add(owner.lock)

    def _note_conflicts(self, owner: Owner, tx: SqlTransaction) -> None:
        """A conflict stays visible although its transaction was rolled back."""
        try:
            with self._database.writing(owner.lock) as runner:
                for proposal_id, version in tx.conflicts:
                    note_conflict(runner, owner, proposal_id, version, micros(self._clock()))
        except LedgerError as fault:
            _log.warning("a protocol conflict could not be recorded: %s", fault)

    def _scrub(self) -> None:
        try:
            with self._database.reading() as runner:
                self._database.backend.scrub(runner)
        except LedgerError as fault:
            _log.warning("erased, but the database still holds old pages: %s", fault)

    def _free_the_dead(self) -> None:
        with self._database.reading() as runner:
            dead = leases.dead_workers(runner)
        if dead:
            with self._database.writing(None, relaxed=True) as runner:
                leases.free(runner, dead)


def _require_outcome(runner: Runner, owner: Owner, delivery: Delivery) -> Outcome:
    seq = delivery.event.seq
    found = deliveries.outcome(runner, owner, delivery.projection, seq)
    if found is None:
        raise NotFoundError(f"event {seq} was never due for {delivery.projection}")
    return found


def _bare(link: NativeLink) -> NativeLink:
    """The link without its text: its subject was erased while the event was on its way."""
    return link.model_copy(update={"text": None})
