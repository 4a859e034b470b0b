"""What has to be done from time to time: expiries, unanswered requests, a second look for secrets.

It runs when somebody calls it, with a time of his own: nothing here reads the clock for meaning.
Each part is idempotent, and leaves a line in the audit trail for everything that it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from memgate_core.acts import act_of, acting, aware
from memgate_core.commit_switch import trip
from memgate_core.errors import NotAllowedError
from memgate_core.model import Event, Fact, Model, StagedItem
from memgate_core.policy.reviews import ReviewPolicy
from memgate_core.review import Review

if TYPE_CHECKING:
    from memgate_core.assembly import Parts

_PAGE = 500
_EXPIRY = "policy:expires_at"


class MaintenanceReport(Model):
    """What one run ended, by id."""

    expired_items: tuple[str, ...] = ()
    expired_facts: tuple[str, ...] = ()
    lapsed_approvals: tuple[str, ...] = ()


class SecretsReport(Model):
    """Which events hold what the screener of today calls a secret."""

    looked_at: int = 0
    found: tuple[str, ...] = ()
    """Ids of facts and held items."""
    last_seq: int = 0
    """Where to go on from next time."""


class Maintenance:
    """The upkeep of one ledger."""

    def __init__(self, parts: Parts, review: Review) -> None:
        self._parts, self._review = parts, review

    def run(self, now: datetime, *, reviews: ReviewPolicy | None = None) -> MaintenanceReport:
        """Ends, as of `now` (aware): facts whose `expires_at` has come, held items by the review
        policy, requests for approval past their time.

        Raises:
            InvalidInputError: `now` has no time zone.
        """
        aware(now, "now")
        policy = reviews if reviews is not None else ReviewPolicy()
        return MaintenanceReport(
            expired_facts=tuple(self._expire_facts(now)),
            expired_items=tuple(self._expire_items(policy, now)),
            lapsed_approvals=tuple(a.approval_id for a in self._review.approvals.lapse(now)),
        )

    def look_for_secrets(self, *, after: int = 0) -> SecretsReport:
        """Screens what was written behind event number `after` once more, with the screener of
        today: what slipped through an older one stops all commits.
        """
        looked_at, last, found = 0, after, list[str]()
        for event in self._events(after):
            looked_at, last = looked_at + 1, event.seq
            found += self._secrets_of(event)
        ids = tuple(dict.fromkeys(found))
        if ids:
            trip(
                self._parts.ledger,
                f"secret ingested: {', '.join(ids[:5])}",
                policy_version=self._parts.matrix.version,
            )
        return SecretsReport(looked_at=looked_at, found=ids, last_seq=last)

    # --- expiry --------------------------------------------------------------------------------

    def _expire_facts(self, now: datetime) -> Iterator[str]:
        while batch := self._parts.ledger.expired_facts(now, limit=_PAGE):
            for fact in batch:
                self._expire_fact(fact, now)
                yield fact.fact_id

    def _expire_fact(self, fact: Fact, now: datetime) -> None:
        """Locking the key ends what is over on it."""
        with acting(self._parts, act_of(fact.key.subject, now)) as book:
            book.lock([fact.key])
            book.tx.audit("expire", fact.fact_id, by=_EXPIRY)

    def _expire_items(self, policy: ReviewPolicy, now: datetime) -> Iterator[str]:
        ledger = self._parts.ledger
        if ledger.oldest_pending() is None:
            return
        for subject in ledger.subjects():
            for item in ledger.staged(subject):
                if self._expire_item(item, policy, now):
                    yield item.staged_id

    def _expire_item(self, item: StagedItem, policy: ReviewPolicy, now: datetime) -> bool:
        reason = policy.reason(item, now)
        if reason is None:
            return False
        try:
            self._review.expire(item.staged_id, policy=policy.name, at=now, reason=reason)
        except NotAllowedError:  # a turn settled it at this moment
            return False
        return True

    # --- secrets -------------------------------------------------------------------------------

    def _events(self, after: int) -> Iterator[Event]:
        while page := self._parts.ledger.events(after=after, limit=_PAGE):
            yield from page
            after = page[-1].seq

    def _secrets_of(self, event: Event) -> Iterator[str]:
        fact, item = event.fact, event.staged
        if fact is not None and self._is_secret(fact.text, fact.value, fact.words):
            yield fact.fact_id
        if item is not None and self._is_secret(item.text, item.value, item.words):
            yield item.staged_id

    def _is_secret(self, *texts: str | None) -> bool:
        screener = self._parts.screener
        return any(text and screener.secret_in(text) for text in dict.fromkeys(texts))
