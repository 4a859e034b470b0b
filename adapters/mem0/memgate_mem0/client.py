"""`GatedMemoryClient`: Mem0's hosted client behind the gate.

Extraction happens at the service, so messages are judged before they are sent; promotions go as
`infer=False`. Held items never leave this machine.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from mem0 import MemoryClient

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


class GatedMemoryClient(Hosted, MemoryClient):  # type: ignore[misc]
    """Mem0's `MemoryClient` behind the gate. Same calls, same results; `add` takes `message_id`
    and `occurred_at` besides, and answers with further entries in "results"."""

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
        self.open_hosted_desk(plain_client(self, self.client), gate, tenant)

    def deliver(self) -> DeliveryReport:
        """Carries everything that is due to the service."""
        return self.desk.deliver()

    # --- writes ------------------------------------------------------------------------------

    def add(
        self,
        messages: Any,
        options: Any = None,
        *,
        message_id: str | None = None,
        occurred_at: datetime | None = None,
        **kwargs: Any,
    ) -> JsonObject:
        """Sends what may go on; the turn's own time goes along as `timestamp`.

        Without anything to hold the request is the one that Mem0's client sends by itself. The
        same `message_id` again returns the first answer; only a try that broke off before its
        answer was recorded is sent again.

        Raises:
            InvalidTurnError: malformed, or nobody's; nothing was sent.
            ProtocolConflictError: the message id is known with other words.
        """
        sent = dated(merged_options(options, kwargs), occurred_at)
        scope = scope_for_add(sent)
        reception = self.desk.receive(messages, scope, message_id, occurred_at)
        while (found := self.desk.begin(reception)) is Claim.TAKEN:
            time.sleep(PAUSE_S)
        if found is Claim.DONE:
            return self.desk.replayed(reception)
        try:
            answer = super().add(reception.messages, **sent) if reception.calls else {"results": []}
            return self.desk.conclude(reception, answer, self.desk.call_for(reception))
        except BaseException:
            self.desk.give_up(reception)
            raise

    def update(self, memory_id: str, options: Any = None, **kwargs: Any) -> JsonObject:
        """Mem0's `update`, with a new text taken through the gate. A held text is not sent."""
        sent = merged_options(options, kwargs)
        text = sent.get("text")
        row = super().get(memory_id) if text else None
        change = judged_update(self.desk, memory_id, row, text)
        if change is not None and change.text is None:
            return change.refused()
        fields = sent if change is None else change.changed(sent)
        answer: JsonObject = super().update(memory_id, **fields)
        if change is not None:
            change.keep()
        return answer

    def batch_update(self, memories: list[dict[str, Any]]) -> JsonObject:
        """Mem0's `batch_update`; held texts are left out of the batch and named in the answer."""
        found = [(memory, self._judged(memory)) for memory in memories]
        held = [c.refused()["results"] for _m, c in found if c is not None and c.text is None]
        sent = [
            memory if change is None else change.changed(memory)
            for memory, change in found
            if change is None or change.text is not None
        ]
        answer: JsonObject = super().batch_update(sent) if sent else {"message": "nothing sent"}
        for _memory, change in found:
            if change is not None and change.text is not None:
                change.keep()
        return {**answer, "results": [e for entries in held for e in entries]} if held else answer

    def _judged(self, memory: dict[str, Any]) -> JudgedUpdate | None:
        memory_id, text = memory["memory_id"], memory.get("text")
        return judged_update(self.desk, memory_id, super().get(memory_id) if text else None, text)

    def delete(self, memory_id: str, delete_linked: bool = False) -> JsonObject:
        """Mem0's `delete`; the facts that the memory carried are revoked."""
        answer: JsonObject = super().delete(memory_id, delete_linked)
        take_back(self.desk, [memory_id])
        return answer

    def batch_delete(self, memories: list[dict[str, Any]]) -> JsonObject:
        """Mem0's `batch_delete`; the facts that the memories carried are revoked."""
        answer: JsonObject = super().batch_delete(memories)
        take_back(self.desk, [memory["memory_id"] for memory in memories])
        return answer

    def delete_all(self, options: Any = None, **kwargs: Any) -> JsonObject:
        """Mem0's `delete_all`; everything of the scope is revoked, held items too."""
        answer: JsonObject = super().delete_all(options, **kwargs)
        take_back_scope(self.desk, scope_of_options(merged_options(options, kwargs)))
        return answer

    def delete_users(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        run_id: str | None = None,
    ) -> JsonObject:
        """Mem0's `delete_users`; everything of the named one (or of all) is revoked."""
        answer: JsonObject = super().delete_users(user_id, agent_id, app_id, run_id)
        if app_id is None or user_id or agent_id:
            ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
            take_back_scope(self.desk, scope_of_options(ids))
        return answer

    def reset(self) -> JsonObject:
        """Mem0's `reset`, which deletes every user: everything of the tenant is revoked."""
        answer: JsonObject = super().reset()
        return answer

    # --- reads -------------------------------------------------------------------------------

    def get(self, memory_id: str) -> JsonObject | None:
        """Mem0's `get`, of what the ledger says may be read."""
        row = super().get(memory_id)
        scope = MemoryScope.of_payload(row or {})
        if scope is not None:
            self.desk.before_read(scope.ids)
        return self.desk.readable_one(row)

    def get_all(self, options: Any = None, **kwargs: Any) -> JsonObject:
        """Mem0's `get_all`, of what the ledger says may be read."""
        self.desk.before_read(merged_options(options, kwargs).get("filters"))
        return self.desk.readable(super().get_all(options, **kwargs))

    def history(self, memory_id: str) -> list[JsonObject]:
        """Mem0's `history`, without the words of what was revoked."""
        return self.desk.readable_history(memory_id, super().history(memory_id))

    def search(self, query: str, options: Any = None, **kwargs: Any) -> JsonObject:
        """Mem0's `search`, among what the ledger says may be read."""
        self.desk.before_read(merged_options(options, kwargs).get("filters"))
        return self.desk.readable(super().search(query, options, **kwargs))
