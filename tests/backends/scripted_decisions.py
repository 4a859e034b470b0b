"""A LangChain decision model that answers the gate's questions by rule."""

from __future__ import annotations

from typing import Any

from langchain_core.decisions import (
    BaseDecisionModel,
    ChoiceAnswer,
    ClassifierResponse,
    Noul,
    NoulAnswer,
)
from pydantic import Field

from tests.backends.scripted import kind_of


class Scripted(BaseDecisionModel):
    """Answers by rule; `spoil` changes the answers before they are given."""

    model: str = "scripted"
    spoil: Any = None
    seen: list[dict[str, Any]] = Field(default_factory=list)
    states: list[Any] = Field(default_factory=list)

    @property
    def _provider(self) -> str:
        return "scripted"

    def _classify(self, state: Any, questions: dict[str, Any]) -> ClassifierResponse:
        self.seen.append(questions)
        self.states.append(state)
        message = state["messages"][0]["message"]
        answers = {name: _answer(question, message) for name, question in questions.items()}
        if self.spoil is not None:
            answers = self.spoil(answers)
        usage = {"input_tokens": 50, "output_tokens": len(questions)}
        return ClassifierResponse(model=self.model, answers=answers, usage=usage)


def _answer(question: Any, message: str) -> Any:
    asked = question.instructions
    if isinstance(question, Noul):
        named = asked["plan"].rstrip(".").split()[-1].lower() in message.lower()
        yes = named and kind_of(message) == "completed_event" and asked["task"] == "true_now"
        return NoulAnswer(type="noul", noul=0.97 if yes else 0.02)
    labels = list(question.criteria)
    picked = {
        "evidence_type": lambda: kind_of(asked["words"]),
        "standing": lambda: "own",
        "field": lambda: "none_of_these",
        "where": lambda: _done_in(question.criteria),
    }[asked["task"]]()
    shares = {label: 0.9 if label == picked else 0.1 / (len(labels) - 1) for label in labels}
    return ChoiceAnswer(type="choice", choice=picked, probabilities=shares, confidence=0.9)


def scripted(**options: Any) -> Scripted:
    return Scripted(**options)


def _done_in(parts: dict[str, Any]) -> str:
    return next(label for label, part in parts.items() if kind_of(str(part)) == "completed_event")
