"""Connections and transactions on one database, the same for every backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import PoolProxiedConnection

from memgate_core.errors import LedgerBusyError, LedgerError, MemgateError
from memgate_core.ledger.backend import Backend
from memgate_core.ledger.runner import Prepared, Runner


class _Mine(threading.local):
    """The transaction that this thread has open, if any."""

    writer: Runner | None = None


class Database:
    """Lends runners to reads and to write transactions. Safe to share between threads."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._prepared = Prepared.of(backend.engine.dialect)
        self._mine = _Mine()
        self._open = True

    @contextmanager
    def reading(self) -> Iterator[Runner]:
        """A runner for reads. Inside a write transaction of this thread it is that transaction's
        own, so that reads see what was just written.

        Raises:
            LedgerError: the database cannot be read.
        """
        if self._mine.writer is not None:
            yield self._mine.writer
            return
        with self.backend.reader(), self._connected() as runner:
            yield runner

    @contextmanager
    def writing(self, lock: str | None, *, relaxed: bool = False) -> Iterator[Runner]:
        """A runner inside a transaction: commits at the end, rolls back on any exception.

        Transactions on the same `lock` follow each other; None excludes nobody that the rows
        written do not exclude.

        Raises:
            LedgerBusyError: the lock was not had in time. LedgerError: anything else.
        """
        if self._mine.writer is not None:
            raise LedgerError("a write transaction inside a write transaction of the same thread")
        turn, connected = self.backend.writer(), self._connected()
        with turn, connected as runner, self._transaction(runner, lock, relaxed):
            yield runner

    @property
    def in_write(self) -> bool:
        """True inside a write transaction of the calling thread."""
        return self._mine.writer is not None

    @contextmanager
    def _transaction(self, runner: Runner, lock: str | None, relaxed: bool) -> Iterator[None]:
        self._mine.writer = runner
        try:
            self.backend.begin(runner, lock, relaxed=relaxed)
            yield
            runner.script("COMMIT")
        except BaseException:
            _roll_back(runner)
            raise
        finally:
            self._mine.writer = None
            _quietly(lambda: self.backend.ended(runner, relaxed=relaxed))

    @contextmanager
    def _connected(self) -> Iterator[Runner]:
        connection = self._connect()
        try:
            cursor = connection.cursor()
            try:
                yield Runner(cursor, self._prepared, self._wrap)
            finally:
                cursor.close()
        finally:
            if self.backend.is_lost(connection.dbapi_connection):
                connection.invalidate()
                self.backend.engine.dispose()  # its idle siblings are as dead
            else:
                connection.close()

    def _connect(self) -> PoolProxiedConnection:
        if not self._open:
            raise LedgerError("the ledger is closed")
        try:
            return self.backend.engine.raw_connection()
        except MemgateError:
            raise
        except Exception as fault:
            raise self._wrap(fault) from fault

    def _wrap(self, fault: Exception) -> LedgerError:
        cause = fault.orig if isinstance(fault, DBAPIError) and fault.orig else fault
        if isinstance(cause, LedgerError):
            return cause
        if isinstance(cause, PoolTimeoutError) or self.backend.is_busy(cause):
            return LedgerBusyError(
                f"the ledger stayed locked for {self.backend.timeout_s:g} s",
                hint="nothing was written; the same call may be retried",
            )
        return LedgerError(
            f"the ledger's database failed: {type(cause).__name__}: {_first_line(cause)}",
            hint="nothing was written",
        )

    def close(self) -> None:
        """Closes every idle connection; later calls raise."""
        self._open = False
        self.backend.engine.dispose()


def _roll_back(runner: Runner) -> None:
    _quietly(lambda: runner.script("ROLLBACK"))


def _quietly(step: Callable[[], None]) -> None:
    """Runs a step whose own failure must not hide the one that led to it."""
    try:
        step()
    except LedgerError:
        return


def _first_line(fault: BaseException) -> str:
    return next(iter(str(fault).splitlines()), "")
