"""What the gate found out about an add call before Mem0 sees any of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from memgate_core.echoes import echoes
from memgate_core.gate import MemoryGate
from memgate_core.intake import identify
from memgate_core.model import Receipt, Role, Span, Subject, Turn
from memgate_mem0.messages import Message, history_before, read_messages
from memgate_mem0.scope import MemoryScope


@dataclass(frozen=True)
class Heard:
    """One message with its receipt; None for a message that is nobody's turn."""

    message: Message
    receipt: Receipt | None
    dropped: bool = False
    """True for system text that repeats what is held."""

    @property
    def forward(self) -> str | None:
        """The words that may go on."""
        if self.dropped:
            return None
        return self.message.text if self.receipt is None else self.receipt.forward

    @property
    def goes_on(self) -> bool:
        """False when nothing of it may."""
        if self.receipt is None:
            return not self.dropped
        return self.forward is not None

    @property
    def unchanged(self) -> bool:
        """True when it goes on exactly as it came."""
        return self.goes_on and self.forward == self.message.text

    def going_on(self) -> Any:
        """The message as it goes on."""
        if self.unchanged or self.forward is None:
            return self.message.given
        return self.message.saying(self.forward)


@dataclass(frozen=True)
class Reception:
    """One add call: its scope, and each message with what the gate made of it."""

    given: Any
    """The messages as the caller passed them."""
    scope: MemoryScope
    subject: Subject
    heard: tuple[Heard, ...]
    occurred_on: date | None
    """The turn's own day, where the caller gave a time."""

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """The receipts of the turns, in order."""
        return tuple(h.receipt for h in self.heard if h.receipt is not None)

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The turns' message ids, in order."""
        return tuple(receipt.message_id for receipt in self.receipts)

    @property
    def minted(self) -> bool:
        """True when no id was given: a retry of this call is not recognised."""
        return not self.receipts or self.receipts[0].minted

    @property
    def shadow(self) -> bool:
        """True when the gate only records what it would have done."""
        return any(receipt.shadow for receipt in self.receipts)

    @property
    def forwarded(self) -> list[Heard]:
        """The messages that go on to Mem0."""
        return [h for h in self.heard if h.goes_on]

    @property
    def messages(self) -> Any:
        """What Mem0's own call gets: the caller's own object where nothing is taken out."""
        if all(h.unchanged for h in self.heard):
            return self.given
        return [h.going_on() for h in self.forwarded]

    @property
    def calls(self) -> bool:
        """False when nothing is left to say: then Mem0 is not called at all."""
        return any(h.message.text is not None for h in self.forwarded)


def receive(
    gate: MemoryGate,
    messages: Any,
    scope: MemoryScope,
    *,
    tenant: str,
    message_id: str | None,
    occurred_at: datetime | None,
) -> Reception:
    """Takes every message of a call through the gate, in order.

    All of them are checked before the first is recorded.

    Raises:
        InvalidTurnError: malformed; nothing was recorded.
        ProtocolConflictError: the message id is known with other words.
        LedgerError: the call may be retried with the same message id.
    """
    read = read_messages(messages)
    subject = scope.subject(tenant)
    at = occurred_at if occurred_at is not None else datetime.now(UTC)
    turns = _turns(read, subject, scope, message_id, at)
    judged = gate.observe_all(list(turns.values()), carried=True)
    receipts = dict(zip(turns, judged, strict=True))
    heard = tuple(
        Heard(m, receipts.get(i), dropped=i not in receipts and _echoes(gate, m, subject, at))
        for i, m in enumerate(read)
    )
    day = occurred_at.astimezone(UTC).date() if occurred_at is not None else None
    return Reception(messages, scope, subject, heard, day)


def _turns(
    read: Sequence[Message],
    subject: Subject,
    scope: MemoryScope,
    message_id: str | None,
    at: datetime,
) -> dict[int, Turn]:
    """The turns by their place in the call; the first has the given id, the others `<id>#<n>`."""
    said = [index for index, message in enumerate(read) if message.is_turn]
    ids = {i: _numbered(message_id, n) for n, i in enumerate(said)}
    return {
        i: identify(
            read[i].text or "",
            subject=subject,
            occurred_at=at,
            message_id=ids[i],
            role=read[i].role,
            speaker=read[i].speaker,
            session=scope.run_id,
            history=history_before(read, i),
        )
        for i in said
    }


def _numbered(message_id: str | None, number: int) -> str | None:
    return f"{message_id}#{number}" if message_id is not None and number else message_id


def _echoes(gate: MemoryGate, message: Message, subject: Subject, at: datetime) -> bool:
    """True for system text that speaks of something held: it may quote a list of plans."""
    if message.text is None or message.role is not Role.SYSTEM:
        return False
    turn = identify(message.text, subject=subject, occurred_at=at, role=Role.SYSTEM)
    return bool(echoes(turn, [Span(start=0, end=len(message.text))], gate.ledger))
