"""Keeps deliveries and ingestions of one group apart.

Graphiti reads edges and entities, thinks for seconds, and then saves them as it read them. An edge
that is closed or deleted in between would be saved again as it was. So while an episode of a group
is being ingested no event is delivered into that group, and the other way round. Ingestions of one
group may run side by side, as with Graphiti alone; different groups do not wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class _Road:
    """One group's: many ingestions, or one delivery."""

    def __init__(self) -> None:
        self._change = asyncio.Condition()
        self.ingesting = 0
        self.delivering = False

    @property
    def is_free(self) -> bool:
        return not self.ingesting and not self.delivering

    async def enter_ingestion(self) -> None:
        async with self._change:
            await self._change.wait_for(lambda: not self.delivering)
            self.ingesting += 1

    async def leave_ingestion(self) -> None:
        async with self._change:
            self.ingesting -= 1
            self._change.notify_all()

    async def enter_delivery(self) -> None:
        async with self._change:
            await self._change.wait_for(lambda: self.is_free)
            self.delivering = True

    async def leave_delivery(self) -> None:
        async with self._change:
            self.delivering = False
            self._change.notify_all()


class Traffic:
    """Who is at work in which group. Belongs to one event loop."""

    def __init__(self) -> None:
        self._roads: dict[str, _Road] = {}

    @asynccontextmanager
    async def ingesting(self, group_id: str) -> AsyncIterator[None]:
        """Inside it nothing is delivered into the group."""
        road = self._roads.setdefault(group_id, _Road())
        await road.enter_ingestion()
        try:
            yield
        finally:
            await asyncio.shield(road.leave_ingestion())

    async def begin_delivery(self, group_id: str) -> None:
        """Waits until nobody is at work in the group, and keeps it for one delivery."""
        await self._roads.setdefault(group_id, _Road()).enter_delivery()

    async def end_delivery(self, group_id: str) -> None:
        """Lets the group go; nothing to do where another event loop has begun meanwhile."""
        if (road := self._roads.get(group_id)) is not None:
            await road.leave_delivery()

    def forget(self) -> None:
        """Starts anew, for another event loop."""
        self._roads.clear()
