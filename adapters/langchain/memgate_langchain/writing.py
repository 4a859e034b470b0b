"""Who is writing to the store at this moment, and what was kept back of it.

While an agent's tool runs, the store's puts are a model's paraphrase of the user's turn. The
middleware says so here; the store judges such puts on the turn's own words, and notes here what it
kept back, so that the tool's answer can tell the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from memgate_core.model import Subject


@dataclass
class Writing:
    """One tool call's writing."""

    subject: Subject
    message_ids: tuple[str, ...]
    """The recorded turns that the model may have read."""
    kept_back: list[str] = field(default_factory=list)
    """Why puts, or parts of them, were not stored: one reason each."""


_CURRENT: ContextVar[Writing | None] = ContextVar("memgate_langchain_writing", default=None)


@contextmanager
def model_writes(subject: Subject, message_ids: tuple[str, ...]) -> Iterator[Writing]:
    """For the length of the block, puts for this subject are a model's words."""
    writing = Writing(subject, message_ids)
    token = _CURRENT.set(writing)
    try:
        yield writing
    finally:
        _CURRENT.reset(token)


def current_writing() -> Writing | None:
    """The tool call that is under way, if any."""
    return _CURRENT.get()
