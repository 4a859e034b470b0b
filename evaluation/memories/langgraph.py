"""A LangGraph store in memory: extractions put as they are, or facts put by the gate alone."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph.store.memory import InMemoryStore

from evaluation.plans.format import Conversation, Extraction, Step
from evaluation.plans.pipeline import subject_of
from memgate_core import MemoryGate
from memgate_langchain.namespaces import Namespaces
from memgate_langchain.store import GatedStore

_SEEN = 1000


class LangGraphMemory:
    """One conversation's store. As released, an application puts what its extractor read from each
    message; gated, the gate's projection puts what it committed, with its validity."""

    carries = False
    """The gate writes here itself: nothing goes into the store but through its projection."""

    def __init__(
        self,
        conversation: Conversation,
        recorded: Iterable[Extraction],
        *,
        gate: MemoryGate | None = None,
    ) -> None:
        subject = subject_of(conversation)
        places = Namespaces(tenant=subject.tenant)
        self._namespace = places.namespace_of(subject)
        self._recorded = list(recorded)
        self._gate = gate
        plain = InMemoryStore()
        self.store = plain if gate is None else GatedStore(plain, gate, namespaces=places)

    def add(self, step: Step) -> None:
        """Delivers what the gate decided, or puts the extractions of the turn."""
        if self._gate is not None:
            self._gate.deliver()
            return
        for number, found in enumerate(self._recorded):
            if step.is_user and found.span and found.span in step.turn.content:
                self.store.put(self._namespace, f"{step.index}-{number}", {"text": found.text})

    def search(self, query: str) -> list[str]:  # noqa: ARG002
        """Everything in the namespace: without an index a store does not rank."""
        return self.everything()

    def everything(self) -> list[str]:
        """All items of the namespace."""
        found = self.store.search(self._namespace, limit=_SEEN)
        return [str(item.value.get("text", "")) for item in found]

    def close(self) -> None:
        """Nothing outlives the process."""
