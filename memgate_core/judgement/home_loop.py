"""The event loop that an async call of the gate came from, for models with async clients."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

_HOME: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("memgate_home_loop", default=None)


def come_from(loop: asyncio.AbstractEventLoop) -> None:
    """Remembers the loop for the work that the current context does in another thread."""
    _HOME.set(loop)


def home_loop() -> asyncio.AbstractEventLoop | None:
    """The remembered loop, if it runs and this thread is free to wait for it."""
    loop = _HOME.get()
    if loop is None or not loop.is_running():
        return None
    try:
        return loop if asyncio.get_running_loop() is not loop else None
    except RuntimeError:
        return loop
