"""A framework's memory, as a conversation's pipeline and the product measurements use it."""

from __future__ import annotations

from typing import Protocol

from evaluation.plans.format import Step


class FrameworkMemory(Protocol):
    """One conversation's memory in a real framework, gated or as released."""

    carries: bool
    """True when the framework's own call carries committed words; False: the gate writes them."""

    def add(self, step: Step) -> None:
        """Hands a turn over as an application would."""
        ...

    def search(self, query: str) -> list[str]:
        """What the framework's own search returns, best first."""
        ...

    def everything(self) -> list[str]:
        """All that a reader of the framework could come across, best known first."""
        ...

    def close(self) -> None:
        """Closes stores and removes what they left behind."""
        ...
