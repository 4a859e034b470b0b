"""Whose memory a Mem0 call is about: its ids, and the gate's subject and session for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memgate_core.errors import InvalidTurnError
from memgate_core.intake import subject_of
from memgate_core.model import Subject

ID_NAMES = ("user_id", "agent_id", "run_id")
"""Mem0's scope ids, widest first."""

_AGENT, _RUN, _USER = "agent:", "run:", "user:"
_PREFIXES = (_AGENT, _RUN, _USER)


@dataclass(frozen=True)
class MemoryScope:
    """The ids of one call, trimmed as Mem0 trims them."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    actor: str | None = None
    """One of several people under one user id, where another part of a deployment tells them
    apart; Mem0's own calls do not."""

    @classmethod
    def of_call(cls, user_id: Any, agent_id: Any, run_id: Any) -> MemoryScope:
        """The scope of an add call.

        Raises:
            InvalidTurnError: no id at all, or one that is empty, holds white space or what cannot
                be stored, or is no string, whole number or UUID.
        """
        scope = cls(
            _trimmed("user_id", user_id), _trimmed("agent_id", agent_id), _trimmed("run_id", run_id)
        )
        if not scope.ids:
            raise InvalidTurnError(
                "subject.user_id",
                "is missing, and so are agent_id and run_id",
                hint="say whose memory this is; reads and writes need it",
            )
        return scope

    @classmethod
    def of_filters(cls, filters: Mapping[str, Any] | None) -> MemoryScope | None:
        """The scope that a read's filters name plainly; None where they name none."""
        plain = {
            name: str(value).strip()
            for name, value in (filters or {}).items()
            if name in ID_NAMES and isinstance(value, str | int) and str(value).strip()
        }
        return cls(**plain) if plain else None

    @classmethod
    def of_payload(cls, payload: Mapping[str, Any]) -> MemoryScope | None:
        """The scope that a stored memory belongs to; None for one without any id."""
        plain = {name: str(payload[name]) for name in ID_NAMES if payload.get(name)}
        return cls(**plain) if plain else None

    @classmethod
    def of_subject(cls, subject: Subject, session: str | None = None) -> MemoryScope:
        """The widest scope of a subject; `session` is a run id."""
        name = subject.user_id
        if name.startswith(_AGENT):
            return cls(agent_id=name.removeprefix(_AGENT), run_id=session, actor=subject.actor)
        if name.startswith(_RUN):
            return cls(run_id=name.removeprefix(_RUN), actor=subject.actor)
        return cls(user_id=name.removeprefix(_USER), run_id=session, actor=subject.actor)

    @property
    def ids(self) -> dict[str, str]:
        """The ids that are given, by Mem0's names."""
        found = {name: getattr(self, name) for name in ID_NAMES}
        return {name: value for name, value in found.items() if value}

    @property
    def stored(self) -> dict[str, str]:
        """What a memory of this scope carries."""
        return self.ids if self.actor is None else {**self.ids, "actor_id": self.actor}

    @property
    def owner(self) -> dict[str, str]:
        """The one id that says whose memory it is."""
        name = next(name for name in ID_NAMES if name in self.ids)
        return {name: self.ids[name]}

    @property
    def session_key(self) -> str:
        """The key under which Mem0 keeps the last raw messages of this scope."""
        ids = sorted(self.ids.items())
        return "&".join(f"{name}={_escaped(value)}" for name, value in ids)

    def subject(self, tenant: str) -> Subject:
        """User, else `agent:<id>`, else `run:<id>`; a run is a session, never part of a key."""
        if self.user_id is not None:
            clash = self.user_id.startswith(_PREFIXES)
            return subject_of(f"{_USER if clash else ''}{self.user_id}", tenant=tenant)
        if self.agent_id is not None:
            return subject_of(f"{_AGENT}{self.agent_id}", tenant=tenant)
        return subject_of(None if self.run_id is None else f"{_RUN}{self.run_id}", tenant=tenant)

    def holds(self, payload: Mapping[str, Any]) -> bool:
        """True when a stored memory is of the same subject (a user's run is not the bare run's)."""
        theirs = MemoryScope.of_payload(payload)
        if theirs is None or theirs.owner != self.owner:
            return False
        return self.actor is None or payload.get("actor_id") == self.actor


def scope_of_session_key(key: str) -> MemoryScope | None:
    """The scope that a key of Mem0's raw messages stands for."""
    pairs = [part.split("=", 1) for part in key.split("&") if "=" in part]
    return MemoryScope.of_payload({name: _unescaped(value) for name, value in pairs})


def _trimmed(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | UUID):
        raise InvalidTurnError(f"subject.{name}", f"must be a string, not {type(value).__name__}")
    text = str(value).strip()
    if not text or any(ch.isspace() for ch in text):
        problem = "is empty" if not text else "holds white space"
        raise InvalidTurnError(f"subject.{name}", problem)
    check_storable(f"subject.{name}", text)
    return text


def check_storable(where: str, text: str) -> None:
    """Refuses what no store can keep.

    Raises:
        InvalidTurnError: a NUL character, or half of a surrogate pair.
    """
    if "\x00" in text:
        raise InvalidTurnError(where, f"has a NUL character at {text.index(chr(0))}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as fault:
        raise InvalidTurnError(where, f"has a lone surrogate at {fault.start}") from None


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("&", "%26").replace("=", "%3D")


def _unescaped(value: str) -> str:
    return value.replace("%3D", "=").replace("%26", "&").replace("%25", "%")
