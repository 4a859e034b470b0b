"""What people do with held items: list, confirm, discard, let expire.

No model has a way in here: these calls take the name of the person who acts, and nothing offers
them as a tool.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memgate_core.book import Book
from memgate_core.errors import InvalidInputError, NotAllowedError, NotFoundError
from memgate_core.model import (
    EventType,
    Fact,
    Role,
    Source,
    StagedItem,
    StagedStatus,
    Turn,
)
from memgate_core.promotions import Promotions

if TYPE_CHECKING:
    from memgate_core.assembly import Parts
    from memgate_core.ledger.protocol import LedgerTransaction


class Review:
    """A person's hand on the held items of a ledger."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def confirm(self, staged_id: str, *, by: str, on: datetime | None = None) -> Fact:
        """Makes a held item a fact, valid from `on` (aware; the day it came true).

        Without `on` the moment of confirming counts, since the person says that it holds now.

        Raises:
            NotFoundError: no such item. NotAllowedError: it is settled already.
            InvalidInputError: `by` is empty, or `on` has no time zone.
        """
        item = self._pending(staged_id)
        turn = _act(item, by, on)
        with self._parts.ledger.write(item.key.subject) as tx:
            promotions = self._promotions(tx, turn, f"approver:{by}")
            fresh = self._still_pending(promotions.book, item)
            fact = promotions.promote(fresh, f"confirmed by {by}", fresh.evidence)
            tx.audit("confirm", staged_id, by=by, detail={"fact_id": fact.fact_id})
        return fact

    def discard(self, staged_id: str, *, by: str, reason: str | None = None) -> StagedItem:
        """Ends a held item.

        Raises:
            NotFoundError, NotAllowedError, InvalidInputError: as `confirm`.
        """
        item = self._pending(staged_id)
        turn = _act(item, by, None)
        with self._parts.ledger.write(item.key.subject) as tx:
            promotions = self._promotions(tx, turn, f"approver:{by}")
            fresh = self._still_pending(promotions.book, item)
            promotions.discard(fresh, reason or f"discarded by {by}", fresh.evidence)
            tx.audit("discard", staged_id, by=by)
        settled = self._parts.ledger.staged_item(staged_id)
        return settled if settled is not None else fresh

    def expire(self, staged_id: str, *, policy: str, at: datetime) -> StagedItem:
        """Ends a held item because a review policy says so; `policy` names it in the record.

        Raises:
            NotFoundError, NotAllowedError, InvalidInputError: as `confirm`.
        """
        item = self._pending(staged_id)
        turn = _act(item, policy, at)
        with self._parts.ledger.write(item.key.subject) as tx:
            book = Book(tx, turn, datetime.now(UTC), self._parts.matrix.version)
            fresh = self._still_pending(book, item)
            expired = fresh.model_copy(
                update={
                    "status": StagedStatus.EXPIRED,
                    "resolved_at": turn.occurred_at,
                    "reason": f"expired under {policy}",
                }
            )
            book.move(expired)
            book.event(EventType.EXPIRED, staged=expired)
            tx.audit("expire", staged_id, by=policy)
        return expired

    def _promotions(self, tx: LedgerTransaction, turn: Turn, approved_by: str) -> Promotions:
        book = Book(tx, turn, datetime.now(UTC), self._parts.matrix.version)
        return Promotions(book, self._parts.realiser, approved_by)

    def _pending(self, staged_id: str) -> StagedItem:
        item = self._parts.ledger.staged_item(staged_id)
        if item is None:
            raise NotFoundError(f"no held item {staged_id!r}", hint="see `memgate staged list`")
        return _require_pending(item)

    def _still_pending(self, book: Book, item: StagedItem) -> StagedItem:
        fresh = book.tx.staged(item.staged_id)
        return _require_pending(fresh if fresh is not None else item)


def _require_pending(item: StagedItem) -> StagedItem:
    if item.status is not StagedStatus.PENDING:
        raise NotAllowedError(
            f"held item {item.staged_id} is {item.status} already", hint="nothing was changed"
        )
    return item


def _act(item: StagedItem, by: str, on: datetime | None) -> Turn:
    """A person's act, in the shape the transaction works with. It is not recorded as a message."""
    if not by.strip():
        raise InvalidInputError("the name of who acts is empty", hint="pass by='…'")
    if on is not None and on.tzinfo is None:
        raise InvalidInputError("`on` has no time zone", hint="pass an aware datetime")
    return Turn(
        subject=item.key.subject,
        message_id=f"act-{uuid.uuid4()}",
        role=Role.USER,
        source=Source.USER,
        text=item.words,
        occurred_at=on or datetime.now(UTC),
        session=item.session,
    )
