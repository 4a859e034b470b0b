"""Asking a person: a request for approval, made in the transaction that holds the item.

The request binds proposal and payload; what the approval would replace is noted with it, so that an
answer given for another effect than the one shown is void.
"""

from __future__ import annotations

from memgate_core.book import Book
from memgate_core.ledger.records import Approval
from memgate_core.model import Fact, FieldKey, StagedItem
from memgate_core.policy.approvals import ApprovalPolicy

ASKED = "ask"
"""The audit trail's name for a request."""


def ask(book: Book, item: StagedItem, payload_hash: str, policy: ApprovalPolicy) -> Approval:
    """Asks for approval of a held item; asked again, the open request stands."""
    asked = book.tx.request_approval(
        item.proposal_id,
        payload_hash,
        requested_at=book.recorded_at,
        expires_at=policy.deadline(book.recorded_at),
        policy_version=book.policy_version,
    )
    if asked.requested_at == book.recorded_at:
        replaces = book.state(target_key(book, item)).current
        book.tx.audit(
            ASKED,
            asked.approval_id,
            by=f"policy:{book.policy_version}",
            detail={"proposal_id": item.proposal_id, "replaces": fact_name(replaces)},
        )
    return asked


def target_key(book: Book, item: StagedItem) -> FieldKey:
    """The key that the item would be written under."""
    return item.key if item.attribute else book.event_key(item.key, item.words)


def fact_name(fact: Fact | None) -> str | None:
    """The version of a fact that an approval was given against."""
    return fact.memory_id if fact is not None else None
