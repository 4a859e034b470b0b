"""One set of encoders for the whole process: every local judge asks the same graphs.

Vectors of the registered fields are computed once for all gates, too.
"""

from __future__ import annotations

from functools import cache

from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.vectors import VectorStore


@cache
def shared_encoders() -> Encoders:
    """The encoders of the installed weights; nothing is loaded before the first question."""
    return Encoders()


@cache
def shared_vectors() -> VectorStore:
    """Vectors of registered fields by the installed weights. No held item's belong here: what a
    user said stays with the gate that was told it."""
    return VectorStore(shared_encoders())
