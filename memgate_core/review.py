"""What people do with held items: list, confirm, discard, let expire; and answer requests.

No model has a way in here: these calls take the name of the person who acts, and nothing offers
them as a tool.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memgate_core.acts import (
    act_on,
    acting,
    aware,
    pending_item,
    promotions,
    still_pending,
    utc_now,
)
from memgate_core.approving import Approvals
from memgate_core.errors import ApprovalError
from memgate_core.model import Fact, StagedItem
from memgate_core.policy.approvals import require_person

if TYPE_CHECKING:
    from memgate_core.assembly import Parts


class Review:
    """A person's hand on the held items of a ledger."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.approvals = Approvals(parts)
        """Requests for what only a person can decide."""

    def confirm(self, staged_id: str, *, by: str, on: datetime | None = None) -> Fact:
        """Makes a held plan a fact, valid from `on` (aware; the day it came true).

        Without `on` the moment of confirming counts, since the person says that it holds now.

        Raises:
            NotFoundError: no such item. NotAllowedError: it is settled already.
            InvalidInputError: `by` is empty, or `on` has no time zone.
            ApprovalError: `by` names a program, or the item was held for approval: that binds the
                exact payload, so it goes through `approvals`.
        """
        person = require_person(by)
        item = pending_item(self._parts, staged_id)
        if item.held_as.asks:
            raise ApprovalError(
                f"{staged_id} waits for an approval of its exact payload",
                hint="see `memgate approvals list`",
            )
        with acting(self._parts, act_on(item, aware(on, "on") or utc_now())) as book:
            fresh = still_pending(book, item)
            hand = promotions(self._parts, book, person)
            fact = hand.promote(fresh, f"confirmed by {person}", fresh.evidence)
            book.tx.audit("confirm", staged_id, by=person, detail={"fact_id": fact.fact_id})
        return fact

    def discard(self, staged_id: str, *, by: str, reason: str | None = None) -> StagedItem:
        """Ends a held item.

        Raises:
            NotFoundError, NotAllowedError, InvalidInputError: as `confirm`.
            ApprovalError: `by` names a program.
        """
        person = require_person(by)
        item = pending_item(self._parts, staged_id)
        with acting(self._parts, act_on(item, utc_now())) as book:
            fresh = still_pending(book, item)
            hand = promotions(self._parts, book, person)
            gone = hand.discard(fresh, reason or f"discarded by {person}", fresh.evidence)
            book.tx.audit("discard", staged_id, by=person)
        return gone

    def expire(
        self, staged_id: str, *, policy: str, at: datetime, reason: str | None = None
    ) -> StagedItem:
        """Ends a held item because a review policy says so; `policy` names it in the record.

        Raises:
            NotFoundError, NotAllowedError: as `confirm`. InvalidInputError: no zone in `at`.
        """
        item = pending_item(self._parts, staged_id)
        aware(at, "at")
        with acting(self._parts, act_on(item, at)) as book:
            expired = book.expire(still_pending(book, item), reason or f"expired under {policy}")
            book.tx.audit("expire", staged_id, by=policy)
        return expired
