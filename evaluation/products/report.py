"""The report on products: their table, and beside it what every figure was made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.answerer import Answerer, AnswererFigures
from evaluation.equivalence import Verdict
from evaluation.plans.setting import Setting
from evaluation.products.measure import ProductScore, table
from evaluation.report.provenance import Provenance, provenance
from evaluation.report.table import Table


class ProductReport(Table, Provenance):
    """The table with its data, versions, settings and the scores of each conversation."""

    settings: list[Setting]
    scores: list[ProductScore]
    """One a conversation and product, with its answers session by session."""
    answerer: AnswererFigures | None
    """None where no model was asked."""
    verdicts: list[Verdict]
    """Every pair that the model judged."""


def report(
    data: Path,
    settings: Sequence[Setting],
    scores: Sequence[ProductScore],
    answerer: Answerer | None = None,
) -> ProductReport:
    """Of scores that were measured on `data`."""
    asked = answerer.figures() if answerer is not None else None
    return ProductReport(
        **dict(table(scores, asked)),
        **dict(provenance(data)),
        settings=list(settings),
        scores=list(scores),
        answerer=asked,
        verdicts=answerer.verdicts() if answerer is not None else [],
    )
