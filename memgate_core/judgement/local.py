"""The default evidence classifier: no network, no language model, milliseconds.

Two graphs. The glance, small convolutions over the statement's own words, settles what is plain
("thanks, that's kind"); where it is not nearly certain, the encoder reads it in its place
and the two judge together. That is both faster and better than the encoder alone: they err on
different statements (docs/decisions/0003-local-judgement.md has the figures). Of what an assistant,
a tool or a page says nothing becomes a fact however it is worded: there the glance alone speaks,
or an assistant's page of text would cost more than all else in a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memgate_core.judgement.calibration import Calibration
from memgate_core.judgement.cues import evidence_cues
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Budget
from memgate_core.judgement.modals import leans_open, leant
from memgate_core.judgement.shared import shared_encoders
from memgate_core.judgement.verdicts import EVIDENCE_ORDER
from memgate_core.model import EvidenceJudgement, EvidenceType, Role, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Probabilities = NDArray[np.float64]

_ENCODER, _GLANCE = "statements", "glance"
_ALONE = Budget(around=0, before=0, earlier=0)


class LocalClassifier:
    """Judges statements in their place, after up to two turns (paper section 3).

    Implements `EvidenceClassifier`. Thread-safe; weights are read at the first statement.
    """

    name = "local/1"

    def __init__(self, encoders: Encoders | None = None) -> None:
        self._encoders = encoders or shared_encoders()

    def classify(self, statements: Sequence[Statement]) -> list[EvidenceJudgement]:
        """One judgement a statement, in order, with calibrated probabilities and cues.

        Raises:
            ConfigurationError: the weights are not installed completely.
        """
        if not statements:
            return []
        return [
            _judgement(statement, [float(p) for p in row])
            for statement, row in zip(statements, self._probabilities(statements), strict=True)
        ]

    def _probabilities(self, statements: Sequence[Statement]) -> Probabilities:
        if _GLANCE not in self._encoders.card:
            return self._asked(_ENCODER, statements, self._budget)
        found = self._asked(_GLANCE, statements, _ALONE)
        unclear = [
            at
            for at, (row, statement) in enumerate(zip(found, statements, strict=True))
            if statement.role is Role.USER
            and (row.max() < self._sure or leans_open(statement.text))
        ]
        if unclear:
            read = self._asked(_ENCODER, [statements[at] for at in unclear], self._budget)
            found[unclear] = _together(found[unclear], read)
        return found

    def _asked(self, graph: str, statements: Sequence[Statement], budget: Budget) -> Probabilities:
        layout = self._encoders.layout
        rows = [layout.statement(statement, budget) for statement in statements]
        logits = self._encoders.run(graph, rows, ["statement"])["statement"]
        return self._calibrations[graph].probabilities(logits)

    @cached_property
    def _budget(self) -> Budget:
        return Budget(**self._encoders.card[_ENCODER]["budget"])

    @cached_property
    def _sure(self) -> float:
        return float(self._encoders.card[_GLANCE]["sure"])

    @cached_property
    def _calibrations(self) -> dict[str, Calibration]:
        stored: dict[str, Any] = self._encoders.card
        return {
            graph: Calibration.from_card(stored[graph]["calibration"])
            for graph in (_ENCODER, _GLANCE)
            if graph in stored
        }


def _together(one: Probabilities, other: Probabilities) -> Probabilities:
    """The geometric mean of two judges, which is the mean of their logits."""
    import numpy as np

    product = np.sqrt(one * other)
    together: Probabilities = product / product.sum(axis=1, keepdims=True)
    return together


def _judgement(statement: Statement, probabilities: list[float]) -> EvidenceJudgement:
    by_class = leant(statement.text, dict(zip(EVIDENCE_ORDER, probabilities, strict=True)))
    top = max(by_class, key=lambda evidence: by_class[evidence])
    return EvidenceJudgement(
        evidence_type=top,
        probabilities=by_class,
        cues=_cues(statement.text, top),
        backend="local",
    )


def _cues(text: str, evidence: EvidenceType) -> tuple[str, ...]:
    """The signals that are there; failing those, the statement's own opening words."""
    return evidence_cues(text, evidence) or tuple(text.split()[:3])
