"""What differs between the databases a ledger can stand on; everything else is shared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock, RLock
from typing import Any, ClassVar

from sqlalchemy import Engine
from sqlalchemy.sql import ClauseElement

from memgate_core.errors import LedgerBusyError
from memgate_core.ledger.runner import Runner

READER = nullcontext()


class Backend(ABC):
    """One database's ways: how to begin, to wait, to tell a busy database from a broken one."""

    engine: Engine
    timeout_s: float
    words: ClassVar[dict[str, str]]
    """What the placeholders of the migration files stand for."""
    term_hits: ClassVar[ClauseElement]
    """(term, staged_no) of the newest `cap` pending items of each of `terms` (a JSON array)."""
    table_exists: ClassVar[ClauseElement]
    """A row when the table `name` is there."""

    @abstractmethod
    def begin(self, runner: Runner, lock: str | None, *, relaxed: bool) -> None:
        """Begins a write transaction that excludes every other one on the same `lock`, if any.

        `relaxed` ones may be undone by a power cut (never by a crash of the process): delivery
        bookkeeping, where losing an acknowledgement only means a second, harmless delivery, and
        turns whose caller commits again before it acts on them.
        """

    @abstractmethod
    def ended(self, runner: Runner, *, relaxed: bool) -> None:
        """Called after commit or rollback, to undo what `begin` set on the connection."""

    @abstractmethod
    def fence(self, runner: Runner) -> AbstractContextManager[None]:
        """A stretch in which every event with a lower number than those visible is visible too."""

    @abstractmethod
    def is_busy(self, fault: BaseException) -> bool:
        """True when the same call may succeed later: a lock was waited for in vain."""

    @abstractmethod
    def is_lost(self, connection: Any) -> bool:
        """True when a driver connection is of no use any more."""

    @abstractmethod
    def scrub(self, runner: Runner) -> None:
        """After an erasure: removes what the database keeps of deleted rows, as far as it can."""

    def writer(self) -> AbstractContextManager[None]:
        """In-process turn-taking of writers, fairer than waiting on the database's own lock."""
        return READER

    def reader(self) -> AbstractContextManager[None]:
        """In-process turn-taking of readers, where one connection serves all."""
        return READER


@contextmanager
def waiting_for(lock: Lock | RLock, timeout_s: float) -> Iterator[None]:
    """Holds an in-process lock.

    Raises:
        LedgerBusyError: it was not free within the timeout.
    """
    if not lock.acquire(timeout=timeout_s):
        raise LedgerBusyError(f"another thread wrote for longer than {timeout_s:g} s")
    try:
        yield
    finally:
        lock.release()
