"""Step 1 of a turn: identify it, and refuse what is malformed before anything is written."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from memgate_core.errors import InvalidTurnError
from memgate_core.model import HistoryTurn, Role, Source, Subject, Turn

MAX_CHARACTERS = 200_000
"""Longest message that is judged; a longer one is a document and belongs in a document store."""

_SOURCE_OF_ROLE = {
    Role.USER: Source.USER,
    Role.ASSISTANT: Source.ASSISTANT,
    Role.TOOL: Source.TOOL,
    Role.SYSTEM: Source.TOOL,
}


def identify(
    text: str,
    *,
    subject: Subject,
    occurred_at: datetime,
    message_id: str | None = None,
    role: str = "user",
    speaker: str | None = None,
    source: str | None = None,
    session: str | None = None,
    taint: Iterable[str] = (),
    history: Sequence[HistoryTurn | Mapping[str, Any]] = (),
) -> Turn:
    """Builds a checked turn from what a framework hands over.

    Without a `message_id` one is minted and `turn.minted` says that retries are not recognised.

    Raises:
        InvalidTurnError: names the part that is malformed; nothing was written.
    """
    role_ = _role(role)
    _check_text("text", text)
    _check_clock(occurred_at)
    return Turn(
        subject=subject,
        message_id=_check_id(message_id) if message_id is not None else f"minted-{uuid.uuid4()}",
        minted=message_id is None,
        role=role_,
        speaker=speaker,
        text=text,
        occurred_at=occurred_at,
        source=_source(source, role_),
        taint=frozenset(taint),
        session=session,
        history=tuple(_history(entry, i) for i, entry in enumerate(history))[-2:],
    )


def subject_of(user_id: object, *, tenant: str = "default", actor: str | None = None) -> Subject:
    """The subject for a user id, refused when it is missing or malformed.

    Raises:
        InvalidTurnError: no id, an empty one, or one with control characters.
    """
    if user_id is None:
        raise InvalidTurnError(
            "subject.user_id",
            "is missing",
            hint="say whose memory this is; reads and writes need it",
        )
    if not isinstance(user_id, str):
        raise InvalidTurnError("subject.user_id", f"must be a string, not {type(user_id).__name__}")
    _check_words("subject.user_id", user_id)
    return Subject(tenant=tenant, user_id=user_id, actor=actor)


def checked(turn: Turn) -> Turn:
    """Applies the same checks to a turn that was built by hand.

    Raises:
        InvalidTurnError: as `identify`.
    """
    _check_text("text", turn.text)
    _check_id(turn.message_id)
    _check_words("subject.user_id", turn.subject.user_id)
    return turn


def _role(role: object) -> Role:
    try:
        return Role(str(role))
    except ValueError:
        known = ", ".join(Role)
        raise InvalidTurnError("role", f"{role!r} is unknown", hint=f"one of {known}") from None


def _source(source: str | None, role: Role) -> Source:
    if source is None:
        return _SOURCE_OF_ROLE[role]
    try:
        return Source(source)
    except ValueError:
        known = ", ".join(Source)
        raise InvalidTurnError("source", f"{source!r} is unknown", hint=f"one of {known}") from None


def _check_text(where: str, text: object) -> None:
    if not isinstance(text, str):
        raise InvalidTurnError(where, f"must be a string, not {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise InvalidTurnError(
            where,
            f"has {len(text):,} characters, more than {MAX_CHARACTERS:,}",
            hint="store documents elsewhere; a memory holds what people say",
        )
    _check_words(where, text)


def _check_words(where: str, text: str) -> None:
    if not text.strip():
        raise InvalidTurnError(where, "is empty")
    if "\x00" in text:
        raise InvalidTurnError(where, f"has a NUL character at {text.index(chr(0))}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise InvalidTurnError(
            where, f"has a lone surrogate at {fault.start}", hint="it cannot be stored as UTF-8"
        ) from None


def _check_id(message_id: object) -> str:
    if not isinstance(message_id, str):
        raise InvalidTurnError("message_id", f"must be a string, not {type(message_id).__name__}")
    _check_words("message_id", message_id)
    return message_id


def _check_clock(occurred_at: object) -> None:
    if not isinstance(occurred_at, datetime):
        raise InvalidTurnError(
            "occurred_at", f"must be a datetime, not {type(occurred_at).__name__}"
        )
    if occurred_at.tzinfo is None or occurred_at.utcoffset() is None:
        raise InvalidTurnError(
            "occurred_at",
            "has no time zone",
            hint="use an aware datetime such as datetime.now(UTC)",
        )


def _history(entry: HistoryTurn | Mapping[str, Any], index: int) -> HistoryTurn:
    if isinstance(entry, HistoryTurn):
        return entry
    try:
        return HistoryTurn.model_validate(dict(entry))
    except (ValidationError, TypeError, ValueError):
        raise InvalidTurnError(
            f"history[{index}]", "needs the keys role and content, both strings"
        ) from None
