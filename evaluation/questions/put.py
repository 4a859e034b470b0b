"""Puts a statement to a model in three ways: evidence type, true now, worth storing (paper A.5)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from evaluation.asker import Asker
from evaluation.plans.setting import ModelAccess
from evaluation.questions.material import UPDATES, Asked
from memgate_core.backends import judges_of
from memgate_core.errors import ModelFaultError
from memgate_core.model import EvidenceJudgement, JsonObject, Statement

_FRAME = (
    "You are shown a message that a person sent to an assistant, what was said just before it, and"
    " some words of the message. "
)
_TRUE = _FRAME + (
    "Say how probable it is, between 0 and 1, that what the words state is true of the person now."
)
_STORE = _FRAME + (
    "Say how probable it is, between 0 and 1, that what the words state should be stored in the"
    " person's profile."
)
_TOO_MANY = 5
"""Statements in a row on which the model fails before the run is given up."""


class Probability(BaseModel):
    """The form of an answer to a direct question."""

    probability: float = Field(ge=0, le=1)


class Reading(BaseModel):
    """What the model made of one statement; None where it failed."""

    evidence_type: str | None
    evidence: float | None
    """Total probability of the types on which the profile changes."""
    true_now: float | None = None
    store: float | None = None


class Questioner:
    """One model, asked about one statement at a time; nothing is answered from a cache."""

    def __init__(self, access: ModelAccess) -> None:
        """Raises:
        ConfigurationError: the url cannot be used.
        """
        key = access.key.get_secret_value() if access.key else None
        options = {"name": access.name, "api_key": key, "cache": 0}
        self._classifier = judges_of("llm", access.url, options).classifier
        self._asker = Asker(access)
        self._failing = 0
        self.name = self._asker.name

    def read(self, asked: Asked) -> Reading:
        """All three questions.

        Raises:
            ModelFaultError: the model fails again and again.
        """
        material = _material(asked.statement)
        typed = self.typed(asked)
        return typed.model_copy(
            update={
                "true_now": self._direct(_TRUE, material),
                "store": self._direct(_STORE, material),
            }
        )

    def typed(self, asked: Asked) -> Reading:
        """The evidence type alone.

        Raises:
            ModelFaultError: the model fails again and again.
        """
        judgement = self._classifier.classify([asked.statement])[0]
        if judgement.fault is not None:
            self._fails(ModelFaultError(judgement.fault))
            return Reading(evidence_type=None, evidence=None)
        self._failing = 0
        return Reading(
            evidence_type=judgement.evidence_type.value, evidence=update_score(judgement)
        )

    def _direct(self, question: str, material: JsonObject) -> float | None:
        try:
            found = self._asker.ask(question, material, Probability).probability
        except ModelFaultError as fault:
            self._fails(fault)
            return None
        self._failing = 0
        return found

    def _fails(self, fault: ModelFaultError) -> None:
        self._failing += 1
        if self._failing >= _TOO_MANY:
            raise fault


def update_score(judgement: EvidenceJudgement) -> float:
    """How strongly a judgement argues for changing the profile."""
    return sum(p for kind, p in judgement.probabilities.items() if kind.value in UPDATES)


def _material(statement: Statement) -> JsonObject:
    before: Sequence[JsonObject] = [
        {"speaker": turn.role.value, "words": turn.content} for turn in statement.history
    ]
    return {"before": list(before), "message": statement.message, "words": statement.text}
