"""Bounds a blocking call in time: model clients have timeouts of their own, or none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from queue import Queue
from typing import TypeVar

from memgate_core.errors import ModelFaultError

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """The call's result, or its error, if it comes in time.

    A call that does not is left to itself: Python cannot stop a thread, so it runs as a daemon
    and its late result is dropped.

    Raises:
        ModelFaultError: no result after `seconds`.
    """
    outcome: Queue[tuple[T | None, BaseException | None]] = Queue(maxsize=1)
    context = copy_context()

    def run() -> None:
        try:
            outcome.put((context.run(call), None))
        except BaseException as raised:
            outcome.put((None, raised))

    threading.Thread(target=run, name="memgate-model", daemon=True).start()
    try:
        result, raised = outcome.get(timeout=seconds)
    except Exception:
        raise ModelFaultError(f"the model did not answer within {seconds:g} s") from None
    if raised is not None:
        raise raised
    return result  # type: ignore[return-value]
