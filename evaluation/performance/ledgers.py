"""The ledger against a bare loop of transactions that does the same number of inserts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from sqlalchemy import create_engine, event, text

from evaluation.performance.measured import Measured
from memgate_core.ledger.identity import payload_hash_of
from memgate_core.ledger.open import open_ledger
from memgate_core.ledger.protocol import Ledger, ProposalRecord
from memgate_core.model import (
    Candidate,
    Decision,
    DecisionType,
    EventType,
    Evidence,
    Fact,
    FieldKey,
    Receipt,
    Span,
    Subject,
    Turn,
)

COMMITS = 300
"""Transactions that are timed."""

_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
_COUNT_ROWS = """
    SELECT (SELECT count(*) FROM memgate_turn) + (SELECT count(*) FROM memgate_proposal)
         + (SELECT count(*) FROM memory_fact_key) + (SELECT count(*) FROM memgate_fact)
         + (SELECT count(*) FROM memgate_lineage) + (SELECT count(*) FROM memgate_event)
"""


def measures(url: str, name: str) -> Iterator[Measured]:
    """Commits a second, the bare loop's, and the share between them.

    `url` must name a database of its own, which is left behind.
    """
    ours, rows = _ours(url)
    bare = _bare(url, rows)
    yield Measured(part=name, name="ledger commits a second", value=ours, unit="/s")
    yield Measured(
        part=name,
        name=f"bare transactions of {rows} inserts a second",
        value=bare,
        unit="/s",
    )
    yield Measured(
        part=name,
        name="ledger against bare",
        value=ours / bare,
        unit="×",
        target=0.4,
        at_least=True,
    )


def _ours(url: str) -> tuple[float, int]:
    """Commits a second through the ledger, and rows that one commit writes."""
    ledger = open_ledger(url)
    try:
        subject = Subject(user_id=f"bench-{uuid.uuid4()}")
        for number in range(20):
            commit(ledger, subject, number - 20)
        before = _rows(url)
        rate = _rate(lambda number: commit(ledger, subject, number))
        return rate, round((_rows(url) - before) / COMMITS)
    finally:
        ledger.close()


def commit(ledger: Ledger, subject: Subject, number: int) -> None:
    """What a turn that states one new fact writes."""
    words = f"I keep {number} bees"
    turn = Turn(
        subject=subject, message_id=f"m{number}", text=words, occurred_at=_AT, session="bench"
    )
    key = FieldKey(subject=subject, normalized_key=f"keep:bees:{number}")
    candidate = Candidate(
        text=words,
        words=words,
        evidence=Evidence.of(turn, Span(start=0, end=len(words))),
        ordinal=0,
        extractor="bench/1",
    )
    decision = Decision(decision=DecisionType.COMMIT, rule="state", reason="the user's own words")
    with ledger.write(subject) as transaction:
        state = transaction.lock([key])[key]
        fact = transaction.commit_fact(
            _fact(key, candidate, subject, number), expected_version=state.version
        )
        transaction.append(EventType.COMMITTED, occurred_at=_AT, fact=fact)
        transaction.save_proposal(
            ProposalRecord(
                proposal_id=fact.proposal_id,
                payload_hash=payload_hash_of(candidate),
                subject=subject,
                key=key,
                candidate=candidate,
                decision=decision,
                policy_version="1",
                recorded_at=_AT,
                fact_id=fact.fact_id,
            )
        )
        receipt = Receipt(subject=subject, message_id=turn.message_id, forward=words)
        transaction.save_turn(turn, words, receipt)


def _fact(key: FieldKey, candidate: Candidate, subject: Subject, number: int) -> Fact:
    return Fact(
        fact_id=f"{subject.user_id}-f{number}",
        version=1,
        key=key,
        text=candidate.text,
        words=candidate.words,
        evidence=candidate.evidence,
        valid_from=_AT,
        recorded_at=_AT,
        proposal_id=f"{subject.user_id}-p{number}",
        derived_from=(f"{subject.user_id}-p{number}",),
        approved_by="rule:state",
    )


def _bare(url: str, rows: int) -> float:
    """Transactions a second of so many inserts of like size, with the same durability."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _durable)
    try:
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE IF EXISTS bare_loop"))
            connection.execute(
                text(
                    "CREATE TABLE bare_loop (id VARCHAR(80) PRIMARY KEY, owner VARCHAR(80),"
                    " body TEXT)"
                )
            )
            connection.execute(text("CREATE INDEX bare_loop_owner ON bare_loop (owner)"))
        insert = text("INSERT INTO bare_loop (id, owner, body) VALUES (:id, :owner, :body)")
        body = json.dumps({"text": "I keep bees", "evidence": {"sha256": "0" * 64}} | _FILLING)

        def transaction(number: int) -> None:
            with engine.begin() as connection:
                for row in range(rows):
                    values = {"id": f"{number}-{row}", "owner": "bench", "body": body}
                    connection.execute(insert, values)

        return _rate(transaction)
    finally:
        engine.dispose()


_FILLING = {f"key_{number}": "a value of the usual length" for number in range(12)}


def _durable(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def _rate(transaction: Callable[[int], None]) -> float:
    started = perf_counter()
    for number in range(COMMITS):
        transaction(number)
    return COMMITS / (perf_counter() - started)


def _rows(url: str) -> int:
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return int(connection.execute(text(_COUNT_ROWS)).scalar_one())
    finally:
        engine.dispose()
