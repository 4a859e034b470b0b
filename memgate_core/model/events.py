"""What the ledger tells its projections, and what they tell it of native objects."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from memgate_core.model.base import Instant, Model
from memgate_core.model.kept import Fact, StagedItem
from memgate_core.model.turn import Subject


class EventType(StrEnum):
    """What the ledger tells its projections, in order."""

    STAGED = "STAGED"
    RESTATED = "RESTATED"
    DISCARDED = "DISCARDED"
    EXPIRED = "EXPIRED"
    PROMOTED = "PROMOTED"
    """A staged item became a fact: write it natively, acknowledge, then reads show it. Without
    `staged`: a fact that holds again, since what had replaced it was taken back."""
    COMMITTED = "COMMITTED"
    """A fact whose words the framework's own call carries (written natively only on rebuild)."""
    SUPERSEDED = "SUPERSEDED"
    CORRECTED = "CORRECTED"
    REVOKED = "REVOKED"
    ERASED = "ERASED"
    """A whole subject: everything the projection holds of it must go."""


class Event(Model):
    """One ledger event. `seq` grows by commit order within a ledger."""

    seq: int
    event_type: EventType
    subject: Subject
    occurred_at: Instant
    recorded_at: Instant
    staged: StagedItem | None = None
    fact: Fact | None = None
    session: str | None = None
    policy_version: str = ""

    @property
    def dedup_key(self) -> str:
        """At-least-once delivery is deduplicated by this."""
        subject_of = (
            self.fact.memory_id if self.fact else self.staged.staged_id if self.staged else ""
        )
        return f"{self.event_type}:{subject_of or self.subject}"


class NativeLink(Model):
    """A framework object that carries facts: which facts, and on which words of the message."""

    projection: str
    native_id: str
    fact_ids: tuple[str, ...] = ()
    staged_ids: tuple[str, ...] = ()
    message_id: str | None = None
    text: str | None = None


JsonObject = dict[str, Any]
