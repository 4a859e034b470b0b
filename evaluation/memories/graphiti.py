"""Graphiti on an embedded FalkorDB with packaged embeddings: as released, or gated."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")

from evaluation.plans.format import Conversation, Extraction, Step
from evaluation.plans.pipeline import message_id_of, subject_of
from memgate_core import MemoryGate
from memgate_graphiti import graphiti_pipeline


class GraphitiMemory:
    """One conversation's Graphiti. With a `gate` it is a `GatedGraphiti`, else as released.

    `llm` is any Graphiti LLM client; without one, recorded extractions answer in its place.
    """

    carries = True

    def __init__(
        self,
        conversation: Conversation,
        recorded: Iterable[Extraction],
        *,
        gate: MemoryGate | None = None,
        llm: Any = None,
    ) -> None:
        self._conversation = conversation
        known = [one.model_dump(include=_NAMED) for one in recorded if _complete(one)]
        self.pipeline = graphiti_pipeline(
            group_of(conversation),
            known,
            gate=gate,
            tenant=subject_of(conversation).tenant,
            llm_client=llm,
        )

    def add(self, step: Step) -> None:
        """One message as an episode."""
        self.pipeline.add(
            step.turn.content,
            role=step.turn.role,
            at=step.date,
            message_id=message_id_of(self._conversation, step),
        )

    def search(self, query: str) -> list[str]:
        """Graphiti's own search; edges that ended say since when."""
        self.pipeline.delivered()
        return list(self.pipeline.search(query))

    def everything(self) -> list[str]:
        """Edges, node summaries and episodes."""
        self.pipeline.delivered()
        return list(self.pipeline.everything())

    def close(self) -> None:
        """Removes the conversation's group."""
        self.pipeline.close()


_NAMED = {"entity", "attribute", "value", "text", "span"}


def group_of(conversation: Conversation) -> str:
    """The conversation's group: Graphiti takes letters, digits, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", conversation.id)


def _complete(one: Extraction) -> bool:
    return None not in (one.attribute, one.value, one.span)
