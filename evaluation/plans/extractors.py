"""Where a pipeline's proposals come from: a recording, the local extractor, or a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evaluation.plans.format import Conversation, Step
from evaluation.plans.pipeline import proposals_of
from evaluation.plans.setting import Setting
from memgate_core.errors import ConfigurationError

Extractor = Callable[[Step], list[dict[str, Any]]]
"""The proposals for one user turn, in the form that `MemoryGate.observe` takes."""


def extractor_of(setting: Setting, conversation: Conversation) -> Extractor:
    """The extractor of a setting. `local` proposes nothing: the gate reads the turn itself.

    Raises:
        ConfigurationError: extraction by a model, and none is configured.
    """
    style = setting.style
    if style is not None:
        return lambda step: proposals_of(step, style)
    if setting.extraction == "llm":
        from evaluation.plans.llm_extractor import llm_extractor

        if setting.model is None:
            raise ConfigurationError(
                "extraction llm needs a model", hint="set [model] url and name in memgate.toml"
            )
        return llm_extractor(conversation, setting.model, setting.asked_style)
    return lambda _: []
