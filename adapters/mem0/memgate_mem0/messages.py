"""The messages of an add call: which are turns, what they say, and what of them may go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgate_core.errors import InvalidTurnError
from memgate_core.model import HistoryTurn, Role
from memgate_mem0.scope import check_storable

_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}
_TALK = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True)
class Message:
    """One message as the caller gave it, and as the gate sees it."""

    given: Mapping[str, Any]
    role: Role
    text: str | None
    """The words; None for a message without any (a tool call, a bare picture)."""
    speaker: str | None

    @property
    def is_turn(self) -> bool:
        """True when somebody says something: the operator's system text is nobody's statement."""
        return self.text is not None and self.role is not Role.SYSTEM

    def saying(self, text: str) -> dict[str, Any]:
        """The same message with other words; pictures stay where they were."""
        if not isinstance(self.given.get("content"), list):
            return {**self.given, "content": text}
        rest = [part for part in self.given["content"] if not _is_text(part)]
        return {**self.given, "content": [{"type": "text", "text": text}, *rest]}


def read_messages(messages: Any) -> list[Message]:
    """The messages of a call in any of the forms that Mem0 takes: str, dict, list of dicts.

    Raises:
        InvalidTurnError: another form, an unknown role, or nothing said at all.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list | tuple):
        found = type(messages).__name__
        raise InvalidTurnError("messages", f"must be str, dict or list of dicts, not {found}")
    read = [_read(message, at) for at, message in enumerate(messages)]
    if not any(message.text is not None for message in read):
        raise InvalidTurnError("text", "is empty", hint="no message says anything")
    return read


def history_before(messages: Sequence[Message], index: int) -> tuple[HistoryTurn, ...]:
    """Up to two turns of the same call that came before, oldest first; tools are no context."""
    before = [m for m in messages[:index] if m.text is not None and m.role in _TALK]
    return tuple(HistoryTurn(role=m.role, content=m.text or "") for m in before[-2:])


def _read(message: Any, at: int) -> Message:
    if not isinstance(message, Mapping):
        raise InvalidTurnError(f"messages[{at}]", f"must be a dict, not {type(message).__name__}")
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        known = ", ".join(_ROLES)
        raise InvalidTurnError(
            f"messages[{at}].role", f"{role!r} is unknown", hint=f"one of {known}"
        )
    name = message.get("name")
    if isinstance(name, str):
        check_storable(f"messages[{at}].name", name)
    return Message(
        given=message,
        role=_ROLES[role],
        text=_words(message.get("content"), at),
        speaker=name if isinstance(name, str) and name.strip() else None,
    )


def _words(content: Any, at: int) -> str | None:
    if isinstance(content, list):
        texts = [part["text"] for part in content if _is_text(part)]
        content = " ".join(texts)
    if content is None or isinstance(content, Mapping):
        return None
    if not isinstance(content, str):
        found = type(content).__name__
        raise InvalidTurnError(f"messages[{at}].content", f"must be text, not {found}")
    return content if content.strip() else None


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )
