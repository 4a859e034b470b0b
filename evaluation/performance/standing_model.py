"""Models that stand in for real ones where calls are counted: every answer is well formed, and
says of all words that they change nothing. What they cost is how often they are asked."""

from __future__ import annotations

import json
from typing import Any

from memgate_core.judgement.ports.port import Question, Reply


class StandInModel:
    """A `ModelPort` that counts."""

    name = "stand-in"

    def __init__(self) -> None:
        self.calls = 0

    def ask(self, question: Question, *, timeout: float) -> Reply:
        """A whole sheet, or no extractions."""
        del timeout
        self.calls += 1
        material = json.loads(question.material)
        return Reply(content=_sheet(material) if "messages" in material else {"extractions": []})


def _sheet(material: dict[str, Any]) -> dict[str, Any]:
    return {
        "statements": [_statement(row) for row in material.get("statements", ())],
        "held": [
            {"n": row["n"], "outcome": "nothing", "confidence": 0.9}
            for row in material.get("held", ())
        ],
    }


def _statement(row: dict[str, Any]) -> dict[str, Any]:
    said = {"n": row["n"], "type": "other", "confidence": 0.9, "standing": "own"}
    return {**said, "slot": "none"} if row.get("slot_wanted") else said


def stand_in_decision_model() -> Any:
    """A LangChain decision model that takes the last label of every choice, and counts.

    Raises:
        ImportError: langchain-core is not installed, or has no decision models.
    """
    from langchain_core.decisions import (
        BaseDecisionModel,
        ChoiceAnswer,
        ClassifierResponse,
        Noul,
        NoulAnswer,
    )

    class Decisions(BaseDecisionModel):
        model: str = "stand-in"
        calls: int = 0

        @property
        def _provider(self) -> str:
            return "stand-in"

        def _classify(self, state: Any, questions: dict[str, Any]) -> Any:
            del state
            self.calls += 1
            answers = {name: answer(one) for name, one in questions.items()}
            return ClassifierResponse(model=self.model, answers=answers, usage={})

    def answer(question: Any) -> Any:
        if isinstance(question, Noul):
            return NoulAnswer(type="noul", noul=0.02)
        labels = list(question.criteria)
        shares = {label: 0.1 / max(1, len(labels) - 1) for label in labels[:-1]}
        shares[labels[-1]] = 1.0 - sum(shares.values())
        return ChoiceAnswer(type="choice", choice=labels[-1], probabilities=shares, confidence=0.9)

    return Decisions()
