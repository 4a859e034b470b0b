"""Opens the graph that the settings name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memgate_core.errors import ConfigurationError

if TYPE_CHECKING:
    from memgate_core.cli.settings import Settings
    from memgate_core.gate import MemoryGate


@contextmanager
def opened_graphiti(chosen: Settings, gate: MemoryGate) -> Iterator[Any]:
    """The settings' Graphiti behind `gate`; closed afterwards.

    Raises:
        ConfigurationError: not installed, not configured, or it cannot be reached.
    """
    try:
        from memgate_graphiti import BlockingGraphiti
    except ImportError as fault:
        hint = 'pip install "agentmemgate[graphiti]"'
        raise ConfigurationError("Graphiti is not installed", hint=hint) from fault
    graph = BlockingGraphiti.open(gate, tenant=chosen.tenant, **_where(chosen))
    try:
        yield graph
    finally:
        graph.close()


def _where(chosen: Settings) -> dict[str, Any]:
    place = chosen.graphiti
    if (place.folder is None) == (place.uri is None):
        raise ConfigurationError(
            "which graph? exactly one of folder and uri must be set",
            hint="set [graphiti] in memgate.toml, as your service has it",
        )
    if place.folder is not None:
        return {"folder": place.folder}
    return {
        "uri": place.uri,
        "user": place.user,
        "password": place.password.get_secret_value() if place.password else None,
        "database": place.database,
    }
