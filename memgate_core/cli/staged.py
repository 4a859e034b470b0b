"""`memgate staged`: plans that are held back, and a person's hand on them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings, subject
from memgate_core.cli.output import day, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memgate_core.gate import MemoryGate
    from memgate_core.model import StagedItem

app = typer.Typer(
    name="staged",
    help="Plans that are held back: list, show, confirm, discard.",
    no_args_is_help=True,
)

StagedId = Annotated[str, typer.Argument(metavar="ID", help="The held item's id.")]


@app.command("list")
def list_items(
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Every user of the tenant, for a reviewer.")
    ] = False,
    every_status: Annotated[
        bool, typer.Option("--all", help="Settled items too, not only pending ones.")
    ] = False,
    due: Annotated[
        bool, typer.Option("--due", help="Only those whose own words named a day that has come.")
    ] = False,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Lists held items, oldest first. They are plans: none of them is a fact."""
    from memgate_core import withheld
    from memgate_core.model import StagedStatus

    chosen = settings(ledger=ledger, tenant=tenant)
    with existing_gate(chosen) as gate:
        if all_users and user is None:
            subjects = gate.ledger.subjects(chosen.tenant)
        else:
            subjects = [subject(chosen, user, actor)]
        status = None if every_status else StagedStatus.PENDING
        items = [i for one in subjects for i in gate.ledger.staged(one, status=status)]
        if due:
            now = datetime.now(UTC)
            items = [i for i in items if i.review_at is not None and i.review_at <= now]
    _print(withheld.items(items), as_json)


@app.command()
def show(item_id: StagedId, ledger: options.Ledger = None, as_json: options.AsJson = False) -> None:
    """Shows one held item: what would be true, on which words, and what would settle it."""
    from memgate_core import withheld

    chosen = settings(ledger=ledger)
    with existing_gate(chosen) as gate:
        item = withheld.item(_item(gate, item_id))
    if as_json:
        print_json(item)
        return
    print_pairs(_facts_of(item))


@app.command()
def confirm(
    item_id: StagedId,
    by: options.By,
    on: Annotated[
        datetime | None,
        typer.Option("--on", metavar="DAY", formats=["%Y-%m-%d"], help="The day it came true."),
    ] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Makes a held item a fact. The framework's own store takes it at the next delivery."""
    chosen = settings(ledger=ledger)
    with existing_gate(chosen) as gate:
        day_of = on.replace(tzinfo=UTC) if on else None
        fact = gate.review.confirm(item_id, by=by, on=day_of)
    if as_json:
        print_json(fact)
        return
    print(f"now a fact: {fact.text}, valid from {day(fact.valid_from)} ({fact.fact_id})")
    if not fact.native:
        print("readable once its native write is delivered: `memgate deliver`, or the service")


@app.command()
def discard(
    item_id: StagedId,
    by: options.By,
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for the record.")] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Ends a held item that will not come true."""
    chosen = settings(ledger=ledger)
    with existing_gate(chosen) as gate:
        item = gate.review.discard(item_id, by=by, reason=reason)
    if as_json:
        print_json(item)
    else:
        print(f"dropped: {item.text} ({item.staged_id})")


def _item(gate: MemoryGate, item_id: str) -> StagedItem:
    from memgate_core.errors import NotFoundError

    item = gate.ledger.staged_item(item_id)
    if item is None:
        raise NotFoundError(f"no held item {item_id!r}", hint="see `memgate staged list`")
    return item


def _print(items: list[StagedItem], as_json: bool) -> None:
    if as_json:
        print_json(items)
        return
    columns = ("id", "user", "plan", "field", "value", "held since", "review", "status")
    print_table(columns, (_row(item) for item in items), empty="nothing is held")


def _row(item: StagedItem) -> tuple[object, ...]:
    return (
        item.staged_id,
        item.key.subject,
        item.text,
        item.attribute,
        item.value,
        day(item.created_at),
        day(item.review_at),
        item.status,
    )


def _facts_of(item: StagedItem) -> Iterable[tuple[str, object]]:
    return (
        ("id", item.staged_id),
        ("user", item.key.subject),
        ("would be true", item.text),
        ("the user's words", f"“{item.words}”"),
        ("message", item.evidence.message_id),
        ("held as", item.held_as),
        ("becomes a fact when", item.promote_when),
        ("is dropped when", item.discard_when),
        ("voiced", f"{day(item.created_at)}, {item.times_stated} time(s)"),
        ("review on", day(item.review_at)),
        ("status", item.status),
        ("settled", f"{day(item.resolved_at)}: {item.reason}" if item.resolved_at else None),
        ("fact", item.fact_id),
    )
