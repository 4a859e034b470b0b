"""A Mem0 `llm`: a blocking `generate_response(messages, response_format=…)` that returns text."""

from __future__ import annotations

from typing import Any

from memgate_core.judgement.ports.deadline import within
from memgate_core.judgement.ports.port import Question, Reply

_JSON = {"type": "json_object"}


class Mem0Port:
    """Asks through the llm that a Mem0 memory already has."""

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        config = getattr(llm, "config", None)
        self.name = str(getattr(config, "model", None) or type(llm).__name__)

    def ask(self, question: Question, *, timeout: float) -> Reply:
        """See `ModelPort.ask`. Mem0 reports no tokens."""
        messages = question.messages
        return Reply(
            content=within(
                timeout,
                lambda: self._llm.generate_response(messages=messages, response_format=_JSON),
            )
        )
