"""`gate_memory`: puts a memory that the user built behind the gate, in its own colour."""

from __future__ import annotations

from typing import Any, overload

from mem0 import AsyncMemory, AsyncMemoryClient, Memory, MemoryClient

from memgate_core.errors import ConfigurationError
from memgate_mem0.async_client import GatedAsyncMemoryClient
from memgate_mem0.async_memory import GatedAsyncMemory
from memgate_mem0.client import GatedMemoryClient
from memgate_mem0.gated import GateChoice
from memgate_mem0.memory import GatedMemory


# Mem0 ships no types, so that mypy sees one class where pyright and readers see four.
@overload
def gate_memory(existing: Memory, gate: GateChoice = ..., *, tenant: str = ...) -> GatedMemory: ...
@overload
def gate_memory(  # type: ignore[overload-cannot-match]
    existing: AsyncMemory, gate: GateChoice = ..., *, tenant: str = ...
) -> GatedAsyncMemory: ...
@overload
def gate_memory(  # type: ignore[overload-cannot-match]
    existing: MemoryClient, gate: GateChoice = ..., *, tenant: str = ...
) -> GatedMemoryClient: ...
@overload
def gate_memory(  # type: ignore[overload-cannot-match]
    existing: AsyncMemoryClient, gate: GateChoice = ..., *, tenant: str = ...
) -> GatedAsyncMemoryClient: ...


def gate_memory(existing: Any, gate: GateChoice = None, *, tenant: str = "default") -> Any:
    """The same memory behind `gate`: same stores, LLM, embedder and client, same class and colour.

    `existing` goes on working, ungated. A class of the user's own keeps its methods.

    Raises:
        ConfigurationError: not one of Mem0's memories or clients, gated already, or a bad gate.
    """
    for native, gated in _PAIRS:
        if isinstance(existing, gated):
            raise ConfigurationError(f"{type(existing).__name__} is gated already")
        if isinstance(existing, native):
            wrapped = _gated_class(type(existing), native, gated)
            memory = object.__new__(wrapped)
            memory.__dict__.update(existing.__dict__)
            memory.open_desk(gate, tenant)
            return memory
    known = ", ".join(native.__name__ for native, _ in _PAIRS)
    raise ConfigurationError(f"gate_memory takes {known}, not {type(existing).__name__}")


_PAIRS: tuple[tuple[type[Any], type[Any]], ...] = (
    (Memory, GatedMemory),
    (AsyncMemory, GatedAsyncMemory),
    (MemoryClient, GatedMemoryClient),
    (AsyncMemoryClient, GatedAsyncMemoryClient),
)


def _gated_class(own: type[Any], native: type[Any], gated: type[Any]) -> type[Any]:
    return gated if own is native else type(f"Gated{own.__name__}", (gated, own), {})
