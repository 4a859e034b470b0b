"""Instants as the tables hold them: whole microseconds since 1970-01-01T00:00:00Z."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memgate_core.errors import InvalidInputError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(at: datetime) -> int:
    """The stored form of an aware instant.

    Raises:
        InvalidInputError: the datetime has no time zone.
    """
    if at.tzinfo is None:
        raise InvalidInputError("a datetime without time zone", hint="pass an aware datetime")
    return (at - _EPOCH) // _MICROSECOND


def instant(stored: int) -> datetime:
    """The aware UTC instant behind a stored number."""
    return _EPOCH + timedelta(microseconds=stored)


def micros_or_none(at: datetime | None) -> int | None:
    """As `micros`, keeping an absent time absent."""
    return None if at is None else micros(at)


def utc_now() -> datetime:
    """Record time: when the ledger learned of something, never when it happened."""
    return datetime.now(UTC)
