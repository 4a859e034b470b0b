"""Puts facts and held items into a ledger without a turn: where a measurement must start from."""

from __future__ import annotations

from datetime import datetime, timedelta

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import (
    Evidence,
    Fact,
    FieldKey,
    FieldSpec,
    Kind,
    StagedItem,
    Subject,
    sha256_of,
)

_BATCH = 1000
_PLACES = ("Ash", "Brook", "Cliff", "Dale", "Elm", "Fern", "Glen", "Heath", "Isle", "Knoll")
_ENDINGS = ("ford", "ham", "by", "wick", "mouth", "stead", "worth", "combe", "thorpe", "ley")
_THINGS = ("visit", "rent a boat in", "run the half marathon in", "buy cheese in", "see friends in")


def seed_fact(
    ledger: Ledger, subject: Subject, field: FieldSpec, value: str, *, at: datetime
) -> Fact:
    """Commits `value` as the field's current one, valid from `at` (aware)."""
    key = FieldKey(subject=subject, kind=field.kind, normalized_key=field.attribute)
    text = (field.phrase or f"{field.attribute.replace('_', ' ')}: {{value}}").format(value=value)
    fact = _fact(key, value, text, at, attribute=field.attribute)
    with ledger.write(subject) as transaction:
        state = transaction.lock([key])[key]
        return transaction.commit_fact(fact, expected_version=state.version)


def seed_facts(ledger: Ledger, subject: Subject, count: int, *, at: datetime) -> None:
    """Commits so many open facts of one subject, in one transaction."""
    keys = [
        FieldKey(subject=subject, kind=Kind.TASK_FACT, normalized_key=f"seen:{number}")
        for number in range(count)
    ]
    with ledger.write(subject) as transaction:
        transaction.lock(keys)
        for number, key in enumerate(keys):
            place = place_name(number)
            fact = _fact(key, place, f"has seen {place}", at)
            transaction.commit_fact(fact, expected_version=0)


def seed_held(ledger: Ledger, subject: Subject, count: int, *, at: datetime) -> None:
    """Stages so many different open plans of one subject."""
    for first in range(0, count, _BATCH):
        with ledger.write(subject) as transaction:
            for number in range(first, min(count, first + _BATCH)):
                transaction.stage(_held(subject, number, at))


def place_name(number: int) -> str:
    """A made-up place, a different one for each number."""
    first, rest = _PLACES[number % 10], number // 10
    second, serial = _ENDINGS[rest % 10], rest // 10
    return f"{first}{second}" + (f" {serial}" if serial else "")


def _held(subject: Subject, number: int, at: datetime) -> StagedItem:
    does = f"{_THINGS[number % len(_THINGS)]} {place_name(number)}"
    words = f"I might {does} one day"
    voiced = at - timedelta(days=365) + timedelta(minutes=number)
    return StagedItem(
        staged_id=f"held-{subject.user_id}-{number}",
        proposal_id=f"proposal-{subject.user_id}-{number}",
        key=FieldKey(subject=subject, normalized_key=f"{does}#{number}"),
        text=does,
        words=words,
        promote_when=f"the user reports having done it: {does}",
        discard_when=f"the user reports that it will not happen: {does}",
        evidence=_evidence(words),
        created_at=voiced,
        last_stated_at=voiced,
    )


def _fact(
    key: FieldKey, value: str, text: str, at: datetime, *, attribute: str | None = None
) -> Fact:
    name = f"{key}/{value}"
    return Fact(
        fact_id=f"seed-{sha256_of(name)[:24]}",
        version=1,
        key=key,
        attribute=attribute,
        value=value,
        text=text,
        words=value,
        evidence=_evidence(value),
        valid_from=at,
        recorded_at=at,
        proposal_id=f"seed-{sha256_of(f'p{name}')[:24]}",
        approved_by="rule:seed",
    )


def _evidence(words: str) -> Evidence:
    return Evidence(message_id="seed", start=0, end=len(words), sha256=sha256_of(words))
