"""`memgate approvals`: what only a person can decide, each bound to the exact payload shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings, subject
from memgate_core.cli.output import day, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from memgate_core.approving import ApprovalRequest

app = typer.Typer(
    name="approvals",
    help="What only a person can decide: list, show, approve, decline.",
    no_args_is_help=True,
)

ApprovalId = Annotated[str, typer.Argument(metavar="ID", help="The request's id.")]
Payload = Annotated[
    str,
    typer.Option(
        "--payload", metavar="HASH", help="The payload hash as `approvals show` printed it."
    ),
]


@app.command("list")
def list_requests(
    user: options.User = None,
    actor: options.Actor = None,
    tenant: options.Tenant = None,
    every_status: Annotated[
        bool, typer.Option("--all", help="Answered and lapsed ones too.")
    ] = False,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Lists requests in the order they were made; of one user, or of everybody."""
    from memgate_core.ledger.records import ApprovalStatus

    chosen = settings(ledger=ledger, tenant=tenant)
    with existing_gate(chosen) as gate:
        found = gate.review.approvals.list(
            subject=subject(chosen, user, actor) if user else None,
            status=None if every_status else ApprovalStatus.AWAITING,
        )
        found = [one for one in found if one.subject.tenant == chosen.tenant]
    if as_json:
        print_json(found)
        return
    columns = ("id", "user", "would be true", "effect", "held as", "answer by", "status")
    print_table(columns, (_row(one) for one in found), empty="nothing waits for an approval")


@app.command()
def show(
    approval_id: ApprovalId, ledger: options.Ledger = None, as_json: options.AsJson = False
) -> None:
    """Shows one request: the fact, its source words, its effect, its expiry, and the payload."""
    with existing_gate(settings(ledger=ledger)) as gate:
        found = gate.review.approvals.show(approval_id)
    if as_json:
        print_json(found)
    else:
        print_pairs(_lines(found))


@app.command()
def approve(
    approval_id: ApprovalId,
    payload: Payload,
    by: options.By,
    on: Annotated[
        datetime | None,
        typer.Option("--on", metavar="DAY", formats=["%Y-%m-%d"], help="Since when it holds."),
    ] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Approves exactly what was shown; anything changed since voids it."""
    with existing_gate(settings(ledger=ledger)) as gate:
        since = on.replace(tzinfo=UTC) if on else None
        fact = gate.review.approvals.approve(approval_id, payload, by=by, on=since)
    if as_json:
        print_json(fact)
    else:
        print(f"now a fact: {fact.text}, valid from {day(fact.valid_from)} ({fact.fact_id})")


@app.command()
def decline(
    approval_id: ApprovalId,
    payload: Payload,
    by: options.By,
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for the record.")] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Declines: what was asked for ends unwritten."""
    with existing_gate(settings(ledger=ledger)) as gate:
        item = gate.review.approvals.decline(approval_id, payload, by=by, reason=reason)
    if as_json:
        print_json(item)
    else:
        print(f"declined: {item.text} ({item.staged_id})")


def _row(one: ApprovalRequest) -> tuple[object, ...]:
    return (
        one.approval_id,
        one.subject,
        one.fact,
        one.effect,
        one.held_as,
        day(one.answer_by),
        one.status,
    )


def _lines(one: ApprovalRequest) -> Iterator[tuple[str, object]]:
    yield "id", one.approval_id
    yield "user", one.subject
    yield "would be true", one.fact
    yield "whose", one.entity
    yield "field", f"{one.attribute} = {one.value}" if one.attribute else None
    yield "source words", f"“{one.words}”" if one.words else "(gone: it cannot be approved)"
    yield "message", f"{one.message_id}, {one.said_by or 'unknown'}, {day(one.said_at)}"
    yield "why it is asked", one.why
    yield "effect", one.effect
    yield "the fact ends", day(one.fact_expires_at)
    yield "answer by", day(one.answer_by)
    yield "status", one.status
    yield "payload", one.payload_hash
