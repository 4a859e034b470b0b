"""How a language model is reached: one question in, one answer out, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel


@dataclass(frozen=True)
class Question:
    """One request: instructions, material, and the form the answer must have."""

    system: str
    material: str
    answer: type[BaseModel]
    """A pydantic model whose JSON Schema is sent where a model can be held to it."""
    longest: int = 4096
    """Tokens that a proper answer stays under; a model that runs on is cut off there."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """As chat messages."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.material},
        ]


@dataclass(frozen=True)
class Reply:
    """What came back."""

    content: object
    """Text, or an already parsed mapping."""
    tokens_in: int = 0
    tokens_out: int = 0


class ModelPort(Protocol):
    """A way to a model. Implementations are safe to share between threads."""

    name: str
    """The model's name, as far as it is known; part of what is recorded with each judgement."""

    def ask(self, question: Question, *, timeout: float) -> Reply:
        """Sends one question; `timeout` in seconds covers retries.

        Raises:
            Exception: whatever the model's client raises; the caller turns it into a fault.
        """
        ...
