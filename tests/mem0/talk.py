"""One person who talks to a gated memory, on a clock of her own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memgate_core import Subject
from memgate_mem0 import GatedMemory

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class MemoryTalk:
    """Says things to a memory, a day apart unless told otherwise."""

    def __init__(self, memory: GatedMemory, user_id: str = "ana", *, infer: bool = False) -> None:
        self.memory, self.user_id, self.infer = memory, user_id, infer
        self.now = START
        self.filters = {"user_id": user_id}
        self.subject = Subject(user_id=user_id)

    def says(self, messages: Any, *, after: timedelta = DAY, **rest: Any) -> list[dict[str, Any]]:
        """The entries that `add` answers with."""
        self.now += after
        options = {"user_id": self.user_id, "infer": self.infer, "occurred_at": self.now, **rest}
        results: list[dict[str, Any]] = self.memory.add(messages, **options)["results"]
        return results

    def events(self, entries: list[dict[str, Any]]) -> list[str]:
        return [entry["event"] for entry in entries]

    def all_texts(self) -> list[str]:
        """Everything that any read of the main collection shows."""
        listed = self.memory.get_all(filters=self.filters, top_k=100)["results"]
        found = self.memory.search(
            "what is known of the user", filters=self.filters, top_k=100, threshold=0.0
        )["results"]
        assert {row["id"] for row in found} <= {row["id"] for row in listed}
        return [row["memory"] for row in listed]

    def shown(self, word: str) -> list[str]:
        return [text for text in self.all_texts() if word.lower() in text.lower()]

    def held(self) -> list[str]:
        return [
            row["memory"] for row in self.memory.staged.get_all(filters=self.filters)["results"]
        ]

    def raw_messages(self) -> list[str]:
        """What Mem0 keeps for its next extraction prompt."""
        natives = self.memory.desk.projection.natives
        return [content for _id, _key, _role, content in natives.messages()]
