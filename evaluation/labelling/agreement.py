"""What labelled traffic says: the gate's false-commit rate, and how far two people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from evaluation.labelling.traffic import TrafficLine
from evaluation.report.table import Cell, Table
from evaluation.statistics.proportion import Proportion

_HOLD = "speculation"
_COMMITS = frozenset({"COMMIT", "REAFFIRM"})
"""Decisions after which the words stand as a fact: what is already known is reaffirmed, and so are
words that promote a held plan."""


class Agreement(BaseModel):
    """Two people's labels on the same statements."""

    same: Proportion
    same_hold_or_not: Proportion
    kappa: float | None
    """Cohen's kappa over the four classes."""


class LabelFigures(BaseModel):
    """Everything `memgate bench labels` prints."""

    n: int
    false_commit_rate: Proportion
    """Of statements that were committed, reaffirmed or promoted a plan: those of which a person
    says hold, or not to be kept (article)."""
    wrongly_held: Proportion
    """Statements that the gate held although a person says that they are no speculation."""
    evidence_type_right: Proportion
    agreement: Agreement | None


def label_figures(
    labelled: Iterable[TrafficLine], second: Mapping[str, TrafficLine] | None = None
) -> LabelFigures:
    """Figures over labelled traffic; `second` holds another person's labels by id."""
    lines = [line for line in labelled if line.label is not None]
    return LabelFigures(
        n=len(lines),
        false_commit_rate=Proportion.of(_wrong(one) for one in lines if one.decision in _COMMITS),
        wrongly_held=Proportion.of(one.label != _HOLD for one in lines if one.decision == "STAGE"),
        evidence_type_right=Proportion.of(one.said == one.label for one in lines if one.said),
        agreement=_agreement(lines, second) if second else None,
    )


def committed_rightly(line: TrafficLine) -> bool | None:
    """A person's word on a statement that stands as a fact; None where it does not, or nothing was
    said."""
    if line.label is None or line.decision not in _COMMITS:
        return None
    return not _wrong(line)


def _wrong(line: TrafficLine) -> bool:
    return line.label == _HOLD or line.keep is False


def _agreement(lines: list[TrafficLine], second: Mapping[str, TrafficLine]) -> Agreement:
    pairs = [
        (str(one.label), str(second[one.id].label))
        for one in lines
        if one.id in second and second[one.id].label is not None
    ]
    return Agreement(
        same=Proportion.of(a == b for a, b in pairs),
        same_hold_or_not=Proportion.of((a == _HOLD) == (b == _HOLD) for a, b in pairs),
        kappa=cohen_kappa(pairs),
    )


def cohen_kappa(pairs: list[tuple[str, str]]) -> float | None:
    """Agreement beyond chance; None without pairs, 1 where both used one same label throughout."""
    if not pairs:
        return None
    observed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[name] * second[name] for name in first) / len(pairs) ** 2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def tables(found: LabelFigures) -> list[Table]:
    """The figures as one table."""
    rows: list[tuple[str, list[Cell]]] = [
        ("false_commit_rate", [found.false_commit_rate]),
        ("held without need", [found.wrongly_held]),
        ("evidence type right", [found.evidence_type_right]),
    ]
    if found.agreement is not None:
        rows += [
            ("two people agree", [found.agreement.same]),
            ("… on hold or not", [found.agreement.same_hold_or_not]),
            ("… beyond chance (kappa)", [found.agreement.kappa]),
        ]
    return [Table.build(f"Labelled traffic, {found.n} statements", ["value"], rows)]
