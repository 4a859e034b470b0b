"""AgentMemGate for LangChain and LangGraph.

    from memgate_langchain import GatedStore, MemgateMiddleware
    agent = create_agent(model, tools, middleware=[MemgateMiddleware(gate)])

Importing this package imports LangChain only when a name is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memgate_langchain.decision_model import LocalDecisionModel, evidence_question
    from memgate_langchain.history import GatedChatMessageHistory
    from memgate_langchain.memory import MemgateMemory
    from memgate_langchain.middleware import MemgateMiddleware
    from memgate_langchain.namespaces import Namespaces
    from memgate_langchain.projection import LangGraphProjection
    from memgate_langchain.puts import KeptBack, Writer
    from memgate_langchain.rebuilding import rebuild
    from memgate_langchain.store import GatedStore

_HOME = {
    "GatedChatMessageHistory": "memgate_langchain.history",
    "GatedStore": "memgate_langchain.store",
    "KeptBack": "memgate_langchain.puts",
    "LangGraphProjection": "memgate_langchain.projection",
    "LocalDecisionModel": "memgate_langchain.decision_model",
    "MemgateMemory": "memgate_langchain.memory",
    "MemgateMiddleware": "memgate_langchain.middleware",
    "Namespaces": "memgate_langchain.namespaces",
    "Writer": "memgate_langchain.puts",
    "evidence_question": "memgate_langchain.decision_model",
    "rebuild": "memgate_langchain.rebuilding",
}

__all__ = [
    "GatedChatMessageHistory",
    "GatedStore",
    "KeptBack",
    "LangGraphProjection",
    "LocalDecisionModel",
    "MemgateMemory",
    "MemgateMiddleware",
    "Namespaces",
    "Writer",
    "evidence_question",
    "rebuild",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'memgate_langchain' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
