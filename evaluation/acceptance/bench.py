"""Runs a file of acceptance cases and scores them, writing the trace as it goes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from evaluation.acceptance.format import AcceptanceCase
from evaluation.acceptance.run import run_case
from evaluation.acceptance.score import AcceptanceFigures, figures, result
from evaluation.jsonl import read, writing


def measure(
    data: Path,
    trace: Path | None = None,
    *,
    classifier: str = "local",
    consumed: Callable[[int], None] | None = None,
) -> AcceptanceFigures:
    """Figures over all cases of a file.

    Raises:
        InvalidRecordError: a malformed line; the cases before it are in the trace.
    """
    results = []
    with writing(trace) if trace is not None else nullcontext(None) as write:
        for _, case in read(data, AcceptanceCase, consumed=consumed):
            line = run_case(case, classifier=classifier)
            results.append(result(case, line))
            if write is not None:
                write(line)
    return figures(results)
