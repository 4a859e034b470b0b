"""Domain objects for tests: everything has a sensible default, nothing is random."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memgate_core.ledger.identity import fact_id_of, payload_hash_of, proposal_id_of, staged_id_of
from memgate_core.ledger.records import ProposalRecord
from memgate_core.model import (
    Candidate,
    Decision,
    DecisionType,
    Evidence,
    Fact,
    FieldKey,
    Receipt,
    Span,
    StagedItem,
    Subject,
    Turn,
    sha256_of,
)

ANA = Subject(user_id="ana")
BEN = Subject(user_id="ben")
MARCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def day(number: int) -> datetime:
    """So many days after 2 March 2026."""
    return MARCH + timedelta(days=number)


def make_key(name: str = "home_city", subject: Subject = ANA, **rest: Any) -> FieldKey:
    """A key of a subject."""
    return FieldKey(subject=subject, normalized_key=name, **rest)


def make_turn(
    text: str = "I live in Leeds", message_id: str = "m1", subject: Subject = ANA, **rest: Any
) -> Turn:
    """A user turn on 2 March 2026."""
    rest.setdefault("occurred_at", MARCH)
    return Turn(subject=subject, message_id=message_id, text=text, **rest)


def make_receipt(turn: Turn, **rest: Any) -> Receipt:
    """A receipt that lets the whole text go on."""
    rest.setdefault("forward", turn.text)
    return Receipt(subject=turn.subject, message_id=turn.message_id, **rest)


def make_evidence(words: str = "I live in Leeds", message_id: str = "m1") -> Evidence:
    """Evidence for words at the start of a message."""
    return Evidence(message_id=message_id, start=0, end=len(words), sha256=sha256_of(words))


def make_candidate(
    value: str = "Leeds", message_id: str = "m1", ordinal: int = 0, **rest: Any
) -> Candidate:
    """A candidate for the home city."""
    words = f"I live in {value}"
    rest.setdefault("attribute", "home_city")
    return Candidate(
        value=value,
        text=f"lives in {value}",
        words=words,
        evidence=make_evidence(words, message_id),
        ordinal=ordinal,
        extractor="test/1",
        **rest,
    )


def make_proposal(
    value: str = "Leeds",
    message_id: str = "m1",
    key: FieldKey | None = None,
    decision: DecisionType = DecisionType.COMMIT,
    candidate: Candidate | None = None,
    **rest: Any,
) -> ProposalRecord:
    """A decided proposal."""
    key = key or make_key()
    candidate = candidate or make_candidate(value, message_id)
    rest.setdefault("policy_version", "p1")
    return ProposalRecord(
        proposal_id=proposal_id_of(key.subject, key, candidate),
        payload_hash=payload_hash_of(candidate),
        subject=key.subject,
        key=key,
        candidate=candidate,
        decision=Decision(decision=decision, rule="test", reason="a test says so"),
        recorded_at=MARCH,
        **rest,
    )


def make_fact(
    value: str = "Leeds",
    message_id: str = "m1",
    key: FieldKey | None = None,
    **rest: Any,
) -> Fact:
    """A current fact about the home city."""
    key = key or make_key()
    proposal = make_proposal(value, message_id, key)
    words = f"I live in {value}"
    rest.setdefault("valid_from", MARCH)
    rest.setdefault("recorded_at", MARCH)
    rest.setdefault("version", 1)
    rest.setdefault("attribute", "home_city")
    rest.setdefault("approved_by", "rule:test")
    return Fact(
        fact_id=fact_id_of(proposal.proposal_id),
        key=key,
        value=value,
        text=f"lives in {value}",
        words=words,
        evidence=make_evidence(words, message_id),
        proposal_id=proposal.proposal_id,
        **rest,
    )


def make_staged(
    value: str = "Seattle",
    message_id: str = "m1",
    key: FieldKey | None = None,
    **rest: Any,
) -> StagedItem:
    """A pending plan to move."""
    key = key or make_key()
    proposal = make_proposal(value, message_id, key, DecisionType.STAGE)
    words = rest.pop("words", f"I might move to {value}")
    rest.setdefault("text", f"lives in {value}")
    rest.setdefault("attribute", "home_city")
    rest.setdefault("created_at", MARCH)
    rest.setdefault("last_stated_at", rest["created_at"])
    return StagedItem(
        staged_id=staged_id_of(proposal.proposal_id),
        proposal_id=proposal.proposal_id,
        key=key,
        value=value,
        words=words,
        promote_when=f"the user says that they live in {value}",
        discard_when=f"the user says that they will not move to {value}",
        evidence=make_evidence(words, message_id),
        **rest,
    )


def span_of(turn: Turn, words: str) -> Span:
    """Where words stand in a turn."""
    start = turn.text.index(words)
    return Span(start=start, end=start + len(words))
