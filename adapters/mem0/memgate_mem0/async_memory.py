"""`GatedAsyncMemory`: a `mem0.AsyncMemory` that holds plans back until they come true.

The gate's own work runs in its bounded executor, so the event loop never waits for it.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from mem0 import AsyncMemory
from mem0.configs.base import MemoryConfig
from mem0.memory.main import _UNSET

from memgate_core.model import JsonObject
from memgate_core.projection import DeliveryReport
from memgate_mem0.answers import Claim
from memgate_mem0.calls import under_way
from memgate_mem0.edits import delete_everywhere, empty_scope, forget_everything, take_update
from memgate_mem0.gated import GateChoice, Gated, check_metadata, mem0_refuses
from memgate_mem0.memory import PAUSE_S
from memgate_mem0.reads import as_of_get_all, as_of_search
from memgate_mem0.reception import Reception
from memgate_mem0.scope import MemoryScope
from memgate_mem0.staged import AsyncStagedView


class GatedAsyncMemory(Gated, AsyncMemory):  # type: ignore[misc]
    """Mem0's `AsyncMemory` behind the gate. See `GatedMemory`, whose calls these are, awaited."""

    def __init__(
        self,
        config: MemoryConfig | None = None,
        gate: GateChoice = None,
        *,
        tenant: str = "default",
    ) -> None:
        super().__init__(config if config is not None else MemoryConfig())
        self.open_desk(gate, tenant)

    @classmethod
    def from_config(
        cls, config_dict: dict[str, Any], gate: GateChoice = None, *, tenant: str = "default"
    ) -> GatedAsyncMemory:
        """See `GatedMemory.from_config`."""
        return cls(MemoryConfig(**config_dict), gate, tenant=tenant)

    @property
    def staged(self) -> AsyncStagedView:
        """Held items: for people, always labelled as plans."""
        return AsyncStagedView(self.desk)

    async def deliver(self) -> DeliveryReport:
        """See `GatedMemory.deliver`."""
        return await self.gate.off_loop(self.desk.deliver)

    # --- writes ------------------------------------------------------------------------------

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        llm: Any = None,
        message_id: str | None = None,
        occurred_at: datetime | None = None,
    ) -> JsonObject:
        """See `GatedMemory.add`."""
        scope = MemoryScope.of_call(user_id, agent_id, run_id)
        check_metadata(metadata)
        options = {
            "user_id": user_id,
            "agent_id": agent_id,
            "run_id": run_id,
            "metadata": metadata,
            "timestamp": timestamp,
            "expiration_date": expiration_date,
            "infer": infer,
            "memory_type": memory_type,
            "prompt": prompt,
            "llm": llm,
        }
        if mem0_refuses(timestamp, expiration_date, memory_type):
            return _answer(await super().add(messages, **options))
        off_loop = self.gate.off_loop
        reception = await off_loop(self.desk.receive, messages, scope, message_id, occurred_at)
        recorded = await self._recorded_answer(reception)
        return recorded or await self._make_call(reception, options)

    async def _recorded_answer(self, reception: Reception) -> JsonObject | None:
        off_loop = self.gate.off_loop
        while (found := await off_loop(self.desk.begin, reception)) is Claim.TAKEN:
            await asyncio.sleep(PAUSE_S)
        return await off_loop(self.desk.replayed, reception) if found is Claim.DONE else None

    async def _make_call(self, reception: Reception, options: dict[str, Any]) -> JsonObject:
        call = self.desk.call_for(reception)
        try:
            with under_way(call):
                result = await super().add(reception.messages, **options) if reception.calls else {}
            return await self.gate.off_loop(self.desk.conclude, reception, _answer(result), call)
        except BaseException:
            await self.gate.off_loop(self.desk.give_up, reception)
            raise

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
        *,
        message_id: str | None = None,
        occurred_at: datetime | None = None,
    ) -> JsonObject:
        """See `GatedMemory.update`."""
        check_metadata(metadata)
        off_loop, said = self.gate.off_loop, text if text is not None else data
        change = await off_loop(
            take_update, self.desk, memory_id, said, metadata, message_id, occurred_at
        )
        if change is None:
            return _answer(await super().update(memory_id, text, metadata, expiration_date, data))
        if change.text is None:
            return change.refused()
        result = await super().update(memory_id, change.text, change.metadata, expiration_date)
        return await off_loop(change.done, _answer(result))

    async def delete(self, memory_id: str) -> JsonObject:
        """See `GatedMemory.delete`."""
        where = await self.gate.off_loop(delete_everywhere, self.desk, memory_id)
        if where.in_main or where.answer is None:
            return _answer(await super().delete(memory_id))
        return where.answer

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> JsonObject:
        """See `GatedMemory.delete_all`."""
        if not any((user_id, agent_id, run_id)):
            return _answer(await super().delete_all(user_id, agent_id, run_id))
        scope = MemoryScope.of_call(user_id or None, agent_id or None, run_id or None)
        await self.gate.off_loop(empty_scope, self.desk, scope)
        return _answer(await super().delete_all(user_id, agent_id, run_id))

    async def reset(self) -> None:
        """See `GatedMemory.reset`."""
        await self.gate.off_loop(forget_everything, self.desk)
        await super().reset()
        self.desk.projection.natives.forget_siblings()
        await self.gate.off_loop(self.desk.deliver)

    # --- reads -------------------------------------------------------------------------------

    async def get(self, memory_id: str) -> JsonObject | None:
        """See `GatedMemory.get`."""
        await self.gate.off_loop(self.desk.before_get, memory_id)
        row = await super().get(memory_id)
        return await self.gate.off_loop(self.desk.readable_one, row)

    async def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        as_of: datetime | None = None,
        **kwargs: Any,
    ) -> JsonObject:
        """See `GatedMemory.get_all`."""
        options = {"filters": filters, "top_k": top_k, "show_expired": show_expired, **kwargs}
        await self.gate.off_loop(self.desk.before_read, filters)
        if as_of is not None:
            return await self.gate.off_loop(as_of_get_all, self.desk, as_of, options)
        return await self.gate.off_loop(self.desk.readable, await super().get_all(**options))

    async def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any | None = None,
        show_expired: bool = False,
        as_of: datetime | None = None,
        **kwargs: Any,
    ) -> JsonObject:
        """See `GatedMemory.search`."""
        options = {
            "top_k": top_k,
            "filters": filters,
            "threshold": threshold,
            "rerank": rerank,
            "explain": explain,
            "reference_date": reference_date,
            "show_expired": show_expired,
            **kwargs,
        }
        await self.gate.off_loop(self.desk.before_read, filters)
        if as_of is not None:
            return await self.gate.off_loop(as_of_search, self.desk, as_of, query, options)
        return await self.gate.off_loop(self.desk.readable, await super().search(query, **options))

    async def history(self, memory_id: str) -> list[JsonObject]:
        """See `GatedMemory.history`."""
        rows = await super().history(memory_id)
        return await self.gate.off_loop(self.desk.readable_history, memory_id, rows)

    def close(self) -> None:
        """See `GatedMemory.close`."""
        if self.__dict__.get("db") is not None and self._desk is not None:
            self._desk.deliver_before_closing()
        super().close()
        if self._desk is not None and self._desk.owns_gate:
            self._desk.gate.close()


def _answer(result: Any) -> JsonObject:
    return result if isinstance(result, dict) and result else {"results": []}
