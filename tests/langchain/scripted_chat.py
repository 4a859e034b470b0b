"""A chat model that says its lines and remembers what it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class ScriptedChat(BaseChatModel):
    """Answers with `lines` in order; the last one again when they run out."""

    lines: list[AIMessage]
    shown: list[list[BaseMessage]] = Field(default_factory=list)
    tools_seen: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedChat:
        self.tools_seen[:] = [getattr(tool, "name", str(tool)) for tool in tools]
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        self.shown.append(list(messages))
        line = self.lines[min(len(self.shown), len(self.lines)) - 1]
        return ChatResult(generations=[ChatGeneration(message=line.model_copy())])

    def system(self, call: int = -1) -> str:
        """The system message of a call, as text."""
        first = self.shown[call][0]
        return str(first.text) if first.type == "system" else ""


def says(*lines: str) -> ScriptedChat:
    """A model with these replies."""
    return ScriptedChat(lines=[AIMessage(line) for line in lines])


def calls(name: str, arguments: dict[str, Any], then: str) -> ScriptedChat:
    """A model that calls a tool and then replies."""
    call = {"name": name, "args": arguments, "id": "call-1", "type": "tool_call"}
    return ScriptedChat(lines=[AIMessage("", tool_calls=[call]), AIMessage(then)])
