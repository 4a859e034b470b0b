"""Connections and transactions on one database, the same for every backend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import TracebackType

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

    def reading(self) -> AbstractContextManager[Runner]:
        """A runner for reads. Inside a write transaction of this thread it is that transaction's
        own, so that reads see what was just written.

        Raises (on entering):
            LedgerError: the database cannot be read.
        """
        writer = self._mine.writer
        return _Borrowed(self, self.backend.reader()) if writer is None else nullcontext(writer)

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
        with (
            _Borrowed(self, self.backend.writer()) as runner,
            self._transaction(runner, lock, relaxed),
        ):
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

    def lend(self) -> tuple[PoolProxiedConnection, Runner]:
        """A connection with a runner on it, to be handed to `take_back`.

        Raises:
            LedgerError: closed, or no connection was to be had.
        """
        connection = self._connect()
        try:
            return connection, Runner(connection.cursor(), self._prepared, self._wrap)
        except BaseException:
            self.take_back(connection)
            raise

    def take_back(self, connection: PoolProxiedConnection) -> None:
        """Puts a connection back into the pool, or out of use where it is lost."""
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


class _Borrowed:
    """A runner, lent for the length of a block, once the backend says whose turn it is.

    A plain object and no generator: a turn borrows several times, and an adapter's delivery dozens.
    """

    __slots__ = ("_connection", "_database", "_runner", "_turn")

    def __init__(self, database: Database, turn: AbstractContextManager[None]) -> None:
        self._database, self._turn = database, turn

    def __enter__(self) -> Runner:
        self._turn.__enter__()
        try:
            self._connection, self._runner = self._database.lend()
        except BaseException as fault:
            self._turn.__exit__(type(fault), fault, fault.__traceback__)
            raise
        return self._runner

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            try:
                self._runner.close()
            finally:
                self._database.take_back(self._connection)
        finally:
            self._turn.__exit__(kind, fault, trace)


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
