"""`memgate facts` and `memgate history`: what holds, what held, and how it changed."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings, subject
from memgate_core.cli.output import day, print_json, print_table

if TYPE_CHECKING:
    from memgate_core.model import Fact


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(facts)
    app.command()(history)


def facts(
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    attribute: Annotated[
        str | None, typer.Option("--field", metavar="NAME", help="One registered field only.")
    ] = None,
    as_of: options.AsOf = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Facts of one user that hold now, or held at a time. Held plans are never among them."""
    chosen = settings(ledger=ledger, tenant=tenant)
    with existing_gate(chosen) as gate:
        at = as_of.replace(tzinfo=as_of.tzinfo or UTC) if as_of else None
        found = gate.profile(subject(chosen, user, actor)).facts(attribute=attribute, as_of=at)
    if as_json:
        print_json(found)
        return
    print_table(
        ("id", "field", "value", "fact", "whose", "valid from", "approved by"),
        (_row(fact) for fact in found),
        empty="nothing holds",
    )


def history(
    attribute: Annotated[str, typer.Argument(metavar="FIELD", help="A registered field.")],
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    revoked_words: options.RevokedWords = False,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Every value that one field ever had, oldest first; of revoked ones only that they were."""
    from memgate_core import withheld

    chosen = settings(ledger=ledger, tenant=tenant)
    with existing_gate(chosen) as gate:
        found = gate.profile(subject(chosen, user, actor)).history(attribute)
    found = found if revoked_words else withheld.facts(found)
    if as_json:
        print_json(found)
        return
    print_table(
        ("id", "value", "valid from", "valid to", "status", "on the words", "approved by"),
        (_past(fact) for fact in found),
        empty=f"{attribute} never had a value",
    )


def _row(fact: Fact) -> tuple[object, ...]:
    return (
        fact.fact_id,
        fact.attribute and fact.key.scope.label(fact.attribute),
        fact.value,
        fact.text,
        fact.entity,
        day(fact.valid_from),
        fact.approved_by,
    )


def _past(fact: Fact) -> tuple[object, ...]:
    return (
        fact.fact_id,
        fact.value,
        day(fact.valid_from),
        day(fact.valid_to),
        fact.status,
        f"“{fact.words}”",
        fact.approved_by,
    )
