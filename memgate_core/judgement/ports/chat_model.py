"""A LangChain chat model: anything with `invoke` and, where the model can, structured output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memgate_core.judgement.ports.deadline import within
from memgate_core.judgement.ports.port import Question, Reply


class ChatModelPort:
    """Asks a chat model through `with_structured_output` if it has that, else in plain text."""

    def __init__(self, model: Any) -> None:
        self._model = model
        named = getattr(model, "model_name", None) or getattr(model, "model", None)
        self.name = str(named or type(model).__name__)

    def ask(self, question: Question, *, timeout: float) -> Reply:
        """See `ModelPort.ask`. Retries are the chat model's own."""
        structured = self._structured(question)
        answer = within(timeout, lambda: (structured or self._model).invoke(question.messages))
        if structured is None:
            return _reply(answer, _text(answer))
        raw, parsed = answer.get("raw"), answer.get("parsed")
        return _reply(raw, _plain(parsed) if parsed is not None else _unparsed(raw))

    def _structured(self, question: Question) -> Any | None:
        build = getattr(self._model, "with_structured_output", None)
        if build is None:
            return None
        try:
            return build(question.answer, include_raw=True)
        except (NotImplementedError, TypeError, ValueError):
            return None


def _reply(message: Any, content: object) -> Reply:
    usage = getattr(message, "usage_metadata", None) or {}
    return Reply(
        content=content,
        tokens_in=int(usage.get("input_tokens", 0)),
        tokens_out=int(usage.get("output_tokens", 0)),
    )


def _plain(parsed: Any) -> object:
    return parsed.model_dump(mode="json") if hasattr(parsed, "model_dump") else parsed


def _unparsed(raw: Any) -> object:
    """The arguments of the answer's tool call, if it made one; its text otherwise."""
    for call in getattr(raw, "tool_calls", None) or ():
        if isinstance(arguments := call.get("args"), Mapping):
            return arguments
    return _text(raw)


def _text(message: Any) -> str:
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)
