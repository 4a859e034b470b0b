"""`memgate import`: files of public data sets that you have, into forms that can be measured on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memgate_core.cli import options


class Form(StrEnum):
    """Data sets whose files can be read. None of their data comes with the gate."""

    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"
    REALTALK = "realtalk"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="import")(import_)


def import_(
    form: Annotated[Form, typer.Argument(help="Which data set the file is of.")],
    in_file: options.InFile,
    statements: Annotated[
        Path | None,
        typer.Option("--statements", metavar="FILE", help="Statements, to be labelled."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Update questions, for bench updates."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="All questions, not only those about a change.")
    ] = False,
) -> None:
    """Maps a file of LoCoMo, LongMemEval or REALTALK to statements and to update questions."""
    from contextlib import ExitStack

    from evaluation.importers.convert import FORMS, update_questions
    from evaluation.importers.convert import statements as statements_of
    from evaluation.jsonl import writing
    from memgate_core.errors import InvalidInputError

    if statements is None and questions is None:
        raise InvalidInputError("nothing to write", hint="name --statements, --questions or both")
    counted = [0, 0]
    with ExitStack() as open_files:
        to_statements = open_files.enter_context(writing(statements)) if statements else None
        to_questions = open_files.enter_context(writing(questions)) if questions else None
        for chat in FORMS[form.value](in_file):
            for line in statements_of(chat) if to_statements else ():
                to_statements(line)  # type: ignore[misc]
                counted[0] += 1
            for question in update_questions(chat, every=every) if to_questions else ():
                to_questions(question)  # type: ignore[misc]
                counted[1] += 1
    print(f"{counted[0]} statements, {counted[1]} questions")
