"""Two real Mem0 memories on embedded Qdrant: one as released, one behind the gate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

os.environ.setdefault("MEM0_TELEMETRY", "False")

from mem0 import Memory

from evaluation.demo.chat import Message
from evaluation.memories.recorded_mem0 import RecordedMem0LLM
from evaluation.plans.format import Extraction
from memgate_core import MemoryGate
from memgate_core.model import Receipt
from memgate_mem0 import embedded_config, embedded_memory


class Mem0Pair:
    """The same messages into both. Everything lies in `folder`.

    `recorded` stands in for Mem0's language model; without any recording messages are stored as
    they are (Mem0's `infer=False`).
    """

    def __init__(self, folder: Path, recorded: Sequence[Extraction]) -> None:
        self.gate = MemoryGate.open(f"sqlite:///{folder / 'memgate.db'}")
        self.released: Any = Memory.from_config(embedded_config(folder / "released"))
        self.gated: Any = embedded_memory(folder / "gated", self.gate)
        self._infer = bool(recorded)
        for memory in (self.released, self.gated):
            memory.llm = RecordedMem0LLM(recorded)

    def add(self, message: Message) -> Receipt:
        """Hands a message to both and returns the gate's receipt."""
        said = [{"role": message.role, "content": message.content}]
        self.released.add(said, user_id=message.user, infer=self._infer)
        self._heard(message)
        self.gated.add(
            said,
            user_id=message.user,
            infer=self._infer,
            message_id=message.id,
            occurred_at=message.at,
        )
        record = self.gate.ledger.turn(self.gate.profile(message.user).subject, message.id)
        assert record is not None  # the call above recorded it
        return record.receipt

    def _heard(self, message: Message) -> None:
        """Lets the gate hear the recorded extractions of a message, as from any extractor."""
        if not message.extracted:
            return
        turn = self.gate.turn(
            message.content,
            user_id=message.user,
            occurred_at=message.at,
            message_id=message.id,
            role=message.role,
        )
        proposals = [one.model_dump(include=_PROPOSAL) for one in message.extracted]
        self.gate.observe(turn, proposals, carried=True)

    def believes(self, user: str, question: str) -> tuple[list[str], list[str]]:
        """What each memory's own search returns, best first."""
        return self._found(self.released, user, question), self._found(self.gated, user, question)

    def _found(self, memory: Any, user: str, question: str) -> list[str]:
        found = memory.search(question, filters={"user_id": user}, top_k=_SHOWN)["results"]
        return [str(one["memory"]) for one in found]

    def all_of(self, user: str) -> tuple[list[str], list[str]]:
        """Everything that each memory lets a reader see."""
        listed = [
            [str(one["memory"]) for one in memory.get_all(filters={"user_id": user})["results"]]
            for memory in (self.released, self.gated)
        ]
        return listed[0], listed[1]

    def close(self) -> None:
        """Closes both and the gate."""
        for memory in (self.released, self.gated):
            memory.close()
            memory.vector_store.client.close()
        self.gate.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


_SHOWN = 3
"""Search results that are shown."""

_PROPOSAL = {"entity", "attribute", "value", "text", "span"}
