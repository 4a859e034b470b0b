"""`memgate revoke` and `memgate erase`: takes back what was let through, and says what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.delivery import Into
from memgate_core.cli.opening import existing_gate, settings, subject
from memgate_core.cli.output import print_json

if TYPE_CHECKING:
    from memgate_core.revocation import Revoked

IntoOption = Annotated[
    Into | None,
    typer.Option("--into", help="Also deliver it into this framework, and search it for traces."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(revoke)
    app.command()(erase)


def revoke(
    found_id: Annotated[
        str,
        typer.Argument(metavar="ID", help="A fact, a held item, a proposal; or a message."),
    ],
    by: options.By,
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for the record.")] = None,
    message: Annotated[
        bool, typer.Option("--message", help="ID is a message of --user: take back all of it.")
    ] = False,
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    into: IntoOption = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Takes back a fact, a held item, a proposal or a message, and all that came of it.

    Exit status 1 when a read of a framework can still find it, or a framework still has to take it.
    """
    from memgate_core.cli.frameworks import perhaps

    chosen = settings(ledger=ledger, tenant=tenant)
    with existing_gate(chosen) as gate, perhaps(into, chosen, gate):
        if message:
            whose = subject(chosen, user, actor)
            done = gate.revocation.message(whose, found_id, by=by, reason=reason)
        else:
            done = gate.revocation.revoke(found_id, by=by, reason=reason)
    _print(done, as_json)


def erase(
    by: options.By,
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
    into: IntoOption = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Removes every word of a user. The audit trail keeps ids, hashes and times."""
    from memgate_core.cli.frameworks import perhaps

    chosen = settings(ledger=ledger, tenant=tenant)
    whose = subject(chosen, user, actor)
    if not yes:
        typer.confirm(f"Erase every word of {whose}? This cannot be undone.", abort=True)
    with existing_gate(chosen) as gate, perhaps(into, chosen, gate):
        done = gate.revocation.erase(whose, by=by)
    _print(done, as_json)


def _print(done: Revoked, as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        for line in _lines(done):
            print(line)
    if not done.clean:
        raise typer.Exit(1)


def _lines(done: Revoked) -> list[str]:
    lines = [
        f"taken back: {len(done.facts)} facts, {len(done.staged)} held items,"
        f" {len(done.proposals)} proposals"
    ]
    if done.erased is not None:
        rows = ", ".join(f"{table} {count}" for table, count in done.erased.items())
        lines = [f"erased: {rows}"]
    lines += [f"stands again: {found}" for found in done.reopened]
    lines += [f"still to be delivered by its own process: {name}" for name in done.waiting]
    for place in done.residue:
        how = "READABLE" if place.readable else "kept on the side"
        lines.append(f"left in {place.projection}: {place.place} ({how})")
    return lines
