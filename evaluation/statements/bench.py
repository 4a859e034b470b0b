"""Runs a classifier over labelled statements, one at a time: latency is a statement's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from evaluation.jsonl import read
from evaluation.statements.format import StatementLine
from evaluation.statements.measure import Seen
from memgate_core.errors import InvalidRecordError
from memgate_core.judgement.protocol import EvidenceClassifier
from memgate_core.model import Statement


def judged(
    path: Path,
    classifier: EvidenceClassifier,
    *,
    consumed: Callable[[int], None] | None = None,
) -> Iterator[Seen]:
    """Labelled statements with what the classifier said of each.

    Raises:
        InvalidRecordError: a line without a label, or malformed.
    """
    classifier.classify([Statement(text="Hello there", message="Hello there")])  # loads the model
    for number, line in read(path, StatementLine, consumed=consumed):
        if line.label is None:
            raise InvalidRecordError(path, number, "label", "is missing")
        yield _seen(line, line.label, classifier)


def _seen(line: StatementLine, label: str, classifier: EvidenceClassifier) -> Seen:
    statement = line.statement()
    started = perf_counter()
    judgement = classifier.classify([statement])[0]
    return Seen(
        id=line.id,
        label=label,
        said=judgement.evidence_type.value,
        probabilities={kind.value: p for kind, p in judgement.probabilities.items()},
        milliseconds=(perf_counter() - started) * 1000,
        model_calls=judgement.model_calls,
    )
