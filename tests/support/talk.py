"""One person's conversation with a gate, on a clock of its own."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memgate_core import Fact, MemoryGate, Profile, Receipt, Subject, Turn


class Talk:
    """Says things to a gate, a minute apart unless told otherwise."""

    def __init__(self, gate: MemoryGate, user_id: str, start: datetime) -> None:
        self.gate, self.user_id, self.now = gate, user_id, start
        self.subject = Subject(user_id=user_id)

    @property
    def profile(self) -> Profile:
        return self.gate.profile(self.subject)

    def facts(self) -> list[Fact]:
        return self.profile.facts()

    def turn(self, text: str, *, after: timedelta = timedelta(minutes=1), **rest: Any) -> Turn:
        self.now += after
        return self.gate.turn(text, user_id=self.user_id, occurred_at=self.now, **rest)

    def says(self, text: str, **rest: Any) -> Receipt:
        return self.gate.observe(self.turn(text, **rest))

    def hears(self, text: str, *, role: str = "assistant", **rest: Any) -> Receipt:
        return self.gate.observe(self.turn(text, role=role, **rest))
