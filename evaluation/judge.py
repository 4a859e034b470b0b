"""With a model at hand: answers from memory, and the paper's equivalence judge (section 4).

Without one, evaluation uses `memgate_core.fields.values.same_value` throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from evaluation.asker import Asker
from evaluation.plans.setting import ModelAccess

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
    """One model, used as answerer and as judge."""

    def __init__(self, access: ModelAccess) -> None:
        """Raises:
        ConfigurationError: the url cannot be used.
        """
        self._asker = Asker(access)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._asker.name

    @property
    def calls(self) -> int:
        """Questions asked so far."""
        return self._asker.calls

    def answer(self, question: str, memories: Sequence[str]) -> str | None:
        """What the memories answer.

        Raises:
            ModelFaultError: the model failed or answered outside its protocol.
        """
        material = {"question": question, "memory": list(memories)}
        return self._asker.ask(_ANSWER, material, Answered).answer

    def same(self, question: str, reference: str, other: str | None) -> bool:
        """Whether `other` asserts the reference value.

        Raises:
            ModelFaultError: as `answer`.
        """
        if other is None:
            return False
        material = {"question": question, "reference": reference, "other": other}
        return self._asker.ask(_SAME, material, Compared).same
