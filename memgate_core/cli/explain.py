"""`memgate explain ID`: who proposed it, on which words, who approved it, what it replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from memgate_core.cli import options
from memgate_core.cli.opening import existing_gate, settings
from memgate_core.cli.output import day, print_json, print_pairs

if TYPE_CHECKING:
    from memgate_core.explanation import Explanation, Words
    from memgate_core.model import Fact


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(explain)


def explain(
    found_id: Annotated[
        str, typer.Argument(metavar="ID", help="A fact, a held item or a proposal.")
    ],
    revoked_words: options.RevokedWords = False,
    ledger: options.Ledger = None,
    as_json: options.AsJson = False,
) -> None:
    """Who proposed it, on which words, who approved it, what it replaced, how to take it back."""
    from memgate_core import withheld
    from memgate_core.explanation import explain as explained

    chosen = settings(ledger=ledger)
    with existing_gate(chosen) as gate:
        found = explained(gate.ledger, found_id)
    found = found if revoked_words else withheld.explanation(found)
    if as_json:
        print_json(found)
    else:
        print_pairs(_lines(found))


def _lines(found: Explanation) -> Iterator[tuple[str, object]]:
    yield "what", f"{found.kind} {found.asked_for}"
    yield "user", found.subject
    if found.fact is not None:
        yield "says", _said(found.fact)
    elif found.staged is not None:
        yield "would say", f"{found.staged.text} (a plan, {found.staged.status})"
    yield from _proposed(found)
    yield from _decided(found)
    yield from _settled(found)
    if found.replaced is not None:
        yield "replaced", _said(found.replaced)
    if found.replaced_by is not None:
        yield "replaced by", _said(found.replaced_by)
    for link in found.native:
        yield "stands in", f"{link.projection} as {link.native_id}"
    for entry in found.audit:
        yield "audit", f"{day(entry.at)} {entry.action} by {entry.by}"
    yield "take it back", _way_back(found)


def _proposed(found: Explanation) -> Iterator[tuple[str, object]]:
    if found.proposal is not None:
        yield "proposed by", found.proposal.candidate.extractor
    if found.proposed_on is not None:
        yield "on the words", _quoted(found.proposed_on)


def _decided(found: Explanation) -> Iterator[tuple[str, object]]:
    if found.judged is not None:
        judgement, standing = found.judged.judgement, found.judged.standing
        sure = judgement.probabilities[judgement.evidence_type]
        cues = f", cues: {', '.join(judgement.cues)}" if judgement.cues else ""
        yield (
            "judged",
            (
                f"{judgement.evidence_type} ({sure:.0%}; next {judgement.runner_up}){cues};"
                f" stands as {standing.standing}"
            ),
        )
    if found.proposal is not None:
        decision = found.proposal.decision
        yield (
            "decided",
            (
                f"{decision.decision} by rule {decision.rule}, policy"
                f" {found.proposal.policy_version}: {decision.reason}"
            ),
        )
    for approval in found.approvals:
        yield "approval", f"{approval.approval_id} {approval.status} by {approval.approver or '–'}"
    if found.fact is not None:
        yield "approved by", found.fact.approved_by


def _settled(found: Explanation) -> Iterator[tuple[str, object]]:
    item = found.staged
    if item is None:
        return
    if item.resolved_at is None:
        yield "waits for", item.promote_when
        yield "or ends when", item.discard_when
        return
    yield "settled", f"{day(item.resolved_at)} {item.status}: {item.reason}"
    if found.settled_on is not None:
        yield "on the words", _quoted(found.settled_on)


def _quoted(words: Words) -> str:
    said = f"“{words.words}”" if words.verified else "(the words are gone or changed)"
    return f"{said}, {words.said_by} at {words.said_at}, message {words.message_id}"


def _said(fact: Fact) -> str:
    return f"{fact.text} [{day(fact.valid_from)}, {day(fact.valid_to)}) {fact.status}"


def _way_back(found: Explanation) -> str:
    if found.fact is not None:
        return f"memgate revoke {found.fact.fact_id} --by NAME"
    if found.staged is not None:
        return f"memgate staged discard {found.staged.staged_id} --by NAME"
    return f"memgate revoke {found.asked_for} --by NAME"
