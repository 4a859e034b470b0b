"""`memgate deliver` and `memgate rebuild`: carries the ledger into a framework's store."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings
from memgate_core.cli.output import print_json, print_pairs, print_table

if TYPE_CHECKING:
    from memgate_core.ledger.protocol import Delivery, Ledger
    from memgate_core.projection import DeliveryReport


class Into(StrEnum):
    """Frameworks that hold projections."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(deliver)
    app.command()(rebuild)


def deliver(
    into: Annotated[
        Into | None,
        typer.Option("--into", help="Deliver into this one; without it, only say what is due."),
    ] = None,
    retry_parked: Annotated[
        bool, typer.Option("--retry-parked", help="Try again what was given up on.")
    ] = False,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Carries what is due into a framework's store; what is delivered twice changes nothing.

    Exit status 1 when something could not be delivered: it stays due.
    """
    from memgate_core.cli.frameworks import opened

    chosen = settings(ledger=ledger)
    with existing_gate(chosen) as gate:
        if retry_parked:
            for name in gate.ledger.projections():
                gate.ledger.retry_parked(name)
        if into is None:
            _show_backlog(gate.ledger, as_json)
            return
        with opened(into.value, chosen, gate) as framework:
            report = framework.deliver()
    _show_report(report, as_json)
    if report.failed or report.parked:
        raise typer.Exit(1)


def rebuild(
    into: Annotated[Into, typer.Option("--into", help="Which framework to write anew.")],
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Drops what the gate owns in a framework's store and writes the ledger's state into it."""
    from memgate_core.cli.frameworks import opened

    chosen = settings(ledger=ledger)
    with existing_gate(chosen) as gate, opened(into.value, chosen, gate) as framework:
        report = framework.rebuild()
    if as_json:
        print_json(report)
    else:
        print_pairs((name, getattr(report, name)) for name in type(report).model_fields)


def _show_backlog(ledger: Ledger, as_json: bool) -> None:
    waiting = dict(ledger.projections())
    parked = {name: len(ledger.parked(name)) for name in waiting}
    given_up = [one for name in waiting for one in ledger.parked(name)]
    if as_json:
        found = [{"projection": n, "due": c, "parked": parked[n]} for n, c in waiting.items()]
        print_json({"projections": found, "parked": [_parked(one) for one in given_up]})
        return
    rows = ((name, count, parked[name]) for name, count in waiting.items())
    print_table(("projection", "undelivered", "of these parked"), rows, empty="no projections")
    if given_up:
        listed = [_parked(one) for one in given_up]
        print_table(tuple(listed[0]), (tuple(one.values()) for one in listed), title="parked")


def _parked(one: Delivery) -> dict[str, object]:
    """An event that was given up on, without a word of the user's."""
    event = one.event
    about = event.fact.fact_id if event.fact else event.staged and event.staged.staged_id
    return {
        "projection": one.projection,
        "event": event.seq,
        "what": event.event_type.value,
        "user": str(event.subject),
        "about": about,
        "tries": one.attempts,
        "error": one.error,
    }


def _show_report(report: DeliveryReport, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    print(f"{report.projection}: {report.delivered} delivered, {report.failed} failed")
    if report.parked:
        print(f"{report.parked} parked: `memgate deliver --retry-parked --into …` tries again")
    for error in report.errors:
        print(f"  {error}")
