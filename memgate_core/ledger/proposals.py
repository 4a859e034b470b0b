"""Proposals as they were decided: inserted once, never changed but for what became of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, select, update

from memgate_core.errors import NotFoundError, ProtocolConflictError
from memgate_core.ledger.protocol import ProposalRecord
from memgate_core.ledger.runner import Row, Runner, body_of, insert_once
from memgate_core.ledger.schema import proposal as p
from memgate_core.ledger.scope import NO_LIMIT, Owner, owned
from memgate_core.ledger.times import micros

_COLUMNS = (p.c.body, p.c.status, p.c.staged_id, p.c.fact_id)
_INSERT = insert_once(p, skip=["proposal_no"])
_BY_ID = select(*_COLUMNS).where(p.c.proposal_id == bindparam("proposal_id"))
_MINE = select(*_COLUMNS).where(owned(p)).order_by(p.c.proposal_no).limit(bindparam("limit"))
_OF_MESSAGE = _MINE.where(p.c.message_id == bindparam("message_id"))
_SETTLE = (
    update(p)
    .where(owned(p), p.c.proposal_id == bindparam("of_proposal"))
    .values(
        status=func.coalesce(bindparam("status"), p.c.status),
        staged_id=func.coalesce(bindparam("staged_id"), p.c.staged_id),
        fact_id=func.coalesce(bindparam("fact_id"), p.c.fact_id),
    )
)


def save(runner: Runner, owner: Owner, proposal: ProposalRecord) -> ProposalRecord:
    """Inserts, or returns what is recorded under the same id and payload.

    Raises:
        ProtocolConflictError: recorded with another payload.
    """
    owner.require(proposal.key)
    row: dict[str, Any] = {
        **owner.params,
        "proposal_id": proposal.proposal_id,
        "payload_hash": proposal.payload_hash,
        "message_id": proposal.candidate.evidence.message_id,
        "status": proposal.status,
        "policy_version": proposal.policy_version,
        "staged_id": proposal.staged_id,
        "fact_id": proposal.fact_id,
        "recorded_at": micros(proposal.recorded_at),
        "body": body_of(proposal),
    }
    if runner.run(_INSERT, row) == 1:
        return proposal
    stored = require(runner, proposal.proposal_id)
    if stored.payload_hash != proposal.payload_hash:
        raise ProtocolConflictError(
            proposal.proposal_id, stored.payload_hash, proposal.payload_hash
        )
    return stored


def get(runner: Runner, proposal_id: str) -> ProposalRecord | None:
    """A proposal with what became of it."""
    row = runner.one(_BY_ID, {"proposal_id": proposal_id})
    return None if row is None else _record(row)


def require(runner: Runner, proposal_id: str) -> ProposalRecord:
    """As `get`.

    Raises:
        NotFoundError: no such proposal.
    """
    found = get(runner, proposal_id)
    if found is None:
        raise NotFoundError(f"no proposal {proposal_id}")
    return found


def of(
    runner: Runner, owner: Owner, message_id: str | None, limit: int | None
) -> list[ProposalRecord]:
    """A subject's proposals in the order of recording, of one message or all."""
    params = {**owner.params, "limit": NO_LIMIT if limit is None else limit}
    if message_id is None:
        return [_record(row) for row in runner.all(_MINE, params)]
    rows = runner.all(_OF_MESSAGE, {**params, "message_id": message_id})
    return [_record(row) for row in rows]


def settle(
    runner: Runner,
    owner: Owner,
    proposal_id: str,
    *,
    status: str | None = None,
    staged_id: str | None = None,
    fact_id: str | None = None,
) -> None:
    """Notes what became of a proposal; None leaves a part as it is.

    Raises:
        NotFoundError: the subject has no such proposal.
    """
    row = {"status": status, "staged_id": staged_id, "fact_id": fact_id}
    if runner.run(_SETTLE, {**owner.params, **row, "of_proposal": proposal_id}) == 0:
        raise NotFoundError(f"no proposal {proposal_id}")


def _record(row: Row) -> ProposalRecord:
    body, status, staged_id, fact_id = row
    update = {"status": status, "staged_id": staged_id, "fact_id": fact_id}
    return ProposalRecord.model_validate_json(body).model_copy(update=update)
