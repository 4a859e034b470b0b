"""Early notice that a turn will probably go on whole, while its fields are still being judged.

A framework's call often begins with work that depends on the words alone, as an embedding. An
adapter that hears early can begin on it, and loses nothing but the work where the gate then holds
the words after all. Nothing may leave the process on such notice: it is no decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from memgate_core.model import EvidenceJudgement, EvidenceType, Turn

Listener = Callable[[Turn], None]

_listener: ContextVar[Listener | None] = ContextVar("memgate_early_notice", default=None)


@contextmanager
def early_notice(listener: Listener | None) -> Iterator[None]:
    """`listener` is told of each turn that is observed inside the block and holds no plan by the
    look of its words. None: nobody is."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def notify(turn: Turn, judgements: Sequence[EvidenceJudgement]) -> None:
    """Tells the listener, if there is one."""
    listener = _listener.get()
    if listener is None or any(j.evidence_type is EvidenceType.SPECULATION for j in judgements):
        return
    listener(turn)
