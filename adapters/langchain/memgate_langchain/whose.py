"""Whose memory an agent's run is about, and in which session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.config import get_config

from memgate_core.intake import subject_of
from memgate_core.model import Subject

Whose = str | Subject | Callable[[Any, Any], str | Subject] | None
"""A user id, a subject, or a function of (state, runtime); None looks into the run."""

_KEYS = ("user_id", "langgraph_user_id")


def subject_in(whose: Whose, state: Any, runtime: Any, *, tenant: str) -> Subject:
    """The subject of a run. Without `whose`: the context's or the configuration's `user_id`.

    Raises:
        InvalidTurnError: the run does not say whose it is; nothing is read or written then.
    """
    found = whose(state, runtime) if callable(whose) else whose
    if found is None:
        found = _in_context(getattr(runtime, "context", None)) or _in_config()
    return found if isinstance(found, Subject) else subject_of(found, tenant=tenant)


def session_in() -> str | None:
    """The run's thread."""
    thread = _configurable().get("thread_id")
    return None if thread is None else str(thread)


def _in_context(context: Any) -> Any:
    if isinstance(context, Mapping):
        return next((context[key] for key in _KEYS if context.get(key)), None)
    return next((value for key in _KEYS if (value := getattr(context, key, None))), None)


def _in_config() -> Any:
    configured = _configurable()
    return next((configured[key] for key in _KEYS if configured.get(key)), None)


def _configurable() -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = get_config().get("configurable") or {}
    except RuntimeError:  # outside a run
        return {}
    return found
