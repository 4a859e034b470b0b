"""`memory.staged`: held items, for people and always labelled as plans.

Nothing here is a tool for a model: confirming and discarding take the name of the person who acts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memgate_core import withheld
from memgate_core.errors import InvalidInputError, NotFoundError
from memgate_core.model import JsonObject, StagedItem, StagedStatus, Subject
from memgate_mem0.payloads import OURS, PLAN, promoted_id, readable
from memgate_mem0.scope import ID_NAMES, MemoryScope
from memgate_mem0.store_desk import StoreDesk

_HELD = (StagedStatus.PENDING, StagedStatus.PROMOTING)
_WIDER = 4


class StagedView:
    """The held items of one memory."""

    def __init__(self, desk: StoreDesk) -> None:
        self._desk = desk

    def get_all(self, *, filters: Mapping[str, Any], top_k: int = 20) -> JsonObject:
        """Held items of a scope, oldest first, in the shape of Mem0's `get_all`.

        Raises:
            InvalidInputError: the filters name no user, agent or run.
        """
        subject = self._subject(filters)
        items = [
            item
            for item in self._desk.gate.ledger.staged(subject, status=None)
            if item.status in _HELD and self._meets(item, filters)
        ]
        return {"results": [self._row(item) for item in items[:top_k]]}

    def search(self, query: str, *, filters: Mapping[str, Any], top_k: int = 20) -> JsonObject:
        """Held items of a scope nearest in meaning to `query`, best first.

        Raises:
            InvalidInputError: the filters name no user, agent or run, or the query is empty.
        """
        subject = self._subject(filters)
        if not query.strip():
            raise InvalidInputError("the query is empty")
        self._desk.deliver(subject)
        natives = self._desk.projection.natives
        plain = {name: filters[name] for name in ID_NAMES if filters.get(name)}
        rows = []
        for _id, score, payload in natives.near(natives.staged, query, plain, top_k * _WIDER):
            item = self._desk.gate.ledger.staged_item(payload.get(OURS, {}).get("staged_id", ""))
            if item is not None and item.status in _HELD and item.key.subject == subject:
                rows.append({**self._row(item), "score": score})
        return {"results": rows[:top_k]}

    def get(self, staged_id: str) -> JsonObject | None:
        """A held or settled item by id, with its status (a revoked one without its words); None
        where there is none."""
        item = self._desk.gate.ledger.staged_item(staged_id)
        return self._row(withheld.item(item)) if item and self._is_ours(item) else None

    def confirm(self, staged_id: str, *, by: str, on: datetime | None = None) -> JsonObject:
        """Makes a held item a fact, valid from `on` (aware), and writes it into Mem0.

        Raises:
            NotFoundError: no such item. NotAllowedError: it is settled already.
            InvalidInputError: `by` is empty, or `on` has no time zone.
        """
        self._require(staged_id)
        fact = self._desk.gate.review.confirm(staged_id, by=by, on=on)
        self._desk.deliver(fact.key.subject)
        entry = {
            "id": promoted_id(self._desk.name, fact),
            "memory": readable(fact.text, fact.entity),
            "event": "PROMOTE",
            "staged_id": staged_id,
        }
        return self._desk.presented({"results": [entry]}, fact.key.subject)

    def discard(self, staged_id: str, *, by: str, reason: str | None = None) -> JsonObject:
        """Ends a held item.

        Raises:
            NotFoundError, NotAllowedError, InvalidInputError: as `confirm`.
        """
        self._require(staged_id)
        item = self._desk.gate.review.discard(staged_id, by=by, reason=reason)
        self._desk.deliver(item.key.subject)
        entry = {"id": staged_id, "memory": self._row(item)["memory"], "event": "DISCARD"}
        return {"results": [entry]}

    def _require(self, staged_id: str) -> None:
        if self.get(staged_id) is None:
            raise NotFoundError(f"no held item {staged_id!r}", hint="see staged.get_all")

    def _subject(self, filters: Mapping[str, Any]) -> Subject:
        scope = MemoryScope.of_filters(filters)
        if scope is None:
            raise InvalidInputError(
                "filters must name one of user_id, agent_id, run_id",
                hint="say whose plans: filters={'user_id': '…'}",
            )
        return scope.subject(self._desk.tenant)

    def _is_ours(self, item: StagedItem) -> bool:
        return item.key.subject.tenant == self._desk.tenant

    def _scope(self, item: StagedItem) -> MemoryScope:
        message_id = item.evidence.message_id
        return self._desk.projection.scope_of(item.key.subject, message_id, item.session)

    def _meets(self, item: StagedItem, filters: Mapping[str, Any]) -> bool:
        ids = self._scope(item).ids
        return all(ids.get(name) == str(filters[name]) for name in ID_NAMES if filters.get(name))

    def _row(self, item: StagedItem) -> JsonObject:
        shown = item.model_dump(
            mode="json",
            include={
                "attribute",
                "value",
                "words",
                "promote_when",
                "discard_when",
                "held_as",
                "status",
                "times_stated",
                "created_at",
                "review_at",
            },
        )
        text = PLAN + readable(item.text, item.entity)
        return {"id": item.staged_id, "memory": text, **self._scope(item).ids, **shown}


class AsyncStagedView:
    """`StagedView` for an async memory: the same calls, awaited."""

    def __init__(self, desk: StoreDesk) -> None:
        self._view, self._off_loop = StagedView(desk), desk.gate.off_loop

    async def get_all(self, *, filters: Mapping[str, Any], top_k: int = 20) -> JsonObject:
        """See `StagedView.get_all`."""
        return await self._off_loop(self._view.get_all, filters=filters, top_k=top_k)

    async def search(
        self, query: str, *, filters: Mapping[str, Any], top_k: int = 20
    ) -> JsonObject:
        """See `StagedView.search`."""
        return await self._off_loop(self._view.search, query, filters=filters, top_k=top_k)

    async def get(self, staged_id: str) -> JsonObject | None:
        """See `StagedView.get`."""
        return await self._off_loop(self._view.get, staged_id)

    async def confirm(self, staged_id: str, *, by: str, on: datetime | None = None) -> JsonObject:
        """See `StagedView.confirm`."""
        return await self._off_loop(self._view.confirm, staged_id, by=by, on=on)

    async def discard(self, staged_id: str, *, by: str, reason: str | None = None) -> JsonObject:
        """See `StagedView.discard`."""
        return await self._off_loop(self._view.discard, staged_id, by=by, reason=reason)
