"""`memgate classify`: what kind of evidence each statement of a file is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import classifier_of, settings
from memgate_core.cli.output import progress


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(classify)


def classify(
    in_file: options.InFile,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="JSONL to write; - is standard output.")
    ],
    classifier: options.Classifier = None,
) -> None:
    """Judges each statement: speculation, completed_event, correction or other."""
    from evaluation.jsonl import check_readable, read, writing
    from evaluation.statements.format import StatementLine, judgement_line

    check_readable(in_file)
    judge = classifier_of(settings(classifier=classifier))
    with progress(in_file, "classify") as consumed, writing(out) as write:
        for _, line in read(in_file, StatementLine, consumed=consumed):
            write(judgement_line(line.id, judge.classify([line.statement()])[0]))
