"""Approvals: each bound to one proposal, one payload and one approver (article).

A changed payload voids them, an answered one cannot be answered again, and there is no approval
without a proposal, so none can be given in advance or for everything.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, select, update

from memgate_core.errors import ApprovalError, NotFoundError
from memgate_core.ledger import proposals
from memgate_core.ledger.records import Approval, ApprovalStatus
from memgate_core.ledger.runner import Runner, body_of, insert_into
from memgate_core.ledger.schema import approval as a
from memgate_core.ledger.schema import literal
from memgate_core.ledger.scope import NO_LIMIT, Owner, owned
from memgate_core.ledger.times import micros, micros_or_none

_INSERT = insert_into(a, skip=["approval_no"])
_BY_ID = select(a.c.body).where(a.c.approval_id == bindparam("approval_id"))
_IS_AWAITING = a.c.status == literal("AWAITING")
_OPEN = select(a.c.body).where(owned(a), a.c.proposal_id == bindparam("proposal_id"), _IS_AWAITING)
_LAPSING = select(a.c.body).where(owned(a), _IS_AWAITING, a.c.expires_at <= bindparam("before"))
_MOVE = (
    update(a)
    .where(owned(a), a.c.approval_id == bindparam("of_approval"), _IS_AWAITING)
    .values(status=bindparam("status"), body=bindparam("body"))
)


def request(
    runner: Runner,
    owner: Owner,
    proposal_id: str,
    payload_hash: str,
    *,
    requested_at: datetime,
    expires_at: datetime | None,
    policy_version: str,
) -> Approval:
    """Asks for approval of a proposal as it is; asked again, returns the open request.

    Raises:
        NotFoundError: no such proposal of this subject. ApprovalError: its payload is another.
    """
    proposal = proposals.require(runner, proposal_id)
    owner.require(proposal.key)
    if proposal.payload_hash != payload_hash:
        raise ApprovalError("the proposal's payload is not the one to be approved")
    for body in runner.all(_OPEN, {**owner.params, "proposal_id": proposal_id}):
        return Approval.model_validate_json(body[0])
    asked = Approval(
        approval_id=f"appr_{uuid.uuid4().hex}",
        proposal_id=proposal_id,
        payload_hash=payload_hash,
        subject=owner.subject,
        policy_version=policy_version,
        requested_at=requested_at,
        expires_at=expires_at,
    )
    runner.run(_INSERT, {**owner.params, **_row(asked)})
    proposals.settle(runner, owner, proposal_id, status=ApprovalStatus.AWAITING.value)
    return asked


def decide(
    runner: Runner,
    owner: Owner,
    approval_id: str,
    payload_hash: str,
    *,
    approver: str,
    approve: bool,
    at: datetime,
) -> Approval:
    """Answers a request. The same answer by the same approver again returns the first.

    Raises:
        NotFoundError: no such request of this subject.
        ApprovalError: void, answered, expired, for another payload, or without an approver.
    """
    asked = require(runner, owner, approval_id)
    answer = ApprovalStatus.APPROVED if approve else ApprovalStatus.DECLINED
    if asked.status is answer and asked.approver == approver:
        return asked
    _require_answerable(asked, payload_hash, approver, at)
    if proposals.require(runner, asked.proposal_id).payload_hash != payload_hash:
        raise ApprovalError("the proposal changed since approval was asked for")
    return _move(runner, owner, asked, answer, at, approver)


def lapse(runner: Runner, owner: Owner, at: datetime) -> list[Approval]:
    """Ends the requests that nobody answered in time, and returns them."""
    rows = runner.all(_LAPSING, {**owner.params, "before": micros(at)})
    asked = [Approval.model_validate_json(body) for (body,) in rows]
    return [_move(runner, owner, one, ApprovalStatus.LAPSED, at, None) for one in asked]


def void(runner: Runner, owner: Owner, proposal_id: str, at: datetime) -> list[Approval]:
    """Ends the open requests for a proposal that changed or was taken back."""
    rows = runner.all(_OPEN, {**owner.params, "proposal_id": proposal_id})
    asked = [Approval.model_validate_json(body) for (body,) in rows]
    return [_move(runner, owner, one, ApprovalStatus.VOID, at, None) for one in asked]


def get(runner: Runner, approval_id: str) -> Approval | None:
    """A request by id."""
    row = runner.one(_BY_ID, {"approval_id": approval_id})
    return None if row is None else Approval.model_validate_json(row[0])


def require(runner: Runner, owner: Owner, approval_id: str) -> Approval:
    """A request of this subject.

    Raises:
        NotFoundError: there is none under this id.
    """
    found = get(runner, approval_id)
    if found is None or found.subject != owner.subject:
        raise NotFoundError(f"no request for approval {approval_id}")
    return found


def listing(
    runner: Runner,
    *,
    owner: Owner | None,
    status: ApprovalStatus | None,
    proposal_id: str | None,
    expired_before: datetime | None,
    limit: int | None,
) -> list[Approval]:
    """Requests in the order they were made, meeting every condition given."""
    given = (owner, status, proposal_id, expired_before)
    statement = _listing(*(part is not None for part in given))
    params = {
        **(owner.params if owner else {}),
        "status": status.value if status else None,
        "proposal_id": proposal_id,
        "before": micros_or_none(expired_before),
        "limit": NO_LIMIT if limit is None else limit,
    }
    return [Approval.model_validate_json(body) for (body,) in runner.all(statement, params)]


@lru_cache
def _listing(by_owner: bool, by_status: bool, by_proposal: bool, by_expiry: bool) -> Any:
    statement = select(a.c.body)
    if by_owner:
        statement = statement.where(owned(a))
    if by_status:
        statement = statement.where(a.c.status == bindparam("status"))
    if by_proposal:
        statement = statement.where(a.c.proposal_id == bindparam("proposal_id"))
    if by_expiry:
        statement = statement.where(a.c.expires_at <= bindparam("before"))
    return statement.order_by(a.c.approval_no).limit(bindparam("limit"))


def _require_answerable(asked: Approval, payload_hash: str, approver: str, at: datetime) -> None:
    if not approver.strip():
        raise ApprovalError("an approval needs the name of its approver")
    if asked.status is not ApprovalStatus.AWAITING:
        raise ApprovalError(f"the request is {asked.status} already")
    if asked.payload_hash != payload_hash:
        raise ApprovalError("the approval was given for another payload")
    if asked.expires_at is not None and at >= asked.expires_at:
        raise ApprovalError("the request expired before it was answered")


def _move(
    runner: Runner,
    owner: Owner,
    asked: Approval,
    status: ApprovalStatus,
    at: datetime,
    approver: str | None,
) -> Approval:
    moved = asked.model_copy(update={"status": status, "decided_at": at, "approver": approver})
    row = {"of_approval": asked.approval_id, "status": status.value, "body": body_of(moved)}
    if runner.run(_MOVE, {**owner.params, **row}) == 0:
        raise ApprovalError("the request was answered meanwhile")
    if status is not ApprovalStatus.VOID:
        proposals.settle(runner, owner, asked.proposal_id, status=status.value)
    return moved


def _row(asked: Approval) -> dict[str, Any]:
    return {
        "approval_id": asked.approval_id,
        "proposal_id": asked.proposal_id,
        "payload_hash": asked.payload_hash,
        "status": asked.status.value,
        "expires_at": micros_or_none(asked.expires_at),
        "body": body_of(asked),
    }
