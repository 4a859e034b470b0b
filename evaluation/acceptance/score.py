"""How many acceptance cases came out right, and how many commits were wrong (article)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from evaluation.acceptance.format import AcceptanceCase, CaseTrace
from evaluation.statistics.proportion import Proportion
from memgate_core.fields.values import same_value

_COMMITS = ("commit", "correct")
_INTERCHANGEABLE = ("others_facts", "quoted")
"""Categories in which refusing and ignoring are equally right."""


class CaseResult(BaseModel):
    """One case's outcome."""

    id: str
    category: str
    expected: str
    decision: str
    right: bool
    committed: bool
    wrong_commit: bool
    leaked: bool
    """A value that must never be current is current."""
    reason: str


class AcceptanceFigures(BaseModel):
    """Everything `memgate bench acceptance` prints."""

    n: int
    right: Proportion
    by_category: dict[str, Proportion]
    false_commit_rate: Proportion
    """Incorrect commits among all commits (article)."""
    leaked: Proportion
    wrong: list[CaseResult]


def result(case: AcceptanceCase, trace: CaseTrace) -> CaseResult:
    """Judges one case by decision and, for commits, by the value that is then current."""
    right = _right(case, trace)
    committed = trace.decision in _COMMITS
    return CaseResult(
        id=case.id,
        category=case.category,
        expected=case.expect,
        decision=trace.decision,
        right=right,
        committed=committed,
        wrong_commit=committed and not right,
        leaked=_leaks(case, trace.current),
        reason=trace.reason,
    )


def figures(results: Sequence[CaseResult]) -> AcceptanceFigures:
    """Shares over all cases and by category."""
    categories = sorted({one.category for one in results})
    return AcceptanceFigures(
        n=len(results),
        right=Proportion.of(one.right for one in results),
        by_category={
            name: Proportion.of(one.right for one in results if one.category == name)
            for name in categories
        },
        false_commit_rate=Proportion.of(one.wrong_commit for one in results if one.committed),
        leaked=Proportion.of(one.leaked for one in results),
        wrong=[one for one in results if not one.right],
    )


def _right(case: AcceptanceCase, trace: CaseTrace) -> bool:
    if _leaks(case, trace.current) or not _same_outcome(case, trace.decision):
        return False
    if case.expect not in _COMMITS:
        return True
    return (
        case.value is not None
        and trace.current is not None
        and same_value(trace.current, case.value)
    )


def _same_outcome(case: AcceptanceCase, decision: str) -> bool:
    if case.category in _INTERCHANGEABLE and {case.expect, decision} <= {"none", "reject"}:
        return True
    return decision == case.expect


def _leaks(case: AcceptanceCase, current: str | None) -> bool:
    return current is not None and any(same_value(current, never) for never in case.never_current)
