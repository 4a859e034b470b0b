"""The add call that is under way in this thread or task, for what stands inside Mem0's own call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date

from memgate_core.extracted import Extracted
from memgate_core.model import Subject


@dataclass
class ActiveCall:
    """One of our own calls into Mem0. It travels with the context, so with `asyncio.to_thread`."""

    owner: object
    """The desk that makes the call: another memory's call in the same context is not meant."""
    subject: Subject
    message_ids: tuple[str, ...]
    observed_on: date | None = None
    """The turn's own day, where the caller gave one."""
    judges: bool = True
    """False in shadow mode: what Mem0 extracts is stored as Mem0 wants."""
    notes: bool = True
    """True when native ids are noted before they are written, since a retry may come."""
    verdicts: dict[str, Extracted] = field(default_factory=dict)
    noted: list[str] = field(default_factory=list)


_current: ContextVar[ActiveCall | None] = ContextVar("memgate_mem0_call", default=None)


def active_call(owner: object) -> ActiveCall | None:
    """The call of this owner that is under way here, if any."""
    call = _current.get()
    return call if call is not None and call.owner is owner else None


@contextmanager
def under_way(call: ActiveCall | None) -> Iterator[None]:
    """Makes `call` the one that is under way; None hides an outer one."""
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)
