"""The two real graph databases: an embedded FalkorDB, and a Neo4j behind a line that can be cut."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import pytest
from graphiti_core.driver.driver import GraphDriver

from memgate_graphiti.embedded import EmbeddedFalkorDB
from memgate_graphiti.groups import prepare
from tests.support.line import Line
from tests.support.neo4j_server import neo4j_url

# it reports every property that no node has yet, at length
logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
logging.getLogger("graphiti_core.driver.neo4j_driver").setLevel(logging.CRITICAL)
logging.getLogger("graphiti_core.driver.falkordb_driver").setLevel(logging.CRITICAL)


class Database(Protocol):
    """One database, empty when a test gets it."""

    name: str

    def driver(self) -> GraphDriver:
        """A new driver; it belongs to the event loop it is first used in."""
        ...

    def failing(self) -> contextlib.AbstractContextManager[None]:
        """Inside it the database takes no write."""
        ...


class Falkor:
    """The wheel's server. Short of memory, it refuses writes and goes on reading."""

    name = "falkordb"

    def __init__(self) -> None:
        self.server = _falkor_server().start()  # anew, if the last test has locked it up
        self._redis().flushall()

    def driver(self) -> GraphDriver:
        return self.server.driver()

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        with self._redis() as client:
            client.config_set("maxmemory", "1mb")
            try:
                yield
            finally:
                client.config_set("maxmemory", "0")

    def _redis(self) -> Any:
        import redis

        return redis.Redis(unix_socket_path=str(self.server.socket_path), socket_timeout=60)


class Neo4j:
    """A community server, reached through a line that the test can cut."""

    name = "neo4j"

    def __init__(self) -> None:
        from neo4j import GraphDatabase

        self._url = neo4j_url()
        with GraphDatabase.driver(self._url, auth=None) as client:
            client.execute_query("MATCH (n) DETACH DELETE n")
        _neo4j_indices(self._url)
        self.line = _neo4j_line(self._url)
        self.line.restore()

    def driver(self) -> GraphDriver:
        from graphiti_core.driver.neo4j_driver import Neo4jDriver
        from neo4j import AsyncGraphDatabase

        url = f"bolt://127.0.0.1:{self.line.port}"
        driver = Neo4jDriver(url, None, None)
        # a cut line is tried again for half a minute otherwise
        driver.client = AsyncGraphDatabase.driver(url, auth=None, max_transaction_retry_time=0.05)
        return driver

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        self.line.cut()
        try:
            yield
        finally:
            self.line.restore()


DATABASES = [
    pytest.param("falkordb", marks=pytest.mark.falkordb),
    pytest.param("neo4j", marks=pytest.mark.neo4j),
]


def opened(name: str) -> Database:
    """The named database, emptied; skips the test where it cannot be had."""
    return Falkor() if name == "falkordb" else Neo4j()


@lru_cache(maxsize=1)
def _falkor_server() -> EmbeddedFalkorDB:
    folder = tempfile.TemporaryDirectory(prefix="mgfalkor", ignore_cleanup_errors=True)
    server = EmbeddedFalkorDB(Path(folder.name) / "data").start()
    atexit.register(folder.cleanup)
    atexit.register(server.close)
    return server


@lru_cache(maxsize=1)
def _neo4j_indices(url: str) -> None:
    """Graphiti's indices, once a server, as an application makes them before its first episode."""
    from graphiti_core.driver.neo4j_driver import Neo4jDriver

    async def build() -> None:
        driver = Neo4jDriver(url, None, None)
        await prepare(driver)
        await driver.execute_query("CALL db.awaitIndexes(60)")
        await driver.close()

    with ThreadPoolExecutor(1) as thread:  # a loop may be running in this one
        thread.submit(asyncio.run, build()).result()


@lru_cache(maxsize=1)
def _neo4j_line(url: str) -> Line:
    return Line("127.0.0.1", int(url.rsplit(":", 1)[1]))
