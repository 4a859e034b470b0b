"""`gate_graphiti`: puts the gate in front of a Graphiti that was built already."""

from __future__ import annotations

from typing import Any

from graphiti_core import Graphiti

from memgate_core.errors import ConfigurationError
from memgate_core.gate import MemoryGate
from memgate_graphiti.graphiti import GatedGraphiti


def gate_graphiti(existing: Graphiti, gate: MemoryGate | None = None, **options: Any) -> Any:
    """A `GatedGraphiti` on the same driver, clients and settings as `existing`.

    It is of the existing object's own class too, so what a subclass overrides stays. The existing
    object itself stays as it is, ungated. `options` are those of `GatedGraphiti`.

    Raises:
        ConfigurationError: not a Graphiti, or gated already.
    """
    if not isinstance(existing, Graphiti):
        raise ConfigurationError(f"expected a Graphiti, not {type(existing).__name__}")
    if isinstance(existing, GatedGraphiti):
        raise ConfigurationError("this Graphiti is gated already")
    kind = GatedGraphiti if type(existing) is Graphiti else _gated(type(existing))
    gated = kind.__new__(kind)
    gated.__dict__.update(existing.__dict__)
    gated.clients = existing.clients.model_copy()
    gated.nodes = type(existing.nodes)(existing.driver, existing.embedder)
    gated.edges = type(existing.edges)(existing.driver, existing.embedder)
    gated._stand_behind(gate, **options)
    return gated


def _gated(kind: type[Graphiti]) -> Any:
    return type(f"Gated{kind.__name__}", (GatedGraphiti, kind), {})
