"""Where a fact or a held item comes from: who proposed it, on which words, who approved it, what it
replaced, where it stands in the frameworks, and how to take it back (the article's four questions).
"""

from __future__ import annotations

from memgate_core.errors import NotFoundError
from memgate_core.ledger.protocol import Ledger, ProposalRecord, TurnRecord
from memgate_core.ledger.records import Approval, AuditEntry
from memgate_core.model import (
    Evidence,
    Fact,
    Judged,
    Model,
    NativeLink,
    StagedItem,
    Subject,
)


class Words(Model):
    """Words that something rests on, read again from the message as it is recorded."""

    message_id: str
    said_by: str
    said_at: str
    words: str | None
    """None when the message no longer holds them: erased, or another text."""
    verified: bool
    """True when tenant, offsets and hash still agree (article: the service re-reads)."""


class Explanation(Model):
    """Everything the ledger knows about one thing."""

    asked_for: str
    kind: str
    """fact, staged, proposal."""
    subject: Subject
    fact: Fact | None = None
    staged: StagedItem | None = None
    proposal: ProposalRecord | None = None
    judged: Judged | None = None
    """How the turn was judged that proposed it."""
    proposed_on: Words | None = None
    settled_on: Words | None = None
    """The words that confirmed or ended a held item."""
    replaced: Fact | None = None
    replaced_by: Fact | None = None
    approvals: tuple[Approval, ...] = ()
    native: tuple[NativeLink, ...] = ()
    audit: tuple[AuditEntry, ...] = ()

    @property
    def approved_by(self) -> str | None:
        """Who let it become a fact: a rule, the user's own later words, or a person."""
        return self.fact.approved_by if self.fact else None


def explain(ledger: Ledger, found_id: str) -> Explanation:
    """Explains a fact, a held item or a proposal by its id.

    Raises:
        NotFoundError: nothing has this id.
    """
    fact = ledger.fact(found_id)
    staged = ledger.staged_item(found_id)
    proposal = ledger.proposal(found_id)
    if fact is None and staged is None and proposal is None:
        raise NotFoundError(
            f"nothing has the id {found_id!r}", hint="see `memgate facts` and `memgate staged list`"
        )
    kind = "fact" if fact else "staged" if staged else "proposal"
    return _explained(ledger, found_id, kind, fact, staged, proposal)


def _explained(
    ledger: Ledger,
    found_id: str,
    kind: str,
    fact: Fact | None,
    staged: StagedItem | None,
    proposal: ProposalRecord | None,
) -> Explanation:
    proposal = proposal or _proposal(ledger, fact, staged)
    staged = staged or _staged(ledger, fact, proposal)
    fact = fact or _fact(ledger, staged, proposal)
    subject = _subject(fact, staged, proposal)
    origin = _origin(fact, staged, proposal)
    return Explanation(
        asked_for=found_id,
        kind=kind,
        subject=subject,
        fact=fact,
        staged=staged,
        proposal=proposal,
        judged=_judged(ledger, subject, proposal),
        proposed_on=_words(ledger, subject, origin),
        settled_on=_words(ledger, subject, staged.resolved_by) if staged else None,
        replaced=ledger.fact(fact.supersedes) if fact and fact.supersedes else None,
        replaced_by=_successor(ledger, subject, fact),
        approvals=tuple(ledger.approvals(subject=subject, proposal_id=proposal.proposal_id))
        if proposal
        else (),
        native=_native(ledger, fact, staged),
        audit=_audit(ledger, subject, fact, staged, proposal),
    )


def _proposal(
    ledger: Ledger, fact: Fact | None, staged: StagedItem | None
) -> ProposalRecord | None:
    source = fact or staged
    return ledger.proposal(source.proposal_id) if source else None


def _staged(
    ledger: Ledger, fact: Fact | None, proposal: ProposalRecord | None
) -> StagedItem | None:
    wanted = list(fact.derived_from) if fact else []
    if proposal and proposal.staged_id:
        wanted.append(proposal.staged_id)
    return next((item for one in wanted if (item := ledger.staged_item(one))), None)


def _fact(
    ledger: Ledger, staged: StagedItem | None, proposal: ProposalRecord | None
) -> Fact | None:
    wanted = (staged.fact_id if staged else None) or (proposal.fact_id if proposal else None)
    return ledger.fact(wanted) if wanted else None


def _subject(
    fact: Fact | None, staged: StagedItem | None, proposal: ProposalRecord | None
) -> Subject:
    keyed = fact or staged or proposal
    assert keyed is not None  # explain() found one of the three
    return keyed.key.subject


def _origin(
    fact: Fact | None, staged: StagedItem | None, proposal: ProposalRecord | None
) -> Evidence | None:
    if staged is not None:
        return staged.evidence
    if proposal is not None:
        return proposal.candidate.evidence
    return fact.evidence if fact else None


def _judged(ledger: Ledger, subject: Subject, proposal: ProposalRecord | None) -> Judged | None:
    if proposal is None:
        return None
    turn = ledger.turn(subject, proposal.candidate.evidence.message_id)
    judged = turn.receipt.judged if turn else ()
    return next((one for one in judged if one.proposal_id == proposal.proposal_id), None)


def _words(ledger: Ledger, subject: Subject, evidence: Evidence | None) -> Words | None:
    if evidence is None:
        return None
    turn = ledger.turn(subject, evidence.message_id)
    words = ledger.evidence_words(subject, evidence)
    return Words(
        message_id=evidence.message_id,
        said_by=_speaker(turn),
        said_at=turn.occurred_at.isoformat() if turn else "unknown",
        words=words,
        verified=words is not None,
    )


def _speaker(turn: TurnRecord | None) -> str:
    if turn is None:
        return "unknown"
    return turn.speaker or str(turn.role)


def _successor(ledger: Ledger, subject: Subject, fact: Fact | None) -> Fact | None:
    if fact is None or fact.attribute is None:
        return None
    later = ledger.facts(subject, attribute=fact.attribute, include_closed=True)
    return next((one for one in later if one.supersedes == fact.fact_id), None)


def _native(ledger: Ledger, fact: Fact | None, staged: StagedItem | None) -> tuple[NativeLink, ...]:
    found: list[NativeLink] = []
    for projection in ledger.projections():
        if fact is not None:
            found += ledger.links(projection, fact_id=fact.fact_id)
        if staged is not None:
            found += ledger.links(projection, staged_id=staged.staged_id)
    return tuple({(link.projection, link.native_id): link for link in found}.values())


def _audit(
    ledger: Ledger,
    subject: Subject,
    fact: Fact | None,
    staged: StagedItem | None,
    proposal: ProposalRecord | None,
) -> tuple[AuditEntry, ...]:
    targets = [
        one
        for one in (
            fact.fact_id if fact else None,
            staged.staged_id if staged else None,
            proposal.proposal_id if proposal else None,
        )
        if one is not None
    ]
    entries = [e for target in targets for e in ledger.audit_log(subject=subject, target=target)]
    return tuple(sorted(entries, key=lambda entry: entry.number))
