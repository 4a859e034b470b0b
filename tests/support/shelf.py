"""A small framework store of its own: a SQLite file that a projection writes, durable and idempotent.

Enough to prove delivery: what stands on the shelf is what a reader of the framework sees.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Event, EventType, FactStatus, NativeLink, StagedStatus


class Shelf:
    """Facts and held items as rows; implements `Projection`."""

    def __init__(self, path: Path | str, ledger: Ledger, name: str = "shelf") -> None:
        self.name = name
        self._path, self._ledger = str(path), ledger
        self.leaves_residue = self.fails = False
        with self._open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS fact (id TEXT PRIMARY KEY, who TEXT, text TEXT)")
            db.execute("CREATE TABLE IF NOT EXISTS held (id TEXT PRIMARY KEY, who TEXT, text TEXT)")

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Brings the shelf in step with what the ledger says now of what the event names."""
        if self.fails:
            raise ConnectionError("the shelf is not there")
        if event.event_type is EventType.ERASED:
            self._drop_all(str(event.subject))
            return ()
        if event.staged is not None:
            self._hold(event)
        return self._keep(event) if event.fact is not None else ()

    def residue(self, needle: Event) -> Sequence[str]:
        """Rows that should be gone."""
        ids = [part.fact_id for part in (needle.fact,) if part]
        ids += [part.staged_id for part in (needle.staged,) if part]
        if needle.event_type is EventType.ERASED:
            return [f"row {number}" for number in self._ids(str(needle.subject))]
        return [f"row {found}" for found in ids if found in self._ids(str(needle.subject))]

    def recall(self, who: object) -> list[str]:
        """What a reader finds."""
        with self._open() as db:
            rows = db.execute("SELECT text FROM fact WHERE who = ? ORDER BY text", (str(who),))
            return [text for (text,) in rows]

    def held(self, who: object) -> list[str]:
        """What stands in the staging place."""
        with self._open() as db:
            rows = db.execute("SELECT text FROM held WHERE who = ? ORDER BY text", (str(who),))
            return [text for (text,) in rows]

    def _hold(self, event: Event) -> None:
        assert event.staged is not None
        item = self._ledger.staged_item(event.staged.staged_id) or event.staged
        with self._open() as db:
            db.execute("DELETE FROM held WHERE id = ?", (item.staged_id,))
            if item.status is StagedStatus.PENDING:
                row = (item.staged_id, str(event.subject), item.text)
                db.execute("INSERT INTO held VALUES (?, ?, ?)", row)

    def _keep(self, event: Event) -> Sequence[NativeLink]:
        assert event.fact is not None
        fact = self._ledger.fact(event.fact.fact_id) or event.fact
        holds = fact.status is FactStatus.CURRENT
        with self._open() as db:
            if holds or not self.leaves_residue:
                db.execute("DELETE FROM fact WHERE id = ?", (fact.fact_id,))
            if holds:
                row = (fact.fact_id, str(event.subject), fact.text)
                db.execute("INSERT INTO fact VALUES (?, ?, ?)", row)
        if not holds:
            return ()
        return [
            NativeLink(
                projection=self.name,
                native_id=fact.fact_id,
                fact_ids=(fact.fact_id,),
                message_id=fact.evidence.message_id,
                text=fact.text,
            )
        ]

    def _drop_all(self, who: str) -> None:
        with self._open() as db:
            for table in ("fact", "held"):
                db.execute(f"DELETE FROM {table} WHERE who = ?", (who,))

    def _ids(self, who: str) -> list[str]:
        with self._open() as db:
            rows = [*db.execute("SELECT id FROM fact WHERE who = ?", (who,))]
            rows += db.execute("SELECT id FROM held WHERE who = ?", (who,))
            return [found for (found,) in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=30)) as db, db:
            db.execute("PRAGMA synchronous = OFF")  # what a killed process wrote is written
            yield db
