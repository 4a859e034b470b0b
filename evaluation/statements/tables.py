"""Statement figures as tables and as one page (the paper's table 8)."""

from __future__ import annotations

from pathlib import Path

from evaluation.plans import paper
from evaluation.questions.bench import tables as question_tables
from evaluation.report.html import page, write
from evaluation.report.plots import curve
from evaluation.report.table import Cell, Table
from evaluation.statements.measure import CLASSES, StatementFigures
from memgate_core import __version__


def tables(found: StatementFigures) -> list[Table]:
    """Per class, overall, confusion, latency."""
    made = [_classes(found), _overall(found), _confusion(found)]
    return made if found.questions is None else [*made, *question_tables(found.questions)]


def write_html(found: StatementFigures, path: Path, data: Path, classifier: str) -> None:
    """Writes the self-contained page.

    Raises:
        InvalidInputError: the file cannot be written. ConfigurationError: no plotting library.
    """
    about = [
        ("version", f"AgentMemGate {__version__}"),
        ("data", f"{data.name}, {found.n} statements"),
        ("classifier", classifier),
    ]
    plot = curve(
        "The cascade's curve",
        "Right hold-or-not decisions when the least sure statements go to an oracle.",
        [100 * point.asked for point in found.oracle_curve],
        {"hold or not": [100 * point.right for point in found.oracle_curve]},
        "% of statements asked",
        "% right",
    )
    write(path, page("Statements and evidence types", about, tables(found), [plot]))


def _classes(found: StatementFigures) -> Table:
    rows: list[tuple[str, list[Cell]]] = [
        (name, [one.support, one.precision, one.recall, one.f1])
        for name, one in found.classes.items()
    ]
    return Table.build(
        "Table 8. Precision and recall by class",
        ["support", "precision", "recall", "F1"],
        rows,
        note="95 % Wilson intervals.",
        theirs=paper.CLASSIFIER,
    )


def _overall(found: StatementFigures) -> Table:
    rows: list[tuple[str, list[Cell]]] = [
        ("accuracy", [found.accuracy]),
        ("hold or not", [found.hold_or_not]),
        ("macro-F1", [_spread(found.macro_f1, found.macro_f1_interval)]),
        ("AUROC, hold against the rest", [_spread(found.auroc_hold, found.auroc_hold_interval)]),
        (
            "AUROC, update against the rest",
            [_spread(found.auroc_update, found.auroc_update_interval)],
        ),
        ("expected calibration error", [found.calibration_error]),
        ("share to ask an oracle for 98 % hold-or-not", [found.asked_for_98]),
        ("model calls", [found.model_calls]),
    ]
    if (time := found.milliseconds) is not None:
        rows.append(
            (
                "ms a statement, p50 / p95 / p99",
                [f"{time.p50:.2f} / {time.p95:.2f} / {time.p99:.2f}"],
            )
        )
    theirs = {
        ("accuracy", "value"): paper.CLASSIFIER["all", "accuracy"],
        ("macro-F1", "value"): paper.CLASSIFIER["all", "macro_f1"],
        ("AUROC, update against the rest", "value"): paper.CLASSIFIER["all", "auroc"],
    }
    return Table.build(
        f"Overall, {found.n} statements",
        ["value"],
        rows,
        note="Intervals of macro-F1 and AUROC: bootstrap. Calibration: ten equally wide bins."
        " Update: completed events and corrections, ranked by the probability of both.",
        theirs=theirs,
    )


def _confusion(found: StatementFigures) -> Table:
    rows: list[tuple[str, list[Cell]]] = [
        (label, [found.confusion[label][said] for said in CLASSES]) for label in CLASSES
    ]
    return Table.build("Confusion: label by row, judgement by column", list(CLASSES), rows)


def _spread(value: float | None, edges: tuple[float, float] | None) -> Cell:
    if value is None or edges is None:
        return value
    return f"{value:.3f} [{edges[0]:.3f}, {edges[1]:.3f}]"
