"""Mem0 in a folder: embedded Qdrant, packaged embeddings, no key, no network, no other process.

Mem0 reports usage to its makers unless MEM0_TELEMETRY says no. An embedded memory asks for nothing
outside this machine, so it says no, unless Mem0 is loaded already or the variable is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memgate_core.errors import ConfigurationError

if TYPE_CHECKING:
    from memgate_core.gate import MemoryGate
    from memgate_mem0.memory import GatedMemory

_EMBEDDER, _NO_LLM = "memgate_minilm", "memgate_none"


def embedded_config(
    path: str | Path, *, collection: str = "memories", llm: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Settings for `Memory.from_config`, gated or not: everything lies in the folder `path`.

    `llm`: Mem0's own LLM settings ({"provider": …, "config": {…}}). Without them `infer=False`
    works, and `infer=True` raises a clear error.

    Raises:
        ConfigurationError: the folder cannot be made, or Mem0 is not installed.
    """
    folder = _folder(path)
    configs = _mem0_configs()
    store = {
        "path": str(folder / "qdrant"),
        "on_disk": True,
        "collection_name": collection,
        "embedding_model_dims": 384,
    }
    return {
        "vector_store": {"provider": "qdrant", "config": store},
        "embedder": configs["embedder"].model_construct(provider=_EMBEDDER, config={}),
        "llm": dict(llm) if llm else configs["llm"].model_construct(provider=_NO_LLM, config={}),
        "history_db_path": str(folder / "history.db"),
    }


def embedded_memory(
    path: str | Path,
    gate: MemoryGate | str | None = None,
    *,
    collection: str = "memories",
    llm: Mapping[str, Any] | None = None,
    tenant: str = "default",
) -> GatedMemory:
    """A gated memory in the folder `path`. Without a gate, its ledger lies there too.

    Raises:
        ConfigurationError: as `embedded_config`. LedgerError: the ledger cannot be opened.
    """
    config = embedded_config(path, collection=collection, llm=llm)
    from memgate_mem0.memory import GatedMemory

    ledger = f"sqlite:///{_folder(path) / 'memgate.db'}"
    return GatedMemory.from_config(config, ledger if gate is None else gate, tenant=tenant)


def _mem0_configs() -> dict[str, Any]:
    """Mem0's settings classes, with our two providers made known to its factories."""
    if "mem0" not in sys.modules:
        os.environ.setdefault("MEM0_TELEMETRY", "False")
    try:
        from mem0.embeddings.configs import EmbedderConfig
        from mem0.llms.configs import LlmConfig
        from mem0.utils.factory import EmbedderFactory, LlmFactory
    except ImportError as fault:
        raise ConfigurationError(
            "Mem0 is not installed", hint="pip install 'agentmemgate[mem0]'"
        ) from fault
    EmbedderFactory.provider_to_class[_EMBEDDER] = "memgate_mem0.embedder.PackagedMiniLM"
    LlmFactory.register_provider(_NO_LLM, "memgate_mem0.no_llm.NoLlm")
    return {"embedder": EmbedderConfig, "llm": LlmConfig}


def _folder(path: str | Path) -> Path:
    folder = Path(path).expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise ConfigurationError(f"{folder} cannot be made: {fault.strerror}") from fault
    return folder
