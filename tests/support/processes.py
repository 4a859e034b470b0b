"""Worker processes for tests of concurrency and crashes.

They come from a fork server that has the ledger imported already, so that each starts in
milliseconds. What runs in them must be a module-level function.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["memgate_core.ledger.open", "memgate_core.ledger.sqlite", "memgate_core.ledger.postgres"]
)

PATIENCE_S = 600
"""A bound against waiting for ever; nothing that is asserted depends on it."""


def start(work: Callable[..., None], *args: Any) -> Any:
    """A running process."""
    process = CONTEXT.Process(target=work, args=args, daemon=True)
    process.start()
    return process


def together(work: Callable[..., Any], calls: list[tuple[Any, ...]]) -> list[Any]:
    """What `work` answered in one process a call, all of them running at once.

    The first argument that `work` gets is a barrier that all of them can wait at.
    """
    barrier, answers = CONTEXT.Barrier(len(calls)), CONTEXT.Queue()
    started = [
        start(_answering, work, number, barrier, answers, call) for number, call in enumerate(calls)
    ]
    found = dict(answers.get(timeout=PATIENCE_S) for _ in started)
    for process in started:
        process.join(PATIENCE_S)
    for answer in found.values():
        if isinstance(answer, BaseException):
            raise answer
    return [found[number] for number in sorted(found)]


def _answering(work: Any, number: int, barrier: Any, answers: Any, call: tuple[Any, ...]) -> None:
    try:
        answer = work(barrier, *call)
    except BaseException as fault:
        barrier.abort()
        answer = RuntimeError(f"{type(fault).__name__}: {fault}")
    answers.put((number, answer))
