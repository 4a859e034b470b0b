"""Opens the framework that the settings name, so that a command can deliver into it or rebuild it.

Only the command line brings core and adapters together; each is imported when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from memgate_core.errors import ConfigurationError, ProjectionError

if TYPE_CHECKING:
    from pathlib import Path

    from memgate_core.cli.settings import Mem0Settings, Settings
    from memgate_core.gate import MemoryGate
    from memgate_core.model import Model
    from memgate_core.projection import DeliveryReport

NAMES = ("mem0", "graphiti")


class Framework(Protocol):
    """A framework's store behind the gate."""

    def deliver(self) -> DeliveryReport:
        """Carries what is due."""
        ...

    def rebuild(self) -> Model:
        """Drops what the gate owns there and writes the ledger's state anew."""
        ...


@contextmanager
def opened(name: str, chosen: Settings, gate: MemoryGate) -> Iterator[Framework]:
    """The framework of that name behind `gate`; closed afterwards.

    Raises:
        ConfigurationError: not installed, or not configured. ProjectionError: its store is locked
            by another process, which then delivers by itself.
    """
    if name == "mem0":
        with _mem0(chosen, gate) as framework:
            yield framework
        return
    from memgate_core.cli.graph import opened_graphiti

    with opened_graphiti(chosen, gate) as framework:
        yield framework


@contextmanager
def perhaps(name: str | None, chosen: Settings, gate: MemoryGate) -> Iterator[Framework | None]:
    """The framework of that name, attached to the gate; none for None."""
    if name is None:
        yield None
        return
    with opened(name, chosen, gate) as framework:
        yield framework


class _Mem0:
    """Mem0 with its desk."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def deliver(self) -> DeliveryReport:
        report: DeliveryReport = self._memory.deliver()
        return report

    def rebuild(self) -> Model:
        from memgate_mem0 import rebuild

        report: Model = rebuild(self._memory.desk)
        return report


@contextmanager
def _mem0(chosen: Settings, gate: MemoryGate) -> Iterator[_Mem0]:
    try:
        from memgate_mem0 import GatedMemory, embedded_config

        if chosen.mem0.folder is not None:
            config = embedded_config(chosen.mem0.folder)
        else:
            config = _config_of(chosen.mem0)
        memory = GatedMemory.from_config(config, gate, tenant=chosen.tenant)
    except ImportError as fault:
        hint = 'pip install "agentmemgate[mem0]"'
        raise ConfigurationError("Mem0 is not installed", hint=hint) from fault
    except RuntimeError as fault:
        if "already accessed" not in str(fault):
            raise
        raise ProjectionError(
            "another process has this Qdrant folder open",
            hint="that process delivers by itself; what is due stays due until then",
        ) from fault
    try:
        yield _Mem0(memory)
    finally:
        _close(memory)


def _close(memory: Any) -> None:
    """Closes Mem0's stores; the gate is closed by whoever opened it."""
    memory.close()
    client = getattr(memory.vector_store, "client", None)
    if client is not None:
        client.close()


def _config_of(settings: Mem0Settings) -> dict[str, Any]:
    if settings.config is None:
        raise ConfigurationError(
            "which Mem0? nothing is configured",
            hint="set [mem0] config or folder in memgate.toml, as your service has it",
        )
    return settings.config if isinstance(settings.config, dict) else _read(settings.config)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise ConfigurationError(f"{path}: {fault.strerror}") from fault
    except ValueError as fault:
        raise ConfigurationError(f"{path}: {fault}") from fault
    if not isinstance(found, dict):
        raise ConfigurationError(f"{path}: must hold one JSON object, Mem0's configuration")
    return found
