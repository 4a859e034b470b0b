"""Tells which way leads to a model from what it can do, without importing any framework."""

from __future__ import annotations

import inspect
from typing import Any

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.ports.port import ModelPort

_KINDS = "a LangChain chat model, a Mem0 llm, a Graphiti llm_client, or an http(s) url"


def port_to(model: Any, *, name: str | None = None, api_key: str | None = None) -> ModelPort:
    """The port to a model given as an object or as the url of a chat completions service.

    `name` and `api_key` concern urls alone.

    Raises:
        ConfigurationError: not a kind of model that is known here, or httpx is not installed.
    """
    if isinstance(model, str):
        return _endpoint(model, name, api_key)
    if callable(getattr(model, "ask", None)) and hasattr(model, "name"):
        ready: ModelPort = model
        return ready
    generate = getattr(model, "generate_response", None)
    if inspect.iscoroutinefunction(generate):
        from memgate_core.judgement.ports.graphiti_client import GraphitiPort

        return GraphitiPort(model)
    if callable(generate):
        from memgate_core.judgement.ports.mem0_llm import Mem0Port

        return Mem0Port(model)
    if callable(getattr(model, "invoke", None)):
        from memgate_core.judgement.ports.chat_model import ChatModelPort

        return ChatModelPort(model)
    raise ConfigurationError(f"no model: {type(model).__name__}", hint=f"pass {_KINDS}")


def _endpoint(url: str, name: str | None, api_key: str | None) -> ModelPort:
    try:
        from memgate_core.judgement.ports.endpoint import EndpointPort
    except ImportError as missing:
        raise ConfigurationError(
            f"a model at a url needs {missing.name}", hint="pip install 'agentmemgate[llm]'"
        ) from None
    return EndpointPort(url, model=name or "default", api_key=api_key)
