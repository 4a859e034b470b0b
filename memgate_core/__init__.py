"""AgentMemGate: the write gate of an agent's memory.

    from memgate_core import MemoryGate
    gate = MemoryGate.open("sqlite:///memgate.db")

Importing this package loads no framework and no model; names are resolved on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgate_core.errors import MemgateError
    from memgate_core.fields.catalogue import FieldCatalogue
    from memgate_core.gate import MemoryGate
    from memgate_core.model import (
        Candidate,
        Decision,
        DecisionType,
        EvidenceType,
        Fact,
        FieldSpec,
        Receipt,
        StagedItem,
        Subject,
        Turn,
    )
    from memgate_core.policy.matrix import Matrix, Rule
    from memgate_core.profile import Profile
    from memgate_core.projection import Projection

_HOME = {
    "Candidate": "memgate_core.model",
    "Decision": "memgate_core.model",
    "DecisionType": "memgate_core.model",
    "EvidenceType": "memgate_core.model",
    "Fact": "memgate_core.model",
    "FieldCatalogue": "memgate_core.fields.catalogue",
    "FieldSpec": "memgate_core.model",
    "Matrix": "memgate_core.policy.matrix",
    "MemgateError": "memgate_core.errors",
    "MemoryGate": "memgate_core.gate",
    "Profile": "memgate_core.profile",
    "Projection": "memgate_core.projection",
    "Receipt": "memgate_core.model",
    "Rule": "memgate_core.policy.matrix",
    "StagedItem": "memgate_core.model",
    "Subject": "memgate_core.model",
    "Turn": "memgate_core.model",
}

__all__ = [
    "Candidate",
    "Decision",
    "DecisionType",
    "EvidenceType",
    "Fact",
    "FieldCatalogue",
    "FieldSpec",
    "Matrix",
    "MemgateError",
    "MemoryGate",
    "Profile",
    "Projection",
    "Receipt",
    "Rule",
    "StagedItem",
    "Subject",
    "Turn",
    "__version__",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'memgate_core' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
