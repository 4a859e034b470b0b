"""Mem0 on embedded Qdrant with packaged embeddings: as released, or gated."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from typing import Any

os.environ.setdefault("MEM0_TELEMETRY", "False")

from mem0 import Memory

from evaluation.memories.recorded_mem0 import RecordedMem0LLM
from evaluation.plans.format import Conversation, Extraction, Step
from evaluation.plans.pipeline import message_id_of, subject_of
from memgate_core import MemoryGate
from memgate_mem0 import GatedMemory, embedded_config

_SEEN = 10
"""Memories that a search returns."""


class Mem0Memory:
    """One conversation's Mem0. With a `gate` it is a `GatedMemory`, else Mem0 as released.

    `llm` is any Mem0 LLM; without one, recorded extractions answer in its place; without those,
    messages are stored as they are (`infer=False`).
    """

    carries = True

    def __init__(
        self,
        conversation: Conversation,
        recorded: Iterable[Extraction],
        *,
        gate: MemoryGate | None = None,
        llm: Any = None,
    ) -> None:
        self._conversation = conversation
        self._gated = gate is not None
        self._folder = tempfile.mkdtemp(prefix="memgate-mem0-")
        config = embedded_config(self._folder)
        if gate is None:
            self.memory: Any = Memory.from_config(config)
        else:
            self.memory = GatedMemory.from_config(
                config, gate, tenant=subject_of(conversation).tenant
            )
        told = list(recorded)
        self._infer = bool(told) or llm is not None
        self.memory.llm = llm if llm is not None else RecordedMem0LLM(told)

    def add(self, step: Step) -> None:
        """One message a call, with the message's own id and time where the memory takes them."""
        known: dict[str, Any] = (
            {"message_id": message_id_of(self._conversation, step), "occurred_at": step.date}
            if self._gated
            else {}
        )
        message = {"role": step.turn.role, "content": step.turn.content}
        self.memory.add([message], user_id=self._conversation.id, infer=self._infer, **known)

    def search(self, query: str) -> list[str]:
        """Mem0's own search."""
        found = self.memory.search(query, filters=self._scope, top_k=_SEEN)
        return [str(one["memory"]) for one in found["results"]]

    def everything(self) -> list[str]:
        """Mem0's own listing."""
        found = self.memory.get_all(filters=self._scope, top_k=1000)
        return [str(one["memory"]) for one in found["results"]]

    @property
    def _scope(self) -> dict[str, str]:
        return {"user_id": self._conversation.id}

    def close(self) -> None:
        """Closes Qdrant and removes its folder."""
        client = getattr(self.memory.vector_store, "client", None)
        self.memory.close()
        if client is not None:
            client.close()
        shutil.rmtree(self._folder, ignore_errors=True)
