"""`GatedChatMessageHistory`: the transcript keeps what was said, memory what is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import BaseMessage

from memgate_core.gate import MemoryGate
from memgate_core.intake import subject_of
from memgate_core.model import Receipt, Turn
from memgate_langchain.messages import Clock, now, turns_of


class GatedChatMessageHistory(BaseChatMessageHistory):
    """A chat message history whose messages also pass through the gate.

    The wrapped history gets every message unchanged: it is a record of the conversation. What
    becomes memory is decided by the gate, and read from `gate.profile(user_id)`.
    """

    def __init__(
        self,
        gate: MemoryGate | str,
        user_id: str,
        *,
        history: BaseChatMessageHistory | None = None,
        session: str | None = None,
        tenant: str = "default",
        clock: Clock = now,
        on_receipt: Callable[[Receipt], None] | None = None,
    ) -> None:
        """`gate`: a gate, or the url of a ledger. `history`: the transcript (default: in memory).

        Raises:
            InvalidTurnError: no usable user id. LedgerError: no ledger at the url.
        """
        super().__init__()
        self.gate = MemoryGate.open(gate) if isinstance(gate, str) else gate
        self.subject = subject_of(user_id, tenant=tenant)
        self.session = session
        self.history = history if history is not None else InMemoryChatMessageHistory()
        self._clock, self._on_receipt = clock, on_receipt

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The transcript."""
        return self.history.messages

    async def aget_messages(self) -> list[BaseMessage]:
        """The transcript."""
        return await self.history.aget_messages()

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Takes each message through the gate, then appends all of them to the transcript.

        Raises:
            InvalidTurnError: a message that cannot be taken in; nothing was recorded.
            Exception: whatever gate or transcript raise; messages with ids may be added again.
        """
        for turn in self._turns(messages):
            self._told(self.gate.observe(turn))
        self.history.add_messages(messages)
        self.gate.deliver(subject=self.subject)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """As `add_messages`, off the event loop."""
        for turn in self._turns(messages):
            self._told(await self.gate.aobserve(turn))
        await self.history.aadd_messages(messages)
        await self.gate.adeliver(subject=self.subject)

    def clear(self) -> None:
        """Empties the transcript. Memory stays: it is the user's, not the conversation's."""
        self.history.clear()

    async def aclear(self) -> None:
        """As `clear`."""
        await self.history.aclear()

    def _turns(self, messages: Sequence[BaseMessage]) -> list[Turn]:
        return turns_of(messages, self.subject, session=self.session, clock=self._clock)

    def _told(self, receipt: Receipt) -> None:
        if self._on_receipt is not None:
            self._on_receipt(receipt)
