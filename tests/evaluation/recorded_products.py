"""A model recorded at the HTTP boundary for the frameworks: it answers their own prompts.

Mem0's and Graphiti's own clients send their own prompts to a loopback service that speaks the chat
completions protocol. What it extracts is what was recorded, and only for words that a prompt shows.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from evaluation.plans.format import Conversation, Extraction
from tests.backends.service import Answer, running

_GRAPHITI = {
    "ExtractedEntities": "extract_nodes.extract_message",
    "ExtractedEdges": "extract_edges.edge",
    "CombinedExtraction": "extract_nodes_and_edges.extract_message",
    "NodeResolutions": "dedupe_nodes.nodes",
    "EdgeDuplicate": "dedupe_edges.resolve_edge",
    "EdgeTimestamps": "extract_edges.extract_timestamps",
    "BatchEdgeTimestamps": "extract_edges.extract_timestamps_batch",
    "SummarizedEntities": "extract_nodes.extract_summaries_batch",
    "Summary": "summarize_nodes.summarize_pair",
    "SummaryDescription": "summarize_nodes.summary_description",
}


@dataclass
class RecordedService:
    """Where it is reached, and the forms that were asked for."""

    url: str = ""
    forms: list[str] = field(default_factory=list)
    recorded: Sequence[Extraction] = ()
    fails: Callable[[str, int], bool] = lambda _form, _number: False
    """Whether the so-many-th question of a form is answered with nonsense."""

    def say(self, body: dict[str, Any]) -> str:
        """The assistant's text."""
        messages = body["messages"]
        form = body.get("response_format", {}).get("json_schema", {}).get("name", "mem0")
        self.forms.append(form)
        if self.fails(form, self.forms.count(form)):
            return "I would rather not say."
        if form == "Compared":
            asked = json.loads(messages[-1]["content"])
            return json.dumps({"same": asked["reference"] in asked["other"]})
        if form == "Answered":
            memory = json.loads(messages[-1]["content"])["memory"]
            return json.dumps({"answer": "; ".join(memory) or None})
        if form in _GRAPHITI:
            return json.dumps(self._graphiti(_GRAPHITI[form], messages[-1]["content"]))
        return self._mem0(messages)

    def _mem0(self, messages: list[dict[str, Any]]) -> str:
        from evaluation.memories.recorded_mem0 import RecordedMem0LLM

        return RecordedMem0LLM(self.recorded).generate_response(messages)

    def _graphiti(self, prompt: str, content: str) -> Any:
        from graphiti_core.prompts.models import Message

        from memgate_graphiti.recorded import RecordedFact, RecordedLLM

        known = [RecordedFact.of(one.model_dump()) for one in self.recorded]
        message = Message(role="user", content=content)
        return asyncio.run(RecordedLLM(known).generate_response([message], prompt_name=prompt))


@contextmanager
def recorded_service(told: Conversation) -> Iterator[RecordedService]:
    """The running service, with what a conversation's literal extractor found."""
    recorded = [one for step in told.steps() for one in step.recorded("literal")]
    kept = RecordedService(recorded=recorded)
    with running() as service:
        service.reply = lambda body: Answer(content=kept.say(body))
        kept.url = service.url
        yield kept
