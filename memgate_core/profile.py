"""Reads of one subject: what holds now, what held at a time, how it came about, what is held back.

Held items appear only under `staged`, always labelled as plans. Every read needs a subject; there
is no read across subjects.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memgate_core.as_recorded import facts_as_recorded
from memgate_core.errors import InvalidInputError
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, Scope, StagedItem, StagedStatus, Subject


class Profile:
    """The profile of one subject, as its ledger holds it."""

    def __init__(self, ledger: Ledger, subject: Subject) -> None:
        self._ledger = ledger
        self.subject = subject

    def current(
        self, attribute: str, *, as_of: datetime | None = None, scope: Scope | None = None
    ) -> Fact | None:
        """The value of a field now, or as it held at `as_of` (aware; world time). `scope`: of the
        value that holds there only; without one, of that which holds everywhere.

        Raises:
            InvalidInputError: `as_of` has no time zone.
        """
        where = scope if scope is not None else Scope()
        found = [f for f in self.facts(attribute=attribute, as_of=as_of) if f.key.scope == where]
        return found[-1] if found else None

    def facts(self, *, attribute: str | None = None, as_of: datetime | None = None) -> list[Fact]:
        """Facts that hold now (or held at `as_of`), by valid_from.

        A promotion whose native write is still due is not shown; what it replaces still is. After
        a rollback: as the previous policy version had left it, less what was revoked since.

        Raises:
            InvalidInputError: `as_of` has no time zone.
        """
        if as_of is not None and as_of.tzinfo is None:
            raise InvalidInputError("as_of has no time zone", hint="pass an aware datetime")
        state = self._ledger.rollout()
        if state is not None and state.reads_as_recorded is not None:
            found = self._ledger.facts(self.subject, attribute=attribute, include_closed=True)
            return facts_as_recorded(found, state.reads_as_recorded, as_of)
        return list(self._ledger.facts(self.subject, attribute=attribute, as_of=as_of))

    def history(self, attribute: str) -> list[Fact]:
        """Every value a field ever had, oldest first, corrected and revoked ones included."""
        return list(self._ledger.facts(self.subject, attribute=attribute, include_closed=True))

    def staged(self, *, status: StagedStatus | None = StagedStatus.PENDING) -> Sequence[StagedItem]:
        """Plans that are held back, oldest first; `None` for settled ones too."""
        return self._ledger.staged(self.subject, status=status)

    def due_for_review(self, now: datetime) -> list[StagedItem]:
        """Pending items whose own words named a time that has passed at `now` (aware)."""
        return [
            item for item in self.staged() if item.review_at is not None and item.review_at <= now
        ]
