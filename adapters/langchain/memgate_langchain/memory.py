"""`MemgateMemory`: the classic memory interface of chains, over the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import get_buffer_string
from pydantic import ConfigDict, Field, PrivateAttr

from memgate_core.errors import InvalidInputError
from memgate_core.gate import MemoryGate
from memgate_core.intake import identify, subject_of
from memgate_core.model import Receipt, Subject, Turn
from memgate_langchain.messages import Clock, now
from memgate_langchain.revoking import revoke_everything
from memgate_langchain.wording import facts_text

if TYPE_CHECKING:
    from langchain_classic.base_memory import BaseMemory
else:
    try:
        from langchain_classic.base_memory import BaseMemory
    except ImportError:  # the same shape, where only langchain-core is installed
        from langchain_core.load.serializable import Serializable as BaseMemory


class MemgateMemory(BaseMemory):
    """Shows a chain what is true of its user, and takes both sides of each exchange in.

        memory = MemgateMemory(gate=gate, user_id="ana")
        chain = ConversationChain(llm=model, memory=memory)

    With `chat_history` the transcript's last messages follow the facts.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    gate: MemoryGate = Field(exclude=True)
    user_id: str
    tenant: str = "default"
    session: str | None = None
    memory_key: str = "history"
    """The variable of the prompt that gets what is known."""
    input_key: str | None = None
    """Which input the user's words are; needed where a chain has several."""
    output_key: str | None = None
    chat_history: BaseChatMessageHistory | None = Field(default=None, exclude=True)
    shown_messages: int = 8
    clock: Clock = Field(default=now, exclude=True)
    _receipts: list[Receipt] = PrivateAttr(default_factory=list)

    @property
    def memory_variables(self) -> list[str]:
        """The one variable that is filled."""
        return [self.memory_key]

    @property
    def receipts(self) -> Sequence[Receipt]:
        """What the gate did with the latest exchange."""
        return tuple(self._receipts)

    @property
    def subject(self) -> Subject:
        """Whose memory this is.

        Raises:
            InvalidTurnError: no usable user id.
        """
        return subject_of(self.user_id, tenant=self.tenant)

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """What is true of the user now; plans are not in it."""
        known = facts_text(self.gate.profile(self.subject).facts())
        return {self.memory_key: "\n\n".join([known, *self._transcript()])}

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """As `load_memory_variables`, off the event loop."""
        return await self.gate.off_loop(self.load_memory_variables, inputs)

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Takes the user's words and the reply through the gate.

        `inputs` may carry `message_id` (makes a retry harmless) and `occurred_at` (aware datetime).

        Raises:
            InvalidInputError: it cannot be told which input or output is meant.
            InvalidTurnError: malformed; nothing was recorded.
        """
        said, answered = self._exchange(inputs, outputs)
        at: datetime = inputs.get("occurred_at") or self.clock()
        first = inputs.get("message_id")
        turns = [self._turn(said, at, first)]
        if answered.strip():
            reply = None if first is None else f"{first}#1"
            turns.append(self._turn(answered, at, reply, role="assistant"))
        self._receipts[:] = self.gate.observe_all(turns)
        self._write_down(said, answered)
        self.gate.deliver(subject=self.subject)

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """As `save_context`, off the event loop."""
        await self.gate.off_loop(self.save_context, inputs, outputs)

    def clear(self) -> None:
        """Forgets: everything known or held of the user is revoked, the transcript emptied.

        The audit trail stays; `memgate erase` removes the words from it too.
        """
        self._receipts.clear()
        revoke_everything(self.gate, self.subject)
        if self.chat_history is not None:
            self.chat_history.clear()

    async def aclear(self) -> None:
        """As `clear`."""
        await self.gate.off_loop(self.clear)

    def _turn(self, text: str, at: datetime, message_id: str | None, role: str = "user") -> Turn:
        return identify(
            text,
            subject=self.subject,
            occurred_at=at,
            message_id=message_id,
            role=role,
            session=self.session,
        )

    def _exchange(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> tuple[str, str]:
        beside = {self.memory_key, "message_id", "occurred_at", "stop"}
        said = _only(inputs, self.input_key, beside, "input_key")
        return said, _only(outputs, self.output_key, set(), "output_key")

    def _write_down(self, said: str, answered: str) -> None:
        if self.chat_history is not None:
            self.chat_history.add_user_message(said)
            self.chat_history.add_ai_message(answered)

    def _transcript(self) -> list[str]:
        if self.chat_history is None or not self.shown_messages:
            return []
        shown = self.chat_history.messages[-self.shown_messages :]
        return [get_buffer_string(shown)] if shown else []


def _only(given: Mapping[str, Any], key: str | None, beside: set[str], setting: str) -> str:
    keys = [name for name in given if name not in beside]
    if key is None and len(keys) != 1:
        raise InvalidInputError(
            f"{setting}: cannot tell which of {sorted(keys)} to take", hint=f"set {setting}"
        )
    found = given.get(key if key is not None else keys[0])
    if not isinstance(found, str):
        raise InvalidInputError(f"{setting}: must be a string, not {type(found).__name__}")
    return found
