"""Runs a file of acceptance cases and scores them, writing the trace as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from evaluation.acceptance.format import AcceptanceCase
from evaluation.acceptance.run import run_case
from evaluation.acceptance.score import AcceptanceFigures, figures, result
from evaluation.jsonl import read, writing


def measure(
    data: Path,
    trace: Path | None = None,
    *,
    classifier: str = "local",
    model: Mapping[str, Any] | None = None,
    consumed: Callable[[int], None] | None = None,
) -> AcceptanceFigures:
    """Figures over all cases of a file. `model`: as `run_case` takes it.

    Raises:
        InvalidRecordError: a malformed line; the cases before it are in the trace.
        ConfigurationError: an unknown classifier, or one that lacks its model.
    """
    results = []
    with writing(trace) if trace is not None else nullcontext(None) as write:
        for _, case in read(data, AcceptanceCase, consumed=consumed):
            line = run_case(case, classifier=classifier, model=model)
            results.append(result(case, line))
            if write is not None:
                write(line)
    return figures(results)
