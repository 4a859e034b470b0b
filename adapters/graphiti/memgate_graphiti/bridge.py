"""Runs coroutines on the event loop that owns the graph driver, for callers in other threads.

The ledger delivers in a worker thread, yet a driver's connections belong to one event loop. Work
is handed back to that loop; where no loop runs (a script, a command), a loop of our own does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from memgate_core.errors import ProjectionError

T = TypeVar("T")

_LOOK_S = 0.2
"""Seconds between two looks at whether the loop still runs."""


class LoopBridge:
    """The way from a thread to the driver's loop. `on_move` is called when the loop changes."""

    def __init__(self, on_move: Callable[[], None] = lambda: None) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._own: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._on_move = on_move

    def adopt(self) -> None:
        """From now on the running loop is the driver's."""
        self._bind(asyncio.get_running_loop())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` on the driver's loop and waits for it.

        Raises:
            ProjectionError: called on that very loop, which would wait for itself; or the loop
                ended before the work did.
        """
        loop = self._usable_loop()
        try:
            mine: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            mine = None
        if mine is loop:
            work.close()
            raise ProjectionError(
                "Graphiti cannot be written to from its own event loop by a blocking call",
                hint="use the async calls, such as `await gate.adeliver()`",
            )
        return _result(asyncio.run_coroutine_threadsafe(work, loop), loop)

    def close(self) -> None:
        """Ends the loop of our own, if there is one."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.call_soon_threadsafe(own.stop)
            if self._loop is own:
                self._loop = None

    def _usable_loop(self) -> asyncio.AbstractEventLoop:
        loop = self._loop
        if loop is not None and loop.is_running():
            return loop
        with self._lock:
            if self._own is None:
                self._own = _started_loop()
            own = self._own
        self._bind(own)
        return own

    def _bind(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is self._loop:
            return
        moved = self._loop is not None
        self._loop = loop
        if moved:
            self._on_move()


def _result(work: Future[T], loop: asyncio.AbstractEventLoop) -> T:
    """Waits for work, and no longer than its loop runs: a thread that waits for a loop that has
    ended would keep the program from ending, and its events from being delivered."""
    while True:
        try:
            return work.result(timeout=_LOOK_S)
        except CancelledError:
            raise _ended() from None
        except TimeoutError:
            if work.done():
                raise
            if not loop.is_running():
                if not loop.is_closed():
                    work.cancel()
                raise _ended() from None


def _ended() -> ProjectionError:
    return ProjectionError(
        "the event loop that owns Graphiti's driver has ended",
        hint="what was to be delivered stays due; `await graphiti.close()` waits for it",
    )


def _started_loop() -> asyncio.AbstractEventLoop:
    """A loop that runs in a thread of its own until it is stopped."""
    loop = asyncio.new_event_loop()

    def live() -> None:
        loop.run_forever()
        loop.close()

    threading.Thread(target=live, name="memgate-graphiti-loop", daemon=True).start()
    return loop
