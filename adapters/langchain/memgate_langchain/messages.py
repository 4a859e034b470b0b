"""LangChain messages as turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from memgate_core.intake import identify
from memgate_core.model import Role, Subject, Turn

Clock = Callable[[], datetime]

_ROLES: tuple[tuple[type[BaseMessage], Role], ...] = (
    (HumanMessage, Role.USER),
    (AIMessage, Role.ASSISTANT),
    (ToolMessage, Role.TOOL),
)


def now() -> datetime:
    """The moment at which a message is taken in, for messages without a time of their own."""
    return datetime.now(UTC)


def role_of(message: BaseMessage) -> Role | None:
    """Who speaks; None for messages that are nobody's turn (system prompts)."""
    return next((role for kind, role in _ROLES if isinstance(message, kind)), None)


def turn_of(
    message: BaseMessage,
    subject: Subject,
    *,
    session: str | None = None,
    clock: Clock = now,
    speaker: str | None = None,
) -> Turn | None:
    """The turn that a message is; None when it says nothing (tool calls) or is nobody's.

    The message's own `id` makes a retry harmless. Its time is `additional_kwargs["occurred_at"]`
    (an aware datetime or ISO text), else the clock's; `additional_kwargs["taint"]` marks pasted
    foreign words.

    Raises:
        InvalidTurnError: text, time or id that cannot be used.
    """
    role = role_of(message)
    text = str(message.text)
    if role is None or not text.strip():
        return None
    return identify(
        text,
        subject=subject,
        occurred_at=_time_of(message) or clock(),
        message_id=message.id or None,
        role=role.value,
        speaker=speaker or message.name,
        session=session,
        taint=message.additional_kwargs.get("taint", ()),
    )


def turns_of(
    messages: Sequence[BaseMessage],
    subject: Subject,
    *,
    session: str | None = None,
    clock: Clock = now,
) -> list[Turn]:
    """The turns among messages, in order. All are checked before any is used.

    Raises:
        InvalidTurnError: as `turn_of`.
    """
    found = [turn_of(m, subject, session=session, clock=clock) for m in messages]
    return [turn for turn in found if turn is not None]


def _time_of(message: BaseMessage) -> datetime | None:
    given = message.additional_kwargs.get("occurred_at")
    if isinstance(given, str):
        try:
            return datetime.fromisoformat(given)
        except ValueError:
            return None
    return given if isinstance(given, datetime) else None
