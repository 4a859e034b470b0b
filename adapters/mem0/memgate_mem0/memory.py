"""`GatedMemory`: a `mem0.Memory` that holds plans back until they come true."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from mem0 import Memory
from mem0.configs.base import MemoryConfig
from mem0.memory.main import _UNSET

from memgate_core.model import JsonObject
from memgate_core.projection import DeliveryReport
from memgate_mem0.answers import Claim
from memgate_mem0.calls import under_way
from memgate_mem0.edits import delete_everywhere, empty_scope, forget_everything, take_update
from memgate_mem0.gated import GateChoice, Gated, check_metadata, mem0_refuses
from memgate_mem0.reads import as_of_get_all, as_of_search
from memgate_mem0.reception import Reception
from memgate_mem0.scope import MemoryScope
from memgate_mem0.staged import StagedView

PAUSE_S = 0.02
"""How long a worker waits before it looks again whether another one has the answer."""


class GatedMemory(Gated, Memory):  # type: ignore[misc]
    """Mem0's `Memory` behind the gate. Same calls, same results.

    `add` and `update` take two more arguments: `message_id` makes a retry harmless, `occurred_at`
    (an aware datetime) says when it was said. `add` answers with further entries in "results":
    STAGE, PROMOTE, DISCARD, SUPERSEDE, CORRECT. `search` and `get_all` take `as_of`.
    """

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
    ) -> GatedMemory:
        """Builds the memory from Mem0's own settings, behind `gate`.

        Raises:
            pydantic.ValidationError: settings that Mem0 refuses. ConfigurationError, LedgerError:
                the gate cannot be opened.
        """
        return cls(MemoryConfig(**config_dict), gate, tenant=tenant)

    @property
    def staged(self) -> StagedView:
        """Held items: for people, always labelled as plans."""
        return StagedView(self.desk)

    def deliver(self) -> DeliveryReport:
        """Carries everything that is due into Mem0 (also what other processes decided)."""
        return self.desk.deliver()

    # --- writes ------------------------------------------------------------------------------

    def add(
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
        message_id: str | None = None,
        occurred_at: datetime | None = None,
    ) -> JsonObject:
        """Mem0's `add`, with each message taken through the gate first.

        What may go on reaches Mem0's own call; without anything to hold, correct or resolve that
        is the very call the caller made. The same `message_id` again returns the first answer.

        Raises:
            InvalidTurnError: malformed; nothing was written anywhere.
            ProtocolConflictError: the message id is known with other words.
            Exception: whatever Mem0 raises; the call may be retried with the same message id.
        """
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
        }
        if mem0_refuses(timestamp, expiration_date, memory_type):
            return _answer(super().add(messages, **options))
        reception = self.desk.receive(messages, scope, message_id, occurred_at)
        return self._recorded_answer(reception) or self._make_call(reception, options)

    def _recorded_answer(self, reception: Reception) -> JsonObject | None:
        """The answer of the same call made before, or by another worker meanwhile."""
        while (found := self.desk.begin(reception)) is Claim.TAKEN:
            time.sleep(PAUSE_S)
        return self.desk.replayed(reception) if found is Claim.DONE else None

    def _make_call(self, reception: Reception, options: dict[str, Any]) -> JsonObject:
        call = self.desk.call_for(reception)
        try:
            with under_way(call):
                result = super().add(reception.messages, **options) if reception.calls else None
            return self.desk.conclude(reception, _answer(result), call)
        except BaseException:
            self.desk.give_up(reception)
            raise

    def update(
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
        """Mem0's `update`, with the new text taken through the gate.

        A held text changes nothing, and the answer says so.

        Raises:
            ValueError: no such memory, or nothing to change (Mem0's own). InvalidTurnError:
                a malformed text. InvalidInputError: metadata of another kind.
        """
        check_metadata(metadata)
        said = text if text is not None else data
        change = take_update(self.desk, memory_id, said, metadata, message_id, occurred_at)
        if change is None:
            return _answer(super().update(memory_id, text, metadata, expiration_date, data))
        if change.text is None:
            return change.refused()
        result = super().update(memory_id, change.text, change.metadata, expiration_date)
        return change.done(_answer(result))

    def delete(self, memory_id: str) -> JsonObject:
        """Mem0's `delete`; the facts that the memory carried are revoked.

        Raises:
            ValueError: no such memory (Mem0's own).
        """
        where = delete_everywhere(self.desk, memory_id)
        if where.in_main or where.answer is None:
            return _answer(super().delete(memory_id))
        return where.answer

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> JsonObject:
        """Mem0's `delete_all`; held, superseded and current facts of the scope go with it.

        Raises:
            ValueError: no id was given (Mem0's own).
        """
        if not any((user_id, agent_id, run_id)):
            return _answer(super().delete_all(user_id, agent_id, run_id))
        scope = MemoryScope.of_call(user_id or None, agent_id or None, run_id or None)
        empty_scope(self.desk, scope)
        return _answer(super().delete_all(user_id, agent_id, run_id))

    def reset(self) -> None:
        """Mem0's `reset`; every fact and held item of this tenant is revoked."""
        forget_everything(self.desk)
        super().reset()
        self.desk.projection.natives.forget_siblings()
        self.desk.deliver()

    # --- reads -------------------------------------------------------------------------------

    def get(self, memory_id: str) -> JsonObject | None:
        """Mem0's `get`, of what the ledger says may be read."""
        self.desk.before_get(memory_id)
        return self.desk.readable_one(super().get(memory_id))

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        as_of: datetime | None = None,
        **kwargs: Any,
    ) -> JsonObject:
        """Mem0's `get_all`; with `as_of` (aware), the memories that held at that time.

        Raises:
            ValueError: filters without an id (Mem0's own). InvalidInputError: a naive `as_of`.
        """
        options = {"filters": filters, "top_k": top_k, "show_expired": show_expired, **kwargs}
        self.desk.before_read(filters)
        if as_of is not None:
            return as_of_get_all(self.desk, as_of, options)
        return self.desk.readable(super().get_all(**options))

    def search(
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
        """Mem0's `search`; with `as_of` (aware), among the memories that held at that time.

        Raises:
            ValueError: filters without an id (Mem0's own). InvalidInputError: a naive `as_of`.
        """
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
        self.desk.before_read(filters)
        if as_of is not None:
            return as_of_search(self.desk, as_of, query, options)
        return self.desk.readable(super().search(query, **options))

    def history(self, memory_id: str) -> list[JsonObject]:
        """Mem0's `history`: promotions, closings and revocations have their lines in it; the words
        of what was revoked have not."""
        return self.desk.readable_history(memory_id, super().history(memory_id))

    def close(self) -> None:
        """Delivers what is due, then releases Mem0's connections and an own gate."""
        if self.__dict__.get("db") is not None and self._desk is not None:
            self.desk.deliver_before_closing()
        super().close()
        if self._desk is not None and self._desk.owns_gate:
            self._desk.gate.close()


def _answer(result: Any) -> JsonObject:
    return result if isinstance(result, dict) else {"results": []}
