"""Groups, subjects and graphs: whose memory a group is, and which driver reaches it.

A group is a user, unless told otherwise; other people who speak in it are actors of that user's
subject. On FalkorDB every group is a graph of its own, so everything that is written or read for a
group goes through a driver of that group (verified: tests/graphiti/test_host_facts.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import OrderedDict
from typing import Any

from graphiti_core.driver.driver import GraphDriver, GraphProvider
from graphiti_core.errors import GroupIdValidationError
from graphiti_core.helpers import get_default_group_id, validate_group_id

from memgate_core.errors import InvalidTurnError
from memgate_core.intake import subject_of
from memgate_core.model import Subject

DEFAULT_USER = "_"
"""The user id that stands for the default group, which Graphiti itself calls "" on Neo4j."""

_MAX_DRIVERS = 256
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


class Groups:
    """The groups of one graph database."""

    def __init__(self, driver: GraphDriver, tenant: str = "default") -> None:
        self.shared, self.tenant = driver, tenant
        self.default: str = get_default_group_id(driver.provider)
        self._drivers: OrderedDict[str, GraphDriver] = OrderedDict()

    @property
    def provider(self) -> GraphProvider:
        """Which database it is."""
        return self.shared.provider

    def named(self, group_id: str | None) -> str:
        """The group that a call means; None is the default one.

        Raises:
            InvalidTurnError: not a string, or characters that Graphiti refuses in a group id.
        """
        if group_id is None:
            return self.default
        if not isinstance(group_id, str):
            raise InvalidTurnError("group_id", f"must be a string, not {type(group_id).__name__}")
        try:
            validate_group_id(group_id)
        except GroupIdValidationError:
            raise InvalidTurnError(
                "group_id", "may hold letters, digits, - and _ only", hint="Graphiti's own rule"
            ) from None
        return str(group_id)

    def subject(self, group_id: str, actor: str | None = None) -> Subject:
        """Whose memory it is: the group's user, or somebody who speaks in the group."""
        user = DEFAULT_USER if group_id == self.default else group_id
        return subject_of(user, tenant=self.tenant, actor=actor)

    def of_subject(self, subject: Subject) -> str:
        """The group of a subject. A user id that Graphiti would refuse gets a readable stand-in."""
        user = subject.user_id
        if user == DEFAULT_USER:
            return self.default
        if not _FOREIGN.search(user):
            return user
        mark = hashlib.sha256(user.encode()).hexdigest()[:8]
        return f"{_FOREIGN.sub('_', user)[:80]}-{mark}"

    def driver(self, group_id: str) -> GraphDriver:
        """A driver that reads and writes this group.

        Kept, since on FalkorDB every new one builds the group's indices again.
        """
        if group_id in (self.default, self.shared._database):
            return self.shared
        found = self._drivers.pop(group_id, None) or self.shared.clone(database=group_id)
        self._drivers[group_id] = found
        if len(self._drivers) > _MAX_DRIVERS:
            self._drivers.popitem(last=False)
        return found

    def forget(self) -> None:
        """Lets go of the kept drivers and connections: they belong to an event loop that is gone,
        and on this one can be neither used nor closed."""
        self._drivers.clear()
        if self.provider is GraphProvider.FALKORDB:
            client: Any = self.shared.client
            client.connection.connection_pool.reset()

    async def settled(self) -> None:
        """Waits for the indices that drivers of this loop are building on their own: a connection
        closed under them is an error that nobody would see but the log."""
        for driver in (self.shared, *self._drivers.values()):
            task = _index_task(driver)
            if task is not None:
                await asyncio.wait([task])

    async def holding_episode(self, uuid: str) -> str | None:
        """The group in whose graph an episode lies; None where there is none.

        On Neo4j all groups share one graph; on FalkorDB the graphs are asked one after another,
        those in use first.
        """
        query = "MATCH (e:Episodic {uuid: $uuid}) RETURN e.group_id AS group_id"
        for driver in await self._every_driver():
            records, _, _ = await driver.execute_query(query, uuid=uuid)
            if records:
                group: str = records[0]["group_id"]
                return group
        return None

    async def _every_driver(self) -> list[GraphDriver]:
        drivers = [self.shared, *reversed(self._drivers.values())]
        if self.provider is GraphProvider.FALKORDB:
            client: Any = self.shared.client
            seen = {driver._database for driver in drivers}
            names = [name for name in await client.list_graphs() if name not in seen]
            drivers += [self.driver(name) for name in names]
        return drivers


async def prepare(driver: GraphDriver) -> None:
    """Waits until the driver's indices are there, or makes them.

    A driver made inside an event loop builds them by itself, in a task that nobody awaits
    (verified: tests/graphiti/test_host_facts.py).
    """
    task = _index_task(driver)
    if task is not None:
        await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:
            return
    await driver.build_indices_and_constraints()


def _index_task(driver: GraphDriver) -> asyncio.Task[None] | None:
    """The task in which a driver builds its indices, if the running loop is its own."""
    task: asyncio.Task[None] | None = getattr(driver, "_init_task", None)
    return task if task is not None and task.get_loop() is asyncio.get_running_loop() else None
