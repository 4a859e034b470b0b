"""The async entry: the one sync core in a bounded executor, so that no event loop ever waits.

No ledger lock is held across a model or framework call, so a slow store cannot block a hold.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from memgate_core.extracted import Extracted
from memgate_core.judgement.home_loop import come_from
from memgate_core.model import JsonObject, NativeLink, Receipt, Subject, Turn
from memgate_core.projection import DeliveryReport

P = ParamSpec("P")
T = TypeVar("T")

MAX_WORKERS = 8
"""Turns judged at once; more wait their turn in the executor's queue, not in the event loop."""


class AsyncEntry(ABC):
    """Async twins of a gate's calls, mixed into `MemoryGate`."""

    _executor: ThreadPoolExecutor | None = None

    async def aobserve(
        self,
        turn: Turn,
        proposals: Sequence[Mapping[str, Any]] | None = None,
        *,
        carried: bool | None = None,
        settles: bool = True,
    ) -> Receipt:
        """`observe`, off the event loop. Same arguments, result and errors."""
        return await self.off_loop(self.observe, turn, proposals, carried=carried, settles=settles)

    async def aobserve_all(
        self, turns: Sequence[Turn], *, carried: bool | None = None
    ) -> list[Receipt]:
        """`observe_all`, off the event loop."""
        return await self.off_loop(self.observe_all, turns, carried=carried)

    async def ajudge_extracted(
        self, subject: Subject, message_ids: Sequence[str], texts: Sequence[str]
    ) -> list[Extracted]:
        """`judge_extracted`, off the event loop."""
        return await self.off_loop(self.judge_extracted, subject, message_ids, texts)

    async def aanswered(
        self,
        subject: Subject,
        message_id: str,
        answer: JsonObject,
        links: Sequence[NativeLink] = (),
    ) -> None:
        """`answered`, off the event loop."""
        await self.off_loop(self.answered, subject, message_id, answer, links)

    async def adeliver(self, *, subject: Subject | None = None) -> list[DeliveryReport]:
        """`deliver`, off the event loop."""
        return await self.off_loop(self.deliver, subject=subject)

    async def off_loop(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs any sync call of the gate in its bounded executor."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(MAX_WORKERS, thread_name_prefix="memgate")
        loop = asyncio.get_running_loop()
        context = copy_context()
        context.run(come_from, loop)
        work = partial(context.run, call, *args, **kwargs)
        return await loop.run_in_executor(self._executor, work)

    # What `MemoryGate` provides; named here so that the twins are typed.

    @abstractmethod
    def observe(
        self,
        turn: Turn,
        proposals: Sequence[Mapping[str, Any]] | None = None,
        *,
        carried: bool | None = None,
        settles: bool = True,
    ) -> Receipt:
        """See `MemoryGate.observe`."""

    @abstractmethod
    def observe_all(self, turns: Sequence[Turn], *, carried: bool | None = None) -> list[Receipt]:
        """See `MemoryGate.observe_all`."""

    @abstractmethod
    def judge_extracted(
        self, subject: Subject, message_ids: Sequence[str], texts: Sequence[str]
    ) -> list[Extracted]:
        """See `MemoryGate.judge_extracted`."""

    @abstractmethod
    def answered(
        self,
        subject: Subject,
        message_id: str,
        answer: JsonObject,
        links: Sequence[NativeLink] = (),
    ) -> None:
        """See `MemoryGate.answered`."""

    @abstractmethod
    def deliver(self, *, subject: Subject | None = None) -> list[DeliveryReport]:
        """See `MemoryGate.deliver`."""
