"""`memgate sample` and `memgate label`: people label statements of their own traffic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.labelling.traffic import TrafficLine

_KEYS = {"s": "speculation", "e": "completed_event", "c": "correction", "o": "other"}
_HELP = (
    "[s]peculation  [e]vent that happened  [c]orrection  [o]ther   "
    "[x] other, and must not be kept   [space] skip   [q]uit"
)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(sample)
    app.command()(label)


def sample(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Statements to be labelled.")],
    count: Annotated[int, typer.Option("--count", min=1, help="How many.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="The same seed draws the same ones.")] = 1,
    tenant: options.Tenant = None,
    ledger: options.Ledger = None,
) -> None:
    """Draws statements from recorded traffic. The file holds users' words."""
    from evaluation.jsonl import writing
    from evaluation.labelling.traffic import sample as drawn

    chosen = settings(ledger=ledger, tenant=tenant)
    with existing_gate(chosen) as gate:
        lines = drawn(gate.ledger, tenant=chosen.tenant, count=count, seed=seed)
    with writing(out) as write:
        for line in lines:
            write(line)
    print(f"{len(lines)} statements")


def label(
    in_file: options.InFile,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Labelled lines; what is there is kept.")
    ],
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who labels.")] = None,
) -> None:
    """Shows each statement in its place and takes a key. Stop any time: it goes on from there."""
    from evaluation.jsonl import read
    from evaluation.labelling.traffic import TrafficLine

    lines = [line for _, line in read(in_file, TrafficLine)]
    done = {line.id for _, line in read(out, TrafficLine)} if out.is_file() else set()
    left = [line for line in lines if line.id not in done]
    with out.open("a", encoding="utf-8", buffering=1) as file:
        for number, line in enumerate(left, 1):
            _show(line, f"{len(done) + number}/{len(lines)}")
            labelled = _ask(line, by, typer.getchar)
            if labelled is None:
                break
            if labelled.label is not None:
                print(labelled.model_dump_json(exclude_unset=True), file=file)


def _show(line: TrafficLine, place: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.rule(place, align="left")
    for before in line.history:
        console.print(Text(f"{before.role}: {before.content}", style="dim"))
    shown = Text(line.message or line.text)
    shown.highlight_words([line.text], style="bold reverse")
    console.print(shown)
    console.print(Text(_HELP, style="cyan"))


def _ask(line: TrafficLine, by: str | None, key: Callable[[], str]) -> TrafficLine | None:
    """The line with a label; without one when skipped; None to stop."""
    while True:
        pressed = key().lower()
        if pressed in ("q", "\x04"):
            return None
        if pressed == " ":
            return line.model_copy(update={"label": None})
        if pressed == "x":
            return line.model_copy(update={"label": "other", "keep": False, "labelled_by": by})
        if pressed in _KEYS:
            return line.model_copy(update={"label": _KEYS[pressed], "labelled_by": by})
