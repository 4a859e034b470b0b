"""`driver_at`: a Graphiti driver for the server that a uri names."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from graphiti_core.driver.driver import GraphDriver

from memgate_core.errors import ConfigurationError

URI_VARIABLE = "MEMGATE_GRAPHITI__URI"
"""The environment variable that names the graph for commands, the demo and measurements."""

_SCHEMES = {
    "falkor": "falkordb",
    "redis": "falkordb",
    "bolt": "neo4j",
    "neo4j": "neo4j",
    "bolt+s": "neo4j",
    "neo4j+s": "neo4j",
    "bolt+ssc": "neo4j",
    "neo4j+ssc": "neo4j",
}


def driver_at(
    uri: str,
    *,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
) -> GraphDriver:
    """A driver for `falkor://host:port` or `bolt://host:port` (Neo4j); user and password may stand
    in the uri (`bolt://user:password@host:port`).

    Raises:
        ConfigurationError: an unknown scheme, or no host or port that could be meant.
    """
    parts = urlsplit(uri)
    kind = _SCHEMES.get(parts.scheme)
    if kind is None:
        raise ConfigurationError(
            f"unknown kind of graph: {parts.scheme or uri!r}", hint="falkor://… or bolt://…"
        )
    try:
        host, port = parts.hostname or "localhost", parts.port
    except ValueError as fault:
        raise ConfigurationError(f"the graph's uri: {fault}") from fault
    named = {"database": database} if database is not None else {}
    user = user or (unquote(parts.username) if parts.username else None)
    password = password or (unquote(parts.password) if parts.password else None)
    if kind == "neo4j":
        from graphiti_core.driver.neo4j_driver import Neo4jDriver

        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return Neo4jDriver(bare, user, password, **named)
    from graphiti_core.driver.falkordb_driver import FalkorDriver

    return FalkorDriver(host=host, port=port or 6379, username=user, password=password, **named)
