"""`memgate run`: conversations through the gate, and what memory held after each turn."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import model_access, settings
from memgate_core.cli.output import progress


class Extraction(StrEnum):
    """Where proposals come from."""

    LITERAL = "recorded:literal"
    CAUTIOUS = "recorded:cautious"
    LOCAL = "local"
    LLM = "llm"


class Gate(StrEnum):
    """What stands before memory."""

    ON = "on"
    OFF = "off"
    PLAN_TYPED = "plan-typed"


class Memory(StrEnum):
    """The framework behind the gate."""

    NONE = "none"
    MEM0 = "mem0"
    GRAPHITI = "graphiti"
    LANGCHAIN = "langchain"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="run")(run)


def run(
    in_file: options.InFile,
    trace: Annotated[
        Path, typer.Option("--trace", metavar="FILE", help="Trace to write; - is standard output.")
    ],
    extraction: Annotated[
        Extraction, typer.Option("--extraction", help="Recorded proposals, or read them here.")
    ] = Extraction.LITERAL,
    gate: Annotated[
        Gate, typer.Option("--gate", help="With the gate, without, or the baseline.")
    ] = Gate.ON,
    memory: Annotated[
        Memory, typer.Option("--memory", help="A real framework behind it, embedded.")
    ] = Memory.NONE,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger", metavar="URL", help="One ledger for all; default: one each, in memory."
        ),
    ] = None,
    classifier: options.Classifier = None,
) -> None:
    """Runs a file of conversations and writes what memory held after each of the user's turns."""
    from evaluation.jsonl import check_readable, writing
    from evaluation.plans.run import opened, traced
    from evaluation.plans.setting import Setting

    check_readable(in_file)
    chosen = settings(classifier=classifier)
    setting = Setting.model_validate(
        {
            "extraction": extraction.value,
            "gate": gate.value,
            "memory": memory.value,
            "classifier": chosen.classifier,
            "model": model_access(chosen),
        }
    )
    with progress(in_file, "run") as consumed, opened(ledger) as shared, writing(trace) as write:
        for line in traced(in_file, setting, ledger=shared, consumed=consumed):
            write(line)
