"""What stands where a memory has no language model."""

from __future__ import annotations

from typing import Any, NoReturn

from mem0.llms.base import LLMBase

from memgate_core.errors import ConfigurationError


class NoLlm(LLMBase):  # type: ignore[misc]
    """An LLM that is not there. Mem0 builds one in any case; `infer=False` never asks it."""

    def generate_response(self, *_messages: Any, **_options: Any) -> NoReturn:
        """Raises:
        ConfigurationError: always; it says what to do.
        """
        raise ConfigurationError(
            "this memory has no language model", hint="pass infer=False, or give it an llm"
        )
