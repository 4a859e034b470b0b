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
from collections.abc import Sequence
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
        """A driver that reads and writes this group, always the same one."""
        if group_id in (self.default, self.shared._database):
            return self.shared
        found = self._drivers.pop(group_id, None) or self._cloned(group_id)
        self._drivers[group_id] = found
        if len(self._drivers) > _MAX_DRIVERS:
            self._drivers.popitem(last=False)
        return found

    def answer_clones(self) -> None:
        """From now on whoever asks the shared driver for a clone gets the group's kept driver.

        Graphiti asks at every call with a group, and on FalkorDB each new driver makes all indices
        of the group again, in a task that nobody awaits: some twenty queries beside every search
        and episode, and errors in the log for those that a closing connection meets.
        """
        if self.provider is GraphProvider.FALKORDB:
            self._answering(self.shared)

    def _answering(self, driver: GraphDriver) -> GraphDriver:
        vars(driver)["clone"] = self._clone
        return driver

    def _clone(self, database: str) -> GraphDriver:
        return self.driver(database)

    def _cloned(self, group_id: str) -> GraphDriver:
        driver = type(self.shared).clone(self.shared, group_id)
        return self._answering(driver) if driver is not self.shared else driver

    async def indexed(self, driver: GraphDriver) -> None:
        """Makes the indices of a group in which there is no episode yet: its graph may be new, or
        have been dropped under a kept driver. Without them FalkorDB finds nothing and says so to
        nobody."""
        if self.provider is not GraphProvider.FALKORDB:
            return
        task = _index_task(driver)
        if task is not None and not task.done():
            await asyncio.wait([task])
        else:
            await driver.build_indices_and_constraints()

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
        """The group in whose graph an episode lies; None where there is none."""
        return next(iter(await self.holding("(x:Episodic)", [uuid])), None)

    async def holding(self, pattern: str, uuids: Sequence[str]) -> dict[str, list[str]]:
        """The groups in whose graphs the things lie that are `x` in a pattern, with their uuids.

        On Neo4j all groups share one graph; on FalkorDB the graphs are asked one after another,
        those in use first.
        """
        query = (
            f"MATCH {pattern} WHERE x.uuid IN $uuids"
            " RETURN DISTINCT x.uuid AS uuid, x.group_id AS group_id"
        )
        found: dict[str, list[str]] = {}
        missing = set(uuids)
        for driver in await self._every_driver():
            records, _, _ = await driver.execute_query(query, uuids=sorted(missing))
            for record in records:
                found.setdefault(record["group_id"], []).append(record["uuid"])
            missing -= {record["uuid"] for record in records}
            if not missing:
                break
        return found

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
