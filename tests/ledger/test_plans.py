"""No statement of a turn or a delivery reads a whole table: costs do not grow with what is kept.

Asked of SQLite's planner, so that no clock takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memgate_core.ledger.runner import Prepared
from memgate_core.ledger.sql_ledger import SqlLedger
from memgate_core.ledger.terms import terms_of
from memgate_core.model import EventType, NativeLink
from tests.support.build import (
    ANA,
    day,
    make_fact,
    make_key,
    make_proposal,
    make_receipt,
    make_staged,
    make_turn,
)
from tests.support.ledgers import (
    FILE,
    commit,
    deliver_all,
    discard,
    fresh_url,
    hold,
    opened,
    promote,
)

SMALL = {
    "asked",  # the turn's own terms
    "memgate_projection",
    "memgate_outbox_stuck",  # an index of what waits behind that
    "memgate_outbox_parked",  # an index of what waits for a person
    "memgate_staged_oldest",  # an index, read to its first entry
    "sqlite_master",
}
"""What may be read from one end to the other."""


@pytest.fixture
def used(tmp_path: Path) -> Iterator[SqlLedger]:
    """A ledger that took turns of every kind and delivered them."""
    with opened(fresh_url(FILE, tmp_path)) as ledger:
        database = ledger._database  # statements of its own: those are what the test looks at
        database._prepared = Prepared(database.backend.engine.dialect)
        ledger.register("p")
        _take_a_turn(ledger)
        _deliver(ledger)
        _read(ledger)
        yield ledger


def _take_a_turn(ledger: SqlLedger) -> None:
    turn = make_turn()
    with ledger.write(ANA) as tx:
        assert tx.turn("m1") is None
        tx.save_proposal(make_proposal())
        tx.save_proposal(make_proposal())
        tx.save_turn(turn, turn.text, make_receipt(turn))
        tx.save_answer("m1", {})
        tx.count("turns", "p1")
        tx.audit("note", "m1", by="test")
    commit(ledger, make_fact("Leeds"))
    promote(ledger, hold(ledger, make_staged("Oslo", "m2")), make_fact("Oslo", "m3"))
    discard(ledger, hold(ledger, make_staged("Bath", "m4")))
    commit(ledger, make_fact("Lyon", "m5"))


def _deliver(ledger: SqlLedger) -> None:
    (first, *_) = ledger.due("p", subject=ANA)
    ledger.fail(first, "StoreError", park_after=1)
    ledger.parked("p")
    ledger.retry_parked("p")
    ledger.retry_now("p")
    deliver_all(ledger, "p", lambda event: [NativeLink(projection="p", native_id=str(event.seq))])
    hold(ledger, make_staged("Rome", "m6", key=make_key("other")))
    ledger.due("p")
    ledger.register("q")
    hold(ledger, make_staged("York", "m7", key=make_key("another")))
    ledger.unregister("q")


def _read(ledger: SqlLedger) -> None:
    key = make_key()
    ledger.turn(ANA, "m1")
    ledger.recent_turns(ANA, before=day(1))
    ledger.recent_turns(ANA, before=day(1), session="s")
    ledger.previous_turn(ANA, before=day(1))
    ledger.previous_turn(ANA, before=day(1), session="s")
    ledger.evidence_words(ANA, make_fact().evidence)
    ledger.current(ANA, key)
    ledger.facts(ANA)
    ledger.facts(ANA, as_of=day(1), attribute="home_city")
    ledger.facts(ANA, include_closed=True)
    ledger.pending_on(ANA, key)
    ledger.pending_count(ANA)
    ledger.staged(ANA, limit=5)
    ledger.touched(ANA, terms_of("moved to Rome"), session="s", limit=8)
    ledger.events(after=1, subject=ANA)
    ledger.events(after=1)
    list(ledger.turns(after=1))
    list(ledger.turns(ANA, after=1))
    ledger.parked()
    ledger.projections()
    ledger.descent(ANA, message_id="m1")
    ledger.proposals(ANA, message_id="m1")
    ledger.links("p", fact_id="f")
    ledger.links("p", subject=ANA, message_id="m1")
    ledger.oldest_pending()
    ledger.expired_facts(day(1))
    ledger.due_for_review(day(1))


def test_no_statement_reads_a_whole_table(used: SqlLedger) -> None:
    whole = [line for line in _plans(used) if _reads_whole_table(line)]
    assert whole == []


def test_the_check_would_find_one(used: SqlLedger) -> None:
    with used._database.reading() as runner:
        rows = runner._cursor.execute("EXPLAIN QUERY PLAN SELECT * FROM memgate_fact").fetchall()
    assert _reads_whole_table(rows[0][3])


def _plans(ledger: SqlLedger) -> list[str]:
    statements = ledger._database._prepared._known.values()
    assert len(statements) > 50
    lines = []
    with ledger._database.reading() as runner:
        for statement in statements:
            nothing = [None] * len(statement.order or ())
            for row in runner._cursor.execute(f"EXPLAIN QUERY PLAN {statement.sql}", nothing):
                lines.append(f"{row[3]}")
    return lines


def _reads_whole_table(line: str) -> bool:
    if not line.startswith("SCAN"):
        return False
    return not any(name in line.split() for name in SMALL) and "CONSTANT ROW" not in line


def test_erasure_is_one_pass(used: SqlLedger) -> None:
    with used.write(ANA) as tx:
        tx.erase()
        tx.append(EventType.ERASED, occurred_at=day(9))
    assert [line for line in _plans(used) if _reads_whole_table(line)] == []
