"""Value equality judged by a model, beside the fixed function that decides where there is none.

Each pair is asked about once, whatever pipeline it comes from, so that one verdict holds for all.
Texts that are equal but for case and spaces are the same without a question.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from evaluation.judge import Judge
from evaluation.labelling.agreement import cohen_kappa
from evaluation.patience import Patience
from evaluation.statistics.proportion import Proportion
from memgate_core.fields.values import same_value

Same = Callable[[str, str], bool]
"""Whether a stored or answered value, the first, is the reference value, the second."""


class Verdict(BaseModel):
    """One pair and what both say of it. `judge` is None where the model failed; `containment` is
    the fixed function's word."""

    question: str
    reference: str
    other: str
    judge: bool | None
    containment: bool


class JudgeFigures(BaseModel):
    """How the model and the fixed function compare on the pairs that were asked about."""

    name: str
    calls: int
    pairs: int
    agree: Proportion
    kappa: float | None
    """Cohen's."""
    stricter: Proportion
    """Disagreements in which the model says no."""
    failed: int
    """Pairs on which the model failed: the fixed function decided."""


class Equivalence:
    """The verdicts of one model."""

    def __init__(self, judge: Judge, patience: Patience | None = None) -> None:
        """`patience` is shared where the same model is asked other things too."""
        self._judge = judge
        self._patience = patience or Patience()
        self._verdicts: dict[tuple[str, str, str], Verdict] = {}

    def of(self, question: str, fixed: Same = same_value) -> Same:
        """A function of (stored, label) for values that answer this question. `fixed` decides where
        the model fails on a pair.

        It raises ModelFaultError where the model fails again and again.
        """
        return lambda stored, label: self._same(question, label, stored, fixed)

    def figures(self) -> JudgeFigures:
        """Over all pairs so far."""
        told = [(v.judge, v.containment) for v in self._verdicts.values() if v.judge is not None]
        return JudgeFigures(
            name=self._judge.name,
            calls=self._judge.calls,
            pairs=len(self._verdicts),
            agree=Proportion.of(judge == plain for judge, plain in told),
            kappa=cohen_kappa([(str(judge), str(plain)) for judge, plain in told]),
            stricter=Proportion.of(not judge for judge, plain in told if judge != plain),
            failed=len(self._verdicts) - len(told),
        )

    def verdicts(self) -> list[Verdict]:
        """Every pair with both verdicts, for people to check."""
        return list(self._verdicts.values())

    def _same(self, question: str, reference: str, other: str, fixed: Same) -> bool:
        if _plain(reference) == _plain(other):
            return True
        key = (question, reference, other)
        if key not in self._verdicts:
            said = self._patience.ask(lambda: self._judge.same(question, reference, other))
            self._verdicts[key] = Verdict(
                question=question,
                reference=reference,
                other=other,
                judge=said.word if said is not None else None,
                containment=fixed(other, reference),
            )
        found = self._verdicts[key]
        return found.containment if found.judge is None else found.judge


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
