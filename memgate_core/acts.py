"""What people do to a ledger, in the shape that its transactions work with.

An act is not a message: it has its own time and a person's name, and no words of its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memgate_core.book import Book
from memgate_core.errors import InvalidInputError, NotAllowedError, NotFoundError
from memgate_core.model import Role, Source, StagedItem, StagedStatus, Subject, Turn
from memgate_core.promotions import Promotions

if TYPE_CHECKING:
    from memgate_core.assembly import Parts

NOBODYS_WORDS = "(an act, no words)"


def utc_now() -> datetime:
    """Record time: when somebody acted."""
    return datetime.now(UTC)


def aware(when: datetime | None, name: str) -> datetime | None:
    """The time as given.

    Raises:
        InvalidInputError: it has no time zone.
    """
    if when is not None and when.tzinfo is None:
        raise InvalidInputError(f"`{name}` has no time zone", hint="pass an aware datetime")
    return when


def act_on(item: StagedItem, when: datetime) -> Turn:
    """An act on a held item at a time (aware)."""
    return _act(item.key.subject, when, text=item.words, session=item.session)


def act_of(subject: Subject, when: datetime) -> Turn:
    """An act on a subject at a time (aware)."""
    return _act(subject, when, text=NOBODYS_WORDS, session=None)


@contextmanager
def acting(parts: Parts, act: Turn) -> Iterator[Book]:
    """A book in a transaction of the act's subject.

    Raises:
        LedgerError: nothing was written.
    """
    with parts.ledger.write(act.subject) as tx:
        yield Book(tx, act, utc_now(), parts.matrix.version)


def promotions(parts: Parts, book: Book, person: str) -> Promotions:
    """The settling hand of a person's act."""
    return Promotions(book, parts.realiser, f"approver:{person}")


def pending_item(parts: Parts, staged_id: str) -> StagedItem:
    """A held item that is still open.

    Raises:
        NotFoundError: no such item. NotAllowedError: it is settled already.
    """
    item = parts.ledger.staged_item(staged_id)
    if item is None:
        raise NotFoundError(f"no held item {staged_id!r}", hint="see `memgate staged list`")
    return _require_pending(item)


def still_pending(book: Book, item: StagedItem) -> StagedItem:
    """The item as the transaction sees it.

    Raises:
        NotAllowedError: somebody settled it meanwhile.
    """
    fresh = book.tx.staged(item.staged_id)
    return _require_pending(fresh if fresh is not None else item)


def _require_pending(item: StagedItem) -> StagedItem:
    if item.status is not StagedStatus.PENDING:
        raise NotAllowedError(
            f"held item {item.staged_id} is {item.status} already", hint="nothing was changed"
        )
    return item


def _act(subject: Subject, when: datetime, *, text: str, session: str | None) -> Turn:
    return Turn(
        subject=subject,
        message_id=f"act-{uuid.uuid4()}",
        role=Role.USER,
        source=Source.USER,
        text=text,
        occurred_at=when,
        session=session,
    )
