"""Judges a stream of statements in small batches, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluation.statements.format import JudgementLine, StatementLine, judgement_line
from memgate_core.errors import InvalidRecordError
from memgate_core.judgement.protocol import EvidenceClassifier


def judged_lines(
    lines: Iterable[StatementLine], classifier: EvidenceClassifier, batch: int
) -> Iterator[JudgementLine]:
    """One judgement a line, in order. What was read before a malformed line is still judged.

    Raises:
        InvalidRecordError: what `lines` raises, after everything before it was yielded.
    """
    source = iter(lines)
    while True:
        taken, fault = _take(source, batch)
        judgements = classifier.classify([line.statement() for line in taken]) if taken else []
        for line, judgement in zip(taken, judgements, strict=True):
            yield judgement_line(line.id, judgement)
        if fault is not None:
            raise fault
        if len(taken) < batch:
            return


def _take(
    source: Iterator[StatementLine], count: int
) -> tuple[list[StatementLine], InvalidRecordError | None]:
    taken: list[StatementLine] = []
    try:
        for line in source:
            taken.append(line)
            if len(taken) == count:
                break
    except InvalidRecordError as fault:
        return taken, fault
    return taken, None
