"""The second line of defence: what Graphiti's LLM extracts is judged before Graphiti sees it.

The client stands between Graphiti and the caller's own LLM client. During one of our calls the
facts in an extraction are laid on the words they rest on, and those that may not be stored are
taken out: they reach no edge, no node summary, and can close no other edge. A summary that names
something held is taken out too. At any other time, and for any other prompt, the answer passes
untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from graphiti_core.llm_client import LLMClient
from graphiti_core.prompts.models import Message

from memgate_core.errors import ModelFaultError
from memgate_graphiti.calls import ActiveCall, active_call

EXTRACTS_EDGES = frozenset({"extract_edges.edge", "extract_nodes_and_edges.extract_message"})
"""Prompts whose answer has `edges` (verified: tests/graphiti/test_host_facts.py)."""

SUMMARISES = frozenset(
    {
        "extract_nodes.extract_summaries_batch",
        "extract_nodes.extract_entity_summaries_from_episodes",
    }
)
"""Prompts whose answer has `summaries` (verified: tests/graphiti/test_host_facts.py)."""

Judge = Callable[[ActiveCall, str, list[dict[str, Any]]], Coroutine[Any, Any, list[bool]]]
"""Judges what was extracted under a name ("edges" or "summaries"), one answer an entry."""


class JudgingLLM(LLMClient):  # type: ignore[misc]
    """Passes everything to the client it wraps, and judges what comes back."""

    def __init__(self, inner: LLMClient, owner: object, judge: Judge) -> None:
        # no super().__init__(): what a client knows of itself (model, tracker) is the inner one's
        self.inner, self._owner, self._judge = inner, owner, judge

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def set_tracer(self, tracer: Any) -> None:
        """Sets the inner client's tracer."""
        self.inner.set_tracer(tracer)

    async def generate_response(
        self, messages: list[Message], *args: Any, prompt_name: str | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The inner client's answer, less what may not be stored.

        Raises:
            ModelFaultError: during one of our calls, in place of whatever the client raised.
        """
        call = active_call(self._owner)
        asked = self.inner.generate_response(messages, *args, prompt_name=prompt_name, **kwargs)
        if call is None:
            answer: dict[str, Any] = await asked
            return answer
        try:
            answer = await asked
        except Exception as fault:
            raise ModelFaultError(
                f"Graphiti's LLM failed at {prompt_name or 'a prompt'}: {type(fault).__name__}",
                hint="the turn is recorded; the same call with the same message id may be retried",
            ) from fault
        if prompt_name in EXTRACTS_EDGES and call.judges:
            return await self._judged(answer, "edges", call)
        if prompt_name in SUMMARISES and call.judges:
            return await self._judged(answer, "summaries", call)
        return answer

    async def _judged(self, answer: dict[str, Any], name: str, call: ActiveCall) -> dict[str, Any]:
        found = answer.get(name) if isinstance(answer, dict) else None
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            return answer  # malformed: Graphiti's own validation says so
        verdicts = await self._judge(call, name, found)
        kept = [entry for entry, allowed in zip(found, verdicts, strict=True) if allowed]
        return {**answer, name: kept}

    async def _generate_response(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await self.inner._generate_response(*args, **kwargs)
        return answer

    def _get_provider_type(self) -> str:
        return str(self.inner._get_provider_type())
