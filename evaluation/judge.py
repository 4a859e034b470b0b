"""With a model at hand: answers from memory, and the paper's equivalence judge (section 4).

Without one, evaluation uses `memgate_core.fields.values.same_value` throughout.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from evaluation.plans.setting import ModelAccess
from memgate_core.errors import ModelFaultError
from memgate_core.judgement.ports.port import ModelPort, Question
from memgate_core.judgement.ports.recognise import port_to
from memgate_core.judgement.repair import json_object

T = TypeVar("T", bound=BaseModel)

TIMEOUT = 60.0
"""Seconds that one question may take."""

_ANSWER = (
    "You are asked about a person. Below is what an assistant's memory holds about that person."
    " Answer from it alone, in a few words. When it does not say, answer null. When the memory"
    " speaks of a plan or a possibility only, it does not say."
)
_SAME = (
    "Two answers to one question are given: a reference and another. Say whether the other asserts"
    " the same value as the reference. Wording does not matter; a plan or a possibility is not an"
    " assertion; a different or missing value is not the same."
)


class Answered(BaseModel):
    """An answer from memory."""

    answer: str | None


class Compared(BaseModel):
    """The equivalence judge's word."""

    same: bool


class Judge:
    """One model, used as answerer and as judge. Counts what it asks."""

    def __init__(self, access: ModelAccess) -> None:
        """Raises:
        ConfigurationError: the url cannot be used.
        """
        key = access.key.get_secret_value() if access.key else None
        self._port: ModelPort = port_to(access.url, name=access.name, api_key=key)
        self.calls = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._port.name

    def answer(self, question: str, memories: Sequence[str]) -> str | None:
        """What the memories answer.

        Raises:
            ModelFaultError: the model failed or answered outside its protocol.
        """
        return self._ask(_ANSWER, {"question": question, "memory": list(memories)}, Answered).answer

    def same(self, question: str, reference: str, other: str | None) -> bool:
        """Whether `other` asserts the reference value.

        Raises:
            ModelFaultError: as `answer`.
        """
        if other is None:
            return False
        material = {"question": question, "reference": reference, "other": other}
        return self._ask(_SAME, material, Compared).same

    def _ask(self, system: str, material: object, form: type[T]) -> T:
        self.calls += 1
        text = json.dumps(material, ensure_ascii=False, indent=1)
        reply = self._port.ask(Question(system=system, material=text, answer=form), timeout=TIMEOUT)
        try:
            return form.model_validate(json_object(reply.content))
        except ValidationError as fault:
            raise ModelFaultError("the model's answer has another form than was asked") from fault
