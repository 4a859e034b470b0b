"""`memgate metrics` and `memgate upkeep`: the figures an operator watches, and what lapses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings
from memgate_core.cli.output import print_json, print_pairs, print_table

if TYPE_CHECKING:
    from memgate_core.measures import FalseCommits, Label, Measures, PolicyMeasures, Share


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(metrics)
    app.command()(upkeep)


def metrics(
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", metavar="FILE", help="Of `memgate label`: adds the false_commit_rate."
        ),
    ] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Counts by policy version: holds, commits, what was taken back, approvals, residue."""
    from memgate_core.measures import false_commit_rate, measure

    with existing_gate(settings(ledger=ledger)) as gate:
        found = measure(gate.ledger, datetime.now(UTC))
        wrong = false_commit_rate(gate.ledger, _labels(labels)) if labels else None
    if as_json:
        shown = found.model_dump(mode="json")
        print_json({**shown, "false_commits": wrong.model_dump(mode="json")} if wrong else found)
        return
    print_pairs(_now(found))
    for one in found.by_policy:
        lines = [*_lines(one), *_labelled(wrong, one.policy_version)]
        print_table(("measure", "value"), lines, title=f"policy {one.policy_version or '–'}")


def upkeep(
    unheard_days: Annotated[
        int | None,
        typer.Option("--unheard-days", min=1, help="Expire plans not heard of for so long."),
    ] = None,
    overdue_days: Annotated[
        int | None,
        typer.Option("--overdue-days", min=0, help="Expire plans whose own day is so long past."),
    ] = None,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Ends facts whose expiry has come, requests past their time, and plans by a review policy."""
    from memgate_core.policy.reviews import ReviewPolicy

    with existing_gate(settings(ledger=ledger)) as gate:
        policy = ReviewPolicy(unheard_days=unheard_days, overdue_days=overdue_days)
        report = gate.maintenance.run(datetime.now(UTC), reviews=policy)
    if as_json:
        print_json(report)
        return
    print(
        f"expired: {len(report.expired_facts)} facts, {len(report.expired_items)} plans;"
        f" lapsed: {len(report.lapsed_approvals)} requests"
    )


def _labels(file: Path) -> Iterator[Label]:
    """What people said of statements that the gate committed."""
    from evaluation.jsonl import read
    from evaluation.labelling.agreement import committed_rightly
    from evaluation.labelling.traffic import TrafficLine
    from memgate_core.measures import Label

    for _, line in read(file, TrafficLine):
        if (right := committed_rightly(line)) is not None:
            yield Label(id=line.id, right=right)


def _labelled(wrong: FalseCommits | None, version: str) -> Iterator[tuple[str, object]]:
    if wrong is not None and version in wrong.by_policy:
        yield "false_commit_rate, of those labelled", _share(wrong.by_policy[version])


def _now(found: Measures) -> Iterator[tuple[str, object]]:
    oldest = found.oldest_held_days
    yield "oldest held plan", f"{oldest:.1f} days" if oldest is not None else None
    yield "open approvals", found.open_approvals
    yield "parked deliveries", found.parked
    for name, count in found.due.items():
        yield f"undelivered, {name}", count
    if found.rollout is not None:
        yield "rollout", found.rollout.tripped or found.rollout.mode


def _lines(one: PolicyMeasures) -> Iterator[tuple[str, object]]:
    yield "turns", one.turns
    for name, count in sorted(one.decisions.items()):
        yield f"decided {name}", count
    for name, count in sorted(one.isolated.items()):
        yield f"recorded only {name}", count
    yield "commits by rule", one.auto_commits
    yield "taken back within 30 days", _share(one.taken_back_soon)
    yield "hold rate", _share(one.hold_rate)
    yield "confirmations accepted", _share(one.confirmation_acceptance)
    yield "plans confirmed by the user", _share(one.plans_confirmed)
    yield "duplicate effects", one.duplicate_effects
    yield "revocations", one.revocations
    yield "revocation residue", one.revocation_residue
    yield "protocol conflicts", one.protocol_conflicts
    yield "replayed turns", one.replays
    yield "rollbacks", one.rollbacks


def _share(share: Share) -> str:
    rate = share.rate
    return f"{share.count} of {share.of}" + (f" ({rate:.1%})" if rate is not None else "")
