"""Puts facts and held items into a ledger without a turn: where a measurement must start from."""

from __future__ import annotations

from datetime import datetime

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Evidence, Fact, FieldKey, FieldSpec, Subject, sha256_of


def seed_fact(
    ledger: Ledger, subject: Subject, field: FieldSpec, value: str, *, at: datetime
) -> Fact:
    """Commits `value` as the field's current one, valid from `at` (aware)."""
    key = FieldKey(subject=subject, kind=field.kind, normalized_key=field.attribute)
    text = (field.phrase or f"{field.attribute.replace('_', ' ')}: {{value}}").format(value=value)
    fact = Fact(
        fact_id=f"seed-{sha256_of(f'{subject}/{field.attribute}/{value}')[:24]}",
        version=1,
        key=key,
        attribute=field.attribute,
        value=value,
        text=text,
        words=value,
        evidence=Evidence(message_id="seed", start=0, end=len(value), sha256=sha256_of(value)),
        valid_from=at,
        recorded_at=at,
        proposal_id=f"seed-{sha256_of(value)[:24]}",
        approved_by="rule:seed",
    )
    with ledger.write(subject) as transaction:
        state = transaction.lock([key])[key]
        return transaction.commit_fact(fact, expected_version=state.version)
