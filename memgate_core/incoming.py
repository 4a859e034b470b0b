"""Proposals as they come from outside: an extractor's mappings, or whole `MemoryProposal`s.

Nothing they say about themselves is believed: the id is recomputed, tenant and subject are
compared with the turn's, offsets and hash with the message. That a proposal calls itself explicit
or approved is not even read (article: the model cannot vouch for itself).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memgate_core import telemetry
from memgate_core.errors import InvalidInputError
from memgate_core.extraction.align import align
from memgate_core.ledger.identity import MemoryProposal, payload_hash_of
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.records import ProposalRecord
from memgate_core.model import Candidate, Evidence, FieldSpec, Instant, Span, Turn
from memgate_core.tallies import CONFLICTS

Proposal = Mapping[str, Any] | MemoryProposal

_INSTANT: TypeAdapter[datetime] = TypeAdapter(Instant)


def candidates_of(
    turn: Turn, proposals: Sequence[Proposal], fields: Sequence[FieldSpec] = ()
) -> list[Candidate]:
    """Candidates for the proposals, in their order, each with evidence in the turn's text.

    A mapping has entity, attribute, value, text, and optionally span, confidence and expires_at
    (aware); see `memgate_core.extraction.align`. A `MemoryProposal` (or its camelCase mapping)
    names its evidence by offsets and hash; with `fields`, its kind has to be its field's.

    Raises:
        InvalidInputError: names the proposal and the part that is malformed.
    """
    formal = {
        index: _formal(proposal, index)
        for index, proposal in enumerate(proposals)
        if _is_formal(proposal)
    }
    _check_kinds(formal, fields)
    loose = [(index, p) for index, p in enumerate(proposals) if index not in formal]
    found = {index: _of_formal(turn, proposal, index) for index, proposal in formal.items()}
    laid = align(turn, [proposal for _, proposal in loose])
    for (index, proposal), candidate in zip(loose, laid, strict=False):  # none without any words
        found[index] = _with_expiry(candidate, proposal, index)
    return [found[index] for index in sorted(found)]


def refuse_other_payloads(ledger: Ledger, turn: Turn, proposals: Sequence[Proposal]) -> None:
    """Refuses proposals for a recorded turn that come with another payload than the first time.

    Open requests for their approval are void: what was to be approved is in doubt.

    Raises:
        ProtocolConflictError: the same identity, another value or expiry. It is counted and stands
            in the audit trail; the recorded result is unchanged.
    """
    stored = ledger.proposals(turn.subject, message_id=turn.message_id)
    known = {_slot(record.candidate): record for record in stored}
    for candidate in candidates_of(turn, proposals):
        record = known.get(_slot(candidate))
        offered = payload_hash_of(candidate, candidate.expires_at)
        if record is not None and record.payload_hash != offered:
            _refuse(ledger, turn, record, candidate, offered)


def _refuse(
    ledger: Ledger, turn: Turn, record: ProposalRecord, candidate: Candidate, offered: str
) -> None:
    with ledger.write(turn.subject) as tx:
        for asked in tx.void_approvals(record.proposal_id, turn.occurred_at):
            tx.audit("void", asked.approval_id, by="gate", detail={"offered": offered})
    telemetry.counted(CONFLICTS, record.policy_version)
    changed = {"payload_hash": offered, "candidate": candidate}
    with ledger.write(turn.subject) as tx:
        tx.save_proposal(record.model_copy(update=changed))


def _slot(candidate: Candidate) -> tuple[object, ...]:
    """What stands for a proposal's identity before its key is known: all but the value."""
    evidence = candidate.evidence
    whose = (candidate.extractor, candidate.entity, candidate.attribute, candidate.scope)
    return (*whose, evidence.start, evidence.end, candidate.ordinal)


def _is_formal(proposal: Proposal) -> bool:
    if isinstance(proposal, MemoryProposal):
        return True
    return isinstance(proposal, Mapping) and bool({"proposalId", "proposal_id"} & proposal.keys())


def _formal(proposal: Proposal, index: int) -> MemoryProposal:
    if isinstance(proposal, MemoryProposal):
        return proposal
    fields = MemoryProposal.model_fields
    known = {*fields, *(field.alias for field in fields.values())}
    parts = {key: value for key, value in proposal.items() if key in known}
    try:
        return MemoryProposal.model_validate(parts)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(f"proposals[{index}].{where}: {first['msg']}") from None


def _check_kinds(formal: Mapping[int, MemoryProposal], fields: Sequence[FieldSpec]) -> None:
    """The kind takes part in the identity, so a wrong one would be another slot."""
    kinds = {field.attribute: field.kind for field in fields}
    for index, proposal in formal.items():
        expected = kinds.get(proposal.normalized_key, proposal.kind)
        if proposal.kind is not expected:
            raise InvalidInputError(
                f"proposals[{index}].kind: {proposal.normalized_key} is of kind {expected},"
                f" not {proposal.kind}"
            )


def _of_formal(turn: Turn, proposal: MemoryProposal, index: int) -> Candidate:
    if not isinstance(proposal.value, (str, int, float)):
        raise InvalidInputError(f"proposals[{index}].value: must be text or a number")
    evidence = Evidence.model_validate(proposal.evidence.model_dump())
    words = _words(turn, evidence)
    own = (turn.subject.tenant, turn.subject.subject_id)
    return Candidate(
        attribute=proposal.normalized_key,
        value=str(proposal.value),
        text=proposal.scope.label(words),
        words=words,
        evidence=evidence,
        ordinal=proposal.stable_candidate_ordinal,
        extractor=proposal.extractor_version,
        confidence=proposal.confidence,
        expires_at=proposal.expires_at,
        foreign=(proposal.tenant_id, proposal.subject_id) != own,
        given=True,
        scope=proposal.scope,
    )


def _words(turn: Turn, evidence: Evidence) -> str:
    """The words at the evidence's place, for the judges; whether they are the right ones is
    decided by hash, with the other rules."""
    if evidence.start >= evidence.end or evidence.end > len(turn.text):
        return turn.text
    return Span(start=evidence.start, end=evidence.end).of(turn.text)


def _with_expiry(candidate: Candidate, proposal: Any, index: int) -> Candidate:
    given = proposal.get("expires_at") if isinstance(proposal, Mapping) else None
    if given is None:
        return candidate
    try:
        return candidate.model_copy(update={"expires_at": _INSTANT.validate_python(given)})
    except ValidationError:
        raise InvalidInputError(
            f"proposals[{index}].expires_at: must be an aware time", hint="2026-06-01T00:00Z"
        ) from None
