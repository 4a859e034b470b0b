"""A framework's store as the soak sees it: a file that several processes write, and that fails."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from memgate_core.model import Event, EventType, NativeLink

NAME = "soak:store"
_MAKE = (
    "CREATE TABLE IF NOT EXISTS native (id TEXT PRIMARY KEY, subject TEXT, kind TEXT, text TEXT)"
)
_PUT = "INSERT OR REPLACE INTO native VALUES (?, ?, ?, ?)"


class StoreFaultError(RuntimeError):
    """What this store raises when it fails on purpose."""


class FailingStore:
    """A `Projection` that carries events into a file, and raises for a share of its writes, before
    or after the write: both look the same to the ledger, and a second try must be harmless."""

    name = NAME

    def __init__(self, path: Path, *, failing: float, seed: int) -> None:
        self._path, self._failing = path, failing
        self._random = random.Random(seed)
        with self._open() as store:
            store.execute(_MAKE)

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Carries one event."""
        fails = self._random.random() < self._failing
        early = self._random.random() < 0.5
        if fails and early:
            raise StoreFaultError("the store is not there")
        links = self._write(event)
        if fails:
            raise StoreFaultError("the store took it and did not answer")
        return links

    def residue(self, needle: Event) -> Sequence[str]:
        """Ids that are still there of what was taken away."""
        gone = needle.fact.fact_id if needle.fact else None
        if gone is None:
            return ()
        return [f"native {gone}"] if self._has(gone) else ()

    def contents(self) -> dict[str, tuple[str, str]]:
        """What stands in the store: kind and text by id."""
        with self._open() as store:
            rows = store.execute("SELECT id, kind, text FROM native").fetchall()
        return {row[0]: (row[1], row[2]) for row in rows}

    def _write(self, event: Event) -> Sequence[NativeLink]:
        kind, fact, staged = event.event_type, event.fact, event.staged
        with self._open() as store:
            if kind is EventType.ERASED:
                store.execute("DELETE FROM native WHERE subject = ?", (str(event.subject),))
            if staged is not None:
                self._hold(store, event)
            if fact is None:
                return ()
            if kind in (EventType.COMMITTED, EventType.PROMOTED):
                store.execute(_PUT, (fact.fact_id, str(event.subject), "current", fact.text))
                link = NativeLink(projection=NAME, native_id=fact.fact_id, fact_ids=(fact.fact_id,))
                return (link,)
            store.execute("DELETE FROM native WHERE id = ?", (fact.fact_id,))
        return ()

    def _hold(self, store: sqlite3.Connection, event: Event) -> None:
        item = event.staged
        assert item is not None
        if event.event_type in (EventType.STAGED, EventType.RESTATED):
            store.execute(_PUT, (item.staged_id, str(event.subject), "staged", item.text))
        else:
            store.execute("DELETE FROM native WHERE id = ?", (item.staged_id,))

    def _has(self, native_id: str) -> bool:
        with self._open() as store:
            found = store.execute("SELECT 1 FROM native WHERE id = ?", (native_id,)).fetchone()
        return found is not None

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=30)
