"""The report on update questions: their table, and beside it what every figure was made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.answerer import Answerer, AnswererFigures
from evaluation.equivalence import Verdict
from evaluation.report.provenance import Provenance, provenance
from evaluation.report.table import Table
from evaluation.updates.run import UpdateAnswer, table


class UpdateReport(Table, Provenance):
    """The table with its data, versions and the outcome of each question."""

    memory: str
    """The framework."""
    scores: list[UpdateAnswer]
    answerer: AnswererFigures | None
    """None where no model was asked."""
    verdicts: list[Verdict]
    """Every pair that the model judged."""


def report(
    data: Path, memory: str, found: Sequence[UpdateAnswer], answerer: Answerer | None = None
) -> UpdateReport:
    """Of answers that were given on `data`."""
    asked = answerer.figures() if answerer is not None else None
    return UpdateReport(
        **dict(table(found, asked)),
        **dict(provenance(data)),
        memory=memory,
        scores=list(found),
        answerer=asked,
        verdicts=answerer.verdicts() if answerer is not None else [],
    )
