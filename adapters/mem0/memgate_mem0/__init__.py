"""AgentMemGate for Mem0: `GatedMemory` instead of `Memory`, or `gate_memory(existing)`.

    from memgate_mem0 import GatedMemory
    memory = GatedMemory.from_config(config)

Importing this package imports Mem0 only when a name is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgate_mem0.async_client import GatedAsyncMemoryClient
    from memgate_mem0.async_memory import GatedAsyncMemory
    from memgate_mem0.client import GatedMemoryClient
    from memgate_mem0.embedded import embedded_config, embedded_memory
    from memgate_mem0.embedder import PackagedMiniLM
    from memgate_mem0.memory import GatedMemory
    from memgate_mem0.projection import Mem0Projection
    from memgate_mem0.rebuilding import rebuild
    from memgate_mem0.wrap import gate_memory

_HOME = {
    "GatedAsyncMemory": "memgate_mem0.async_memory",
    "GatedAsyncMemoryClient": "memgate_mem0.async_client",
    "GatedMemory": "memgate_mem0.memory",
    "GatedMemoryClient": "memgate_mem0.client",
    "Mem0Projection": "memgate_mem0.projection",
    "PackagedMiniLM": "memgate_mem0.embedder",
    "embedded_config": "memgate_mem0.embedded",
    "embedded_memory": "memgate_mem0.embedded",
    "gate_memory": "memgate_mem0.wrap",
    "rebuild": "memgate_mem0.rebuilding",
}

__all__ = [
    "GatedAsyncMemory",
    "GatedAsyncMemoryClient",
    "GatedMemory",
    "GatedMemoryClient",
    "Mem0Projection",
    "PackagedMiniLM",
    "embedded_config",
    "embedded_memory",
    "gate_memory",
    "rebuild",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'memgate_mem0' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
