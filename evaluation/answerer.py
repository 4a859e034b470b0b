"""A model that answers questions from memory and judges the answers, beside the fixed function.

The fixed function decides where the model fails on one question; how often that was is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel

from evaluation.equivalence import Equivalence, JudgeFigures, Same, Verdict
from evaluation.judge import Judge
from evaluation.patience import Patience


class AnswererFigures(BaseModel):
    """What a model was asked, and how often it failed."""

    questions: int
    """Put to memory, each once for every state of memory."""
    failed: int
    """Questions on which the model failed: the answer is then what the fixed function picks."""
    judge: JudgeFigures
    """The same model as judge of the answers; `calls` counts everything it was asked."""

    @property
    def told(self) -> str:
        """In a sentence or two, for a table's note."""
        how = f"Answered and judged by {self.judge.name}."
        if not self.failed and not self.judge.failed:
            return how
        return (
            f"{how} It failed on {self.failed} answers and {self.judge.failed} judged pairs: there"
            " the fixed function decided."
        )


class Answerer:
    """One model in both parts. It is given up where it fails on several questions in a row."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._patience = Patience()
        self._equivalence = Equivalence(judge, self._patience)
        self._questions = self._failed = 0

    def answer(
        self, question: str, memories: Sequence[str], fixed: Callable[[], str | None]
    ) -> str | None:
        """What the memories answer. `fixed` picks the answer where the model fails.

        Raises:
            ModelFaultError: the model fails again and again.
        """
        self._questions += 1
        said = self._patience.ask(lambda: self._judge.answer(question, memories))
        if said is not None:
            return said.word
        self._failed += 1
        return fixed()

    def same(self, question: str, reference: str, answer: str, fixed: Same) -> bool:
        """Whether an answer asserts the reference value; each pair is asked about once.

        Raises:
            ModelFaultError: as `answer`.
        """
        return self._equivalence.of(question, fixed)(answer, reference)

    def figures(self) -> AnswererFigures:
        """Over everything so far."""
        return AnswererFigures(
            questions=self._questions, failed=self._failed, judge=self._equivalence.figures()
        )

    def verdicts(self) -> list[Verdict]:
        """Every pair that was judged, with both verdicts, for people to check."""
        return self._equivalence.verdicts()
