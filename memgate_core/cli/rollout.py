"""`memgate rollout`: how far decisions reach, and the switch that stops them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, opened_gate, settings
from memgate_core.cli.output import day, print_json, print_pairs

if TYPE_CHECKING:
    from memgate_core.ledger.records import Rollout

app = typer.Typer(
    name="rollout", help="How far decisions reach: show, set, back.", no_args_is_help=True
)


class Mode(StrEnum):
    """The modes of `memgate_core.policy.rollout`."""

    SHADOW = "shadow"
    CANARY = "canary"
    ON = "on"


@app.command()
def show(ledger: options.Ledger = None, as_json: options.AsJson = False) -> None:
    """Shows the state in force, and why commits were stopped, if they were."""
    with existing_gate(settings(ledger=ledger)) as gate:
        _print(gate.rollout.show(), as_json)


@app.command("set")
def set_mode(
    mode: Annotated[Mode, typer.Argument(help="shadow records only; canary commits a share; on.")],
    by: options.By,
    percent: Annotated[
        float | None,
        typer.Option("--percent", help="With canary: share of low-risk keys, 0 to 100."),
    ] = None,
    clear: Annotated[
        bool, typer.Option("--clear", help="Ends a rollback whose cause is mended.")
    ] = False,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Sets the mode for every process on this ledger, also before its first turn."""
    with opened_gate(settings(ledger=ledger)) as gate:
        _print(gate.rollout.set(mode.value, by=by, percent=percent, clear=clear), as_json)


@app.command("back")
def roll_back(
    why: Annotated[str, typer.Argument(help="Why; ids and places, never a user's words.")],
    by: options.By,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Stops all commits at once; reads go on."""
    with existing_gate(settings(ledger=ledger)) as gate:
        _print(gate.rollout.roll_back(why, by=by), as_json)


def _print(state: Rollout, as_json: bool) -> None:
    if as_json:
        print_json(state)
        return
    pairs = [
        ("mode", state.mode),
        (
            "canary",
            f"{state.canary_percent:g} % of low-risk keys" if state.canary_percent else None,
        ),
        ("policy version", state.policy_version),
        ("commits stopped", state.tripped),
        ("stopped at", day(state.tripped_at)),
        ("reads as of policy", state.reads_policy_version),
        ("changed", f"{day(state.changed_at)} by {state.changed_by}"),
    ]
    print_pairs(pairs)
