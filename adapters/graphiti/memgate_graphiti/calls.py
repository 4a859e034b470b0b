"""The call into Graphiti that is under way in this task, for what stands inside that call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from memgate_core.extracted import Extracted
from memgate_core.model import Subject


@dataclass(frozen=True)
class Source:
    """Turns of one person that are being ingested."""

    subject: Subject
    message_ids: tuple[str, ...]
    names: frozenset[str]
    """What Graphiti's extraction may call this person, without case."""


@dataclass
class ActiveCall:
    """One of our own calls. It travels with the context, so into every task Graphiti starts."""

    owner: object
    """The desk that makes the call: another instance's call in the same context is not meant."""
    sources: tuple[Source, ...]
    judges: bool = True
    """False in shadow mode: what Graphiti extracts is stored as Graphiti wants."""
    verdicts: dict[str, tuple[Subject, Extracted]] = field(default_factory=dict)
    """What was judged, by the fact's text."""

    def asked(self, names: Sequence[str]) -> list[Source]:
        """Whose words may carry a fact between these names: the person named, else anybody's."""
        wanted = {name.casefold() for name in names}
        named = [source for source in self.sources if source.names & wanted]
        return named or list(self.sources)


_current: ContextVar[ActiveCall | None] = ContextVar("memgate_graphiti_call", default=None)


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
