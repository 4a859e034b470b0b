"""Further collections beside a memory's own: the same store, client and settings, another name."""

from __future__ import annotations

import warnings
from copy import copy, deepcopy
from typing import Any

from mem0.utils.factory import VectorStoreFactory

from memgate_core.errors import ConfigurationError


def sibling_name(memory: Any, suffix: str) -> str:
    """The name of a further collection, in the form that the provider allows."""
    separator = "-" if memory.config.vector_store.provider == "s3_vectors" else "_"
    return f"{memory.collection_name}{separator}{suffix}"


def open_sibling(memory: Any, suffix: str) -> Any:
    """Opens, and where needed creates, the collection `<collection>_<suffix>`.

    An embedded Qdrant folder lets only one client in, so the memory's own client is shared.

    Raises:
        ConfigurationError: the provider's settings name no collection.
    """
    provider = memory.config.vector_store.provider
    config = _clone(memory.config.vector_store.config)
    if not hasattr(config, "collection_name"):
        raise ConfigurationError(
            f"vector store {provider!r} has no collection name", hint="the gate needs two more"
        )
    config.collection_name = sibling_name(memory, suffix)
    if provider == "qdrant" and hasattr(memory.vector_store, "client"):
        config.client = memory.vector_store.client
    with warnings.catch_warnings():
        # a shared embedded client is asked for payload indexes, which it does not have
        warnings.filterwarnings("ignore", message=".*[Pp]ayload index.*")
        return VectorStoreFactory.create(provider, config)


def has_entity_store(memory: Any) -> bool:
    """True when Mem0's entity collection exists, opened by this process or not.

    Mem0 itself cleans entity links only where this process has opened the collection already.
    """
    if memory._entity_store is not None:
        return True
    name = sibling_name(memory, "entities")
    listed = memory.vector_store.list_cols()
    found = getattr(listed, "collections", listed)
    try:
        names = {getattr(entry, "name", entry) for entry in found}
    except TypeError:
        return True
    return name in names


def _clone(config: Any) -> Any:
    try:
        return deepcopy(config)
    except Exception:  # clients and credentials may refuse to be copied; only the name changes
        return copy(config)
