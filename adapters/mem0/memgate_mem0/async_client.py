"""`GatedAsyncMemoryClient`: Mem0's hosted async client behind the gate.

Delivery runs in the gate's executor over a sync HTTP client with the same key and headers.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import httpx
from mem0 import AsyncMemoryClient

from memgate_core.model import JsonObject
from memgate_core.projection import DeliveryReport
from memgate_mem0.answers import Claim
from memgate_mem0.gated import GateChoice
from memgate_mem0.hosted import (
    Hosted,
    JudgedUpdate,
    dated,
    judged_update,
    merged_options,
    plain_client,
    scope_for_add,
    scope_of_options,
    take_back,
    take_back_scope,
)
from memgate_mem0.memory import PAUSE_S
from memgate_mem0.scope import MemoryScope


class GatedAsyncMemoryClient(Hosted, AsyncMemoryClient):  # type: ignore[misc]
    """Mem0's `AsyncMemoryClient` behind the gate. See `GatedMemoryClient`, whose calls these are,
    awaited."""

    def __init__(
        self,
        api_key: str | None = None,
        host: str | None = None,
        client: Any = None,
        gate: GateChoice = None,
        *,
        tenant: str = "default",
    ) -> None:
        super().__init__(api_key, host, client)
        self.open_desk(gate, tenant)

    def open_desk(self, gate: GateChoice, tenant: str) -> None:
        """Puts this client behind a gate."""
        http = self.async_client
        same = httpx.Client(base_url=http.base_url, headers=http.headers, timeout=http.timeout)
        self.open_hosted_desk(plain_client(self, same), gate, tenant)

    async def deliver(self) -> DeliveryReport:
        """Carries everything that is due to the service."""
        return await self.gate.off_loop(self.desk.deliver)

    # --- writes ------------------------------------------------------------------------------

    async def add(
        self,
        messages: Any,
        options: Any = None,
        *,
        message_id: str | None = None,
        occurred_at: datetime | None = None,
        **kwargs: Any,
    ) -> JsonObject:
        """See `GatedMemoryClient.add`."""
        off_loop = self.gate.off_loop
        sent = dated(merged_options(options, kwargs), occurred_at)
        scope = scope_for_add(sent)
        reception = await off_loop(self.desk.receive, messages, scope, message_id, occurred_at)
        while (found := await off_loop(self.desk.begin, reception)) is Claim.TAKEN:
            await asyncio.sleep(PAUSE_S)
        if found is Claim.DONE:
            return await off_loop(self.desk.replayed, reception)
        try:
            answer: JsonObject = {"results": []}
            if reception.calls:
                answer = await super().add(reception.messages, **sent)
            call = self.desk.call_for(reception)
            return await off_loop(self.desk.conclude, reception, answer, call)
        except BaseException:
            await off_loop(self.desk.give_up, reception)
            raise

    async def update(self, memory_id: str, options: Any = None, **kwargs: Any) -> JsonObject:
        """See `GatedMemoryClient.update`."""
        sent = merged_options(options, kwargs)
        change = await self._judged({**sent, "memory_id": memory_id})
        if change is not None and change.text is None:
            return change.refused()
        fields = sent if change is None else change.changed(sent)
        answer: JsonObject = await super().update(memory_id, **fields)
        if change is not None:
            await self.gate.off_loop(change.keep)
        return answer

    async def batch_update(self, memories: list[dict[str, Any]]) -> JsonObject:
        """See `GatedMemoryClient.batch_update`."""
        found = [(memory, await self._judged(memory)) for memory in memories]
        held = [c.refused()["results"] for _m, c in found if c is not None and c.text is None]
        sent = [
            memory if change is None else change.changed(memory)
            for memory, change in found
            if change is None or change.text is not None
        ]
        answer: JsonObject = {"message": "nothing sent"}
        if sent:
            answer = await super().batch_update(sent)
        for _memory, change in found:
            if change is not None and change.text is not None:
                await self.gate.off_loop(change.keep)
        return {**answer, "results": [e for entries in held for e in entries]} if held else answer

    async def _judged(self, memory: dict[str, Any]) -> JudgedUpdate | None:
        memory_id, text = memory["memory_id"], memory.get("text")
        row = await super().get(memory_id) if text else None
        return await self.gate.off_loop(judged_update, self.desk, memory_id, row, text)

    async def delete(self, memory_id: str, delete_linked: bool = False) -> JsonObject:
        """See `GatedMemoryClient.delete`."""
        answer: JsonObject = await super().delete(memory_id, delete_linked)
        await self.gate.off_loop(take_back, self.desk, [memory_id])
        return answer

    async def batch_delete(self, memories: list[dict[str, Any]]) -> JsonObject:
        """See `GatedMemoryClient.batch_delete`."""
        answer: JsonObject = await super().batch_delete(memories)
        ids = [memory["memory_id"] for memory in memories]
        await self.gate.off_loop(take_back, self.desk, ids)
        return answer

    async def delete_all(self, options: Any = None, **kwargs: Any) -> JsonObject:
        """See `GatedMemoryClient.delete_all`."""
        answer: JsonObject = await super().delete_all(options, **kwargs)
        scope = scope_of_options(merged_options(options, kwargs))
        await self.gate.off_loop(take_back_scope, self.desk, scope)
        return answer

    async def delete_users(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        run_id: str | None = None,
    ) -> JsonObject:
        """See `GatedMemoryClient.delete_users`."""
        answer: JsonObject = await super().delete_users(user_id, agent_id, app_id, run_id)
        if app_id is None or user_id or agent_id:
            ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
            await self.gate.off_loop(take_back_scope, self.desk, scope_of_options(ids))
        return answer

    async def reset(self) -> JsonObject:
        """See `GatedMemoryClient.reset`."""
        answer: JsonObject = await super().reset()
        return answer

    # --- reads -------------------------------------------------------------------------------

    async def get(self, memory_id: str) -> JsonObject | None:
        """See `GatedMemoryClient.get`."""
        row = await super().get(memory_id)
        scope = MemoryScope.of_payload(row or {})
        if scope is not None:
            await self.gate.off_loop(self.desk.before_read, scope.ids)
        return await self.gate.off_loop(self.desk.readable_one, row)

    async def history(self, memory_id: str) -> list[JsonObject]:
        """See `GatedMemoryClient.history`."""
        rows = await super().history(memory_id)
        return await self.gate.off_loop(self.desk.readable_history, memory_id, rows)

    async def get_all(self, options: Any = None, **kwargs: Any) -> JsonObject:
        """See `GatedMemoryClient.get_all`."""
        filters = merged_options(options, kwargs).get("filters")
        await self.gate.off_loop(self.desk.before_read, filters)
        return await self.gate.off_loop(
            self.desk.readable, await super().get_all(options, **kwargs)
        )

    async def search(self, query: str, options: Any = None, **kwargs: Any) -> JsonObject:
        """See `GatedMemoryClient.search`."""
        filters = merged_options(options, kwargs).get("filters")
        await self.gate.off_loop(self.desk.before_read, filters)
        return await self.gate.off_loop(
            self.desk.readable, await super().search(query, options, **kwargs)
        )
