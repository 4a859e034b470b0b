"""The ledger on SQLite: one file that many processes of one machine share, or memory."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from sqlalchemy import URL, StaticPool, create_engine, event, text

from memgate_core.errors import LedgerError
from memgate_core.ledger.backend import Backend, waiting_for
from memgate_core.ledger.runner import Runner

_BUSY, _LOCKED = 5, 6  # SQLite's primary result codes

_TERM_HITS = """
    SELECT t.term, t.staged_no
    FROM json_each(:terms) AS asked
    CROSS JOIN memgate_staged_term AS t  -- keeps this order: from terms to their items
      ON t.tenant = :tenant AND t.subject_id = :subject_id AND t.term = asked.value
     AND t.staged_no IN (
        SELECT newest.staged_no FROM memgate_staged_term AS newest
        WHERE newest.tenant = :tenant AND newest.subject_id = :subject_id
          AND newest.term = asked.value
        ORDER BY newest.staged_no DESC LIMIT :cap)
"""


class SqliteBackend(Backend):
    """WAL for readers beside a writer, full durability, deleted words overwritten."""

    words: ClassVar[dict[str, str]] = {
        "serial": "INTEGER NOT NULL PRIMARY KEY",
        "keyed": "WITHOUT ROWID",
    }
    term_hits = text(_TERM_HITS)
    table_exists = text("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = :name")

    def __init__(self, url: URL, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._in_memory = url.database in (None, "", ":memory:")
        self._turnstile = threading.RLock()
        pool: dict[str, Any] = {"poolclass": StaticPool} if self._in_memory else _POOL
        self.engine = create_engine(
            url,
            connect_args={
                "check_same_thread": False,
                "isolation_level": None,
                "timeout": timeout_s,
            },
            pool_reset_on_return=None,
            **pool,
        )
        event.listen(self.engine, "connect", self._prepare)

    def begin(self, runner: Runner, lock: str | None, *, relaxed: bool) -> None:  # noqa: ARG002
        """One writer a file: `BEGIN IMMEDIATE` excludes more than `lock` asks for."""
        if relaxed:
            runner.script("PRAGMA synchronous = NORMAL")
        runner.script("BEGIN IMMEDIATE")

    def ended(self, runner: Runner, *, relaxed: bool) -> None:
        """Full durability again."""
        if relaxed:
            runner.script("PRAGMA synchronous = FULL")

    def fence(self, runner: Runner) -> AbstractContextManager[None]:  # noqa: ARG002
        """Nothing to do: one writer at a time numbers events in commit order."""
        return contextlib.nullcontext()

    def is_busy(self, fault: BaseException) -> bool:
        """SQLITE_BUSY and SQLITE_LOCKED."""
        return isinstance(fault, sqlite3.Error) and _code(fault) in (_BUSY, _LOCKED)

    def is_lost(self, connection: Any) -> bool:  # noqa: ARG002
        """A file does not go away."""
        return False

    def scrub(self, runner: Runner) -> None:
        """Empties the write-ahead log; `secure_delete` has overwritten the words in the file."""
        if not self._in_memory:
            runner.script("PRAGMA wal_checkpoint(TRUNCATE)")

    def writer(self) -> AbstractContextManager[None]:
        """Threads queue here instead of polling the file's lock."""
        return waiting_for(self._turnstile, self.timeout_s)

    def reader(self) -> AbstractContextManager[None]:
        """In memory there is one connection, and readers wait for the writer."""
        return self.writer() if self._in_memory else super().reader()

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        if not self._in_memory:
            _use_wal(connection, self.timeout_s)


_POOL: dict[str, Any] = {"pool_size": 8, "max_overflow": 56, "pool_timeout": 30}


def _use_wal(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Switches to the write-ahead log. Two processes that open a new file at once collide here,
    and SQLite then gives up at once instead of waiting."""
    for _ in _until(timeout_s):
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
        except sqlite3.OperationalError as fault:
            if _code(fault) not in (_BUSY, _LOCKED):
                raise
    raise LedgerError("the file cannot use a write-ahead log", hint="is it on a network drive?")


def _until(timeout_s: float) -> Iterator[None]:
    deadline = time.monotonic() + timeout_s
    while True:
        yield
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def _code(fault: sqlite3.Error) -> int:
    return getattr(fault, "sqlite_errorcode", 0) & 0xFF
