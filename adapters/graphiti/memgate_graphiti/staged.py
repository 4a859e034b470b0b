"""`graphiti.staged`: held items, for people and always labelled as plans.

Nothing here is a tool for a model: confirming and discarding take the name of the person who acts.
What is listed is what the ledger says; the graph's staging nodes only help to search.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memgate_core import withheld
from memgate_core.errors import InvalidInputError, NotFoundError
from memgate_core.model import Fact, StagedItem, StagedStatus, Subject
from memgate_graphiti import staging
from memgate_graphiti.desk import Desk


class Staged:
    """The held items of one graph database, group by group."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def list(
        self, group_id: str | None = None, *, user_id: str | None = None
    ) -> Sequence[StagedItem]:
        """Held items of a group's user (or of `user_id` in it), oldest first.

        Raises:
            InvalidTurnError: a malformed group or user id.
        """
        subject = self._subject(group_id, user_id)
        return await self._desk.gate.off_loop(self._desk.gate.ledger.staged, subject)

    async def get(self, staged_id: str) -> StagedItem | None:
        """A held or settled item by id, with its status (a revoked one without its words); None
        where there is none."""
        item = await self._desk.gate.off_loop(self._desk.gate.ledger.staged_item, staged_id)
        return withheld.item(item) if item is not None and self._is_ours(item) else None

    async def search(
        self,
        query: str,
        group_id: str | None = None,
        *,
        user_id: str | None = None,
        limit: int = 10,
    ) -> Sequence[StagedItem]:
        """Held items of a group whose text or words match, best first.

        Raises:
            InvalidInputError: the query is empty. InvalidTurnError: a malformed group or user id.
        """
        subject = self._subject(group_id, user_id)
        if not query.strip():
            raise InvalidInputError("the query is empty")
        await self._desk.deliver(subject)
        graph = await self._desk.projection.graph(subject)
        rows = await staging.search(graph, query, limit)
        found = [await self.get(str(row["staged_id"])) for row in rows]
        return [
            item
            for item in found
            if item is not None
            and item.status is StagedStatus.PENDING
            and item.key.subject == subject
        ]

    async def confirm(self, staged_id: str, *, by: str, on: datetime | None = None) -> Fact:
        """Makes a held item a fact, valid from `on` (aware), and writes it into the graph.

        The fact's `native` is False while the graph has not taken it: no read shows it before.

        Raises:
            NotFoundError: no such item. NotAllowedError: it is settled already.
            InvalidInputError: `by` is empty, or `on` has no time zone.
        """
        await self._require(staged_id)
        gate = self._desk.gate
        fact = await gate.off_loop(gate.review.confirm, staged_id, by=by, on=on)
        await self._desk.deliver(fact.key.subject)
        return await gate.off_loop(gate.ledger.fact, fact.fact_id) or fact

    async def discard(self, staged_id: str, *, by: str, reason: str | None = None) -> StagedItem:
        """Ends a held item.

        Raises:
            NotFoundError, NotAllowedError, InvalidInputError: as `confirm`.
        """
        await self._require(staged_id)
        gate = self._desk.gate
        item = await gate.off_loop(gate.review.discard, staged_id, by=by, reason=reason)
        await self._desk.deliver(item.key.subject)
        return item

    async def _require(self, staged_id: str) -> None:
        if await self.get(staged_id) is None:
            raise NotFoundError(f"no held item {staged_id!r}", hint="see graphiti.staged.list")

    def _subject(self, group_id: str | None, user_id: str | None) -> Subject:
        groups = self._desk.groups
        return groups.subject(groups.named(group_id), user_id)

    def _is_ours(self, item: StagedItem) -> bool:
        return item.key.subject.tenant == self._desk.groups.tenant
