"""What each part of matching does, with and without the gate (paper section 6.3)."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.plans import paper
from evaluation.plans.shares import (
    CORE,
    GATED,
    HELD_OUT,
    MAIN,
    Keep,
    Scores,
    everything,
    filled,
    paired,
    share,
    where,
)
from evaluation.report.table import Cell, Table

_MEASURES: tuple[tuple[str, str, Keep], ...] = (
    ("plans staged, core", "staged", CORE),
    ("plans staged", "staged", everything),
    ("came true, promoted", "promoted", everything),
    ("contamination while pending", "pending_contaminated", everything),
    ("contamination at end", "end_contaminated", everything),
    ("contamination at end, held out", "end_contaminated", HELD_OUT),
    ("task accuracy", "right", everything),
    ("task accuracy, held out", "right", HELD_OUT),
)
_GATED_ONLY = ("staged", "promoted")
_COMPARED = (
    ("gated names no-retry", "gated names with-retry"),
    ("gated names no-retry", "ungated names no-retry"),
    ("ungated names with-retry", "ungated names no-retry"),
    ("gated no-retry", "gated"),
    ("gated permissive", "gated"),
    ("gated no-reader", "gated"),
)
_MATCHED = (
    "Names: nothing is matched by meaning, and the gate reads no field out of the words, so that"
    " these pairs differ in the plan-frame retry alone. The product's own matcher does not need the"
    " retry: what names leave open it settles by meaning, names framed as plans among them"
    ' ("gated no-retry" is that matcher without it).'
)
"""Why the retry is measured apart from the product's matcher."""


def ablations(scores: Scores) -> list[Table]:
    """The ablations side by side, and their paired differences; none where none was run."""
    others = [name for name in scores if name not in MAIN and "plan-typed" not in name]
    if not others:
        return []
    names = [name for name in (*GATED, *others) if name in scores]
    return [_shares(scores, names), _differences(scores)]


def _shares(scores: Scores, names: Sequence[str]) -> Table:
    rows: list[tuple[str, list[Cell]]] = [
        (
            name,
            [
                share(where(scores[name], keep), measure) if _applies(measure, name) else None
                for _, measure, keep in _MEASURES
            ],
        )
        for name in names
    ]
    return Table.build(
        "Ablations of field matching",
        [label for label, _, _ in _MEASURES],
        rows,
        note=f"{_MATCHED} The paper matches by a model everywhere; its cautious gated pipeline has"
        " the retry, its literal and its ungated ones have not.",
        theirs=paper.ABLATIONS,
    )


def _differences(scores: Scores) -> Table:
    rows: list[tuple[str, list[Cell]]] = []
    for style in ("cautious", "literal"):
        for one, other in _COMPARED:
            first, second = f"{style} {one}", f"{style} {other}"
            if first in scores and second in scores:
                rows.append((f"{first} minus {other}", _row(scores, first, second)))
    return Table.build(
        "Ablations, paired differences in points",
        [label for label, _, _ in _MEASURES],
        filled(rows),
        note=f"Paired by conversation; 95 % cluster-bootstrap intervals. {_MATCHED} The paper gives"
        " each of its differences on one of its splits, which stands beside it.",
        theirs=paper.ABLATION_DIFFERENCES,
    )


def _row(scores: Scores, first: str, second: str) -> list[Cell]:
    return [
        paired(scores, first, second, measure, keep)
        if _applies(measure, first) and _applies(measure, second)
        else None
        for _, measure, keep in _MEASURES
    ]


def _applies(measure: str, name: str) -> bool:
    return measure not in _GATED_ONLY or "ungated" not in name
