"""Shares and paired differences over scored conversations: what every table is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from evaluation.plans.score import Score
from evaluation.report.table import Cell
from evaluation.statistics.bootstrap import Difference, paired_difference
from evaluation.statistics.proportion import Proportion

Scores = Mapping[str, Sequence[Score]]
"""Scores by pipeline name, each over the same conversations in the same order."""

Keep = Callable[[Score], bool]

MAIN = ("cautious ungated", "cautious gated", "literal ungated", "literal gated")
GATED = ("cautious gated", "literal gated")


def share(scores: Iterable[Score], measure: str) -> Proportion | None:
    """The share of a measure over the conversations that it applies to; None where none does."""
    values = [value for one in scores if (value := getattr(one, measure)) is not None]
    return Proportion.of(values) if values else None


def where(scores: Iterable[Score], keep: Keep) -> list[Score]:
    """Those that are kept."""
    return [one for one in scores if keep(one)]


def of_kinds(*kinds: str) -> Keep:
    """Keeps conversations of these kinds."""
    return lambda one: one.kind in kinds


def everything(_: Score) -> bool:
    """Keeps all."""
    return True


CORE = of_kinds("core")
HELD_OUT = of_kinds("heldout", "control_completed")
"""The paper's held-out conversations (A.2): plans, and completed changes as their controls."""
HEDGE_SPLIT, WORDING_SPLIT = of_kinds("hedge"), of_kinds("confirm")
"""The paper's controlled-difficulty splits (Table 1): how settled a plan sounds, how its
confirmation is worded."""


def paired(
    scores: Scores, first: str, second: str, measure: str, keep: Keep = everything
) -> Difference | None:
    """First pipeline minus second on the conversations that the measure applies to in both."""
    ours = {one.id: getattr(one, measure) for one in scores[first] if keep(one)}
    theirs = {one.id: getattr(one, measure) for one in scores[second] if keep(one)}
    return paired_difference(
        (key, ours[key], theirs[key])
        for key in ours
        if key in theirs and ours[key] is not None and theirs[key] is not None
    )


def filled(rows: Sequence[tuple[str, Sequence[Cell]]]) -> list[tuple[str, Sequence[Cell]]]:
    """Rows that have anything in them."""
    return [row for row in rows if any(cell is not None for cell in row[1])]
