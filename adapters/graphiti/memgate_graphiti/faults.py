"""Typed errors for what goes wrong inside Graphiti's own call. The original stays the cause."""

from __future__ import annotations

import asyncio

from pydantic import ValidationError

from memgate_core.errors import MemgateError, ModelFaultError, ProjectionError

_RETRY = "the turn is recorded; the same call with the same message id may be retried"


def typed(fault: Exception) -> Exception:
    """The error to raise for a fault of Graphiti's call.

    A malformed extraction is the model's fault, a lost connection the database's. What is neither
    (an argument that Graphiti refuses, an embedder's error) stays as it is.
    """
    if isinstance(fault, MemgateError):
        return fault
    if isinstance(fault, ValidationError):
        return ModelFaultError(f"Graphiti's LLM answered a malformed {fault.title}", hint=_RETRY)
    if is_database_fault(fault):
        return ProjectionError(
            f"the graph database did not answer: {type(fault).__name__}", hint=_RETRY
        )
    return fault


def is_database_fault(fault: BaseException) -> bool:
    """True for a fault of the connection to the database, or of the database itself."""
    if isinstance(fault, OSError | asyncio.TimeoutError | ConnectionError):
        return True
    home = type(fault).__module__.split(".")[0]
    return home in ("neo4j", "redis", "falkordb")
