"""The default evidence classifier: no network, no language model, milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memgate_core.judgement.calibration import Calibration
from memgate_core.judgement.cues import evidence_cues
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.inputs import Budget, Encoded
from memgate_core.judgement.shared import shared_encoders
from memgate_core.judgement.verdicts import EVIDENCE_ORDER
from memgate_core.model import EvidenceJudgement, EvidenceType, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_GRAPH = "statements"


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
        rows = [self._row(statement) for statement in statements]
        probabilities = self._probabilities(rows)
        return [
            _judgement(statement, [float(p) for p in row])
            for statement, row in zip(statements, probabilities, strict=True)
        ]

    def _row(self, statement: Statement) -> Encoded:
        return self._encoders.layout.statement(statement, self._budget)

    def _probabilities(self, rows: Sequence[Encoded]) -> NDArray[np.float64]:
        logits = self._encoders.run(_GRAPH, rows, ["statement"])["statement"]
        return self._calibration.probabilities(logits)

    @cached_property
    def _budget(self) -> Budget:
        return Budget(**self._encoders.card[_GRAPH]["budget"])

    @cached_property
    def _calibration(self) -> Calibration:
        return Calibration.from_card(self._encoders.card[_GRAPH]["calibration"])


def _judgement(statement: Statement, probabilities: list[float]) -> EvidenceJudgement:
    by_class = dict(zip(EVIDENCE_ORDER, probabilities, strict=True))
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
