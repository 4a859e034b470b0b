"""Extraction by a language model, in the paper's two styles (section 4). It proposes, no more."""

from __future__ import annotations

import json
from enum import StrEnum
from time import perf_counter
from typing import Any

from pydantic import BaseModel, ValidationError

from memgate_core.errors import ModelFaultError
from memgate_core.judgement.budget import Budget
from memgate_core.judgement.counsel import reason_of
from memgate_core.judgement.ports.port import ModelPort, Question
from memgate_core.judgement.prompts import prompt, version
from memgate_core.judgement.repair import json_object
from memgate_core.judgement.sitting import sitting
from memgate_core.model import JsonObject, Role, Turn

_LONGEST_MESSAGE = 12_000


class Style(StrEnum):
    """How an extractor writes down what is not settled."""

    LITERAL = "literal"
    """Values as stated, under plain attribute names."""
    CAUTIOUS = "cautious"
    """Plans as plans, in attribute, value and text."""


class Extraction(BaseModel):
    """One thing an extractor read."""

    entity: str = "user"
    attribute: str | None = None
    value: str | None = None
    text: str
    span: str | None = None


class Extractions(BaseModel):
    """What one request answers."""

    extractions: list[Extraction]


class LlmProposer:
    """Asks a language model what a turn says. Implements `Proposer`; thread-safe."""

    def __init__(
        self,
        port: ModelPort,
        *,
        style: Style | str = Style.LITERAL,
        budget: Budget | None = None,
        timeout: float = 20.0,
    ) -> None:
        self.style = Style(style)
        self._task = f"extract_{self.style}"
        self._port, self._budget, self._timeout = port, budget or Budget(), timeout
        self.name = f"llm/1:{port.name}:{self._task}.v{version(self._task)}"

    def propose(self, turn: Turn) -> list[JsonObject]:
        """Extractions of a user's turn, as `MemoryGate.observe` takes them, in one request.

        A model that fails proposes nothing: the fault is noted in the sitting, and the local
        extractor speaks alone.
        """
        if turn.role is not Role.USER:
            return []
        with sitting() as account:
            started = perf_counter()
            try:
                self._budget.admit(account.calls)
                account.calls += 1
                reply = self._port.ask(self._question(turn), timeout=self._timeout)
                account.tokens_in += reply.tokens_in
                account.tokens_out += reply.tokens_out
                return _extractions(json_object(reply.content))
            except Exception as raised:
                account.fault(reason_of(raised))
                return []
            finally:
                account.ms += (perf_counter() - started) * 1000

    def _question(self, turn: Turn) -> Question:
        material = {
            "today": turn.occurred_at.date().isoformat(),
            "before": [{"speaker": h.role.value, "words": h.content} for h in turn.history],
            "message": turn.text[:_LONGEST_MESSAGE],
        }
        return Question(
            system=prompt(self._task),
            material=json.dumps(material, ensure_ascii=False, indent=1),
            answer=Extractions,
        )


def _extractions(found: JsonObject) -> list[JsonObject]:
    """The rows that have the agreed form; one malformed row does not cost the others."""
    rows = found.get("extractions")
    if not isinstance(rows, list):
        raise ModelFaultError("the model's answer has no list of extractions")
    return [row for raw in rows if (row := _extraction(raw)) is not None]


def _extraction(raw: Any) -> JsonObject | None:
    try:
        return Extraction.model_validate(raw).model_dump(exclude_none=True)
    except ValidationError:
        return None
