"""A model service as the frameworks' own language model (the paper's A.7: one model for all)."""

from __future__ import annotations

from typing import Any

from evaluation.plans.setting import ModelAccess


def mem0_llm(access: ModelAccess) -> Any:
    """Mem0's own client for an OpenAI-compatible service."""
    from mem0.utils.factory import LlmFactory

    config = {
        "model": access.name,
        "api_key": _key(access),
        "openai_base_url": access.url,
        "temperature": 0.0,
    }
    return LlmFactory.create("openai", config)


def graphiti_llm(access: ModelAccess) -> Any:
    """Graphiti's own client for an OpenAI-compatible service."""
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

    return OpenAIGenericClient(
        LLMConfig(
            api_key=_key(access),
            model=access.name,
            small_model=access.name,
            base_url=access.url,
            temperature=0.0,
        )
    )


def _key(access: ModelAccess) -> str:
    """Local services take any key, but clients insist on one."""
    return access.key.get_secret_value() if access.key else "none"
