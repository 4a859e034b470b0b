"""Erasing a subject: every word goes; ids, hashes and times stay.

What was said, extracted, held, committed or answered is overwritten in place, and the rows remain
as evidence that something was there and went.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Column, Table, bindparam, delete, select, update

from memgate_core.errors import LedgerError
from memgate_core.ledger.protocol import ProposalRecord
from memgate_core.ledger.records import Approval, ApprovalStatus
from memgate_core.ledger.runner import Row, Runner, body_of
from memgate_core.ledger.schema import (
    approval,
    event,
    fact,
    fact_key,
    native_link,
    outbox,
    proposal,
    staged,
    staged_term,
    turn,
)
from memgate_core.ledger.scope import Owner, owned
from memgate_core.model import (
    Fact,
    FactStatus,
    FieldKey,
    NativeLink,
    Receipt,
    StagedItem,
    StagedStatus,
    sha256_of,
)

GONE = "erased"
"""What stands where a word was required."""

_PAGE = 500
_NO_CLAIM = {"entity": GONE, "attribute": None, "value": None, "text": "", "words": ""}
_OVER = (StagedStatus.PROMOTED, StagedStatus.DISCARDED, StagedStatus.EXPIRED, StagedStatus.REVOKED)

_SEARCHED: dict[str, Callable[[Any], Any]] = {
    "attribute": lambda _: None,
    "status": lambda stripped: stripped.status.value,
    "terms": lambda _: "[]",
}
"""Columns beside a body that hold words or follow from it."""


class _Rows:
    """The rewriting of one table's rows, each found by its number."""

    def __init__(
        self, table: Table, number: Column[Any], read: Sequence[Column[Any]], write: Sequence[str]
    ) -> None:
        self._numbers = select(number).where(owned(table))
        self._read = select(number, *read).where(number == bindparam("at"))
        values: Any = {name: bindparam(name) for name in write}
        self._write = update(table).where(number == bindparam("at")).values(values)

    def rewrite(self, runner: Runner, owner: Owner, strip: Callable[[Row], dict[str, Any]]) -> int:
        """Replaces what `strip` names in every row of the owner; returns how many there were."""
        numbers = [number for (number,) in runner.all(self._numbers, owner.params)]
        for start in range(0, len(numbers), _PAGE):
            rows = [self._one(runner, number) for number in numbers[start : start + _PAGE]]
            runner.many(self._write, [{"at": row[0], **strip(row)} for row in rows])
        return len(numbers)

    def _one(self, runner: Runner, number: int) -> Row:
        row = runner.one(self._read, {"at": number})
        if row is None:
            raise LedgerError("a row vanished while its subject was erased")
        return row


class _Bodies:
    """The rewriting of one table's models."""

    def __init__(self, table: Table, number: Column[Any], model: type[Any], *also: str) -> None:
        self._model, self._also = model, also
        self._rows = _Rows(table, number, [table.c.body], ["body", *also])

    def rewrite(self, runner: Runner, owner: Owner, strip: Callable[[Any], BaseModel]) -> int:
        """Replaces every model of the owner by its stripped form; returns how many there were."""
        return self._rows.rewrite(runner, owner, lambda row: self._columns(row[1], strip))

    def _columns(self, body: str, strip: Callable[[Any], BaseModel]) -> dict[str, Any]:
        stripped = strip(self._model.model_validate_json(body))
        beside = {name: _SEARCHED[name](stripped) for name in self._also}
        return {"body": body_of(stripped), **beside}


_PROPOSALS = _Bodies(proposal, proposal.c.proposal_no, ProposalRecord)
_FACTS = _Bodies(fact, fact.c.fact_no, Fact, "attribute", "status")
_STAGED = _Bodies(staged, staged.c.staged_no, StagedItem, "status", "terms")
_APPROVALS = _Bodies(approval, approval.c.approval_no, Approval, "status")
_TURNS = _Rows(turn, turn.c.turn_no, [turn.c.message_id], ["text", "speaker", "receipt", "answer"])
_EVENTS = _Rows(event, event.c.seq, [event.c.staged, event.c.fact], ["staged", "fact"])
_LINKS = select(native_link.c.body).where(owned(native_link))
_WIPE_LINK = (
    update(native_link)
    .where(
        native_link.c.projection == bindparam("of_projection"),
        native_link.c.native_id == bindparam("of_native"),
    )
    .values(body=bindparam("body"))
)
_DROP_TERMS = delete(staged_term).where(owned(staged_term))
_DROP_KEYS = delete(fact_key).where(owned(fact_key))
_DROP_ERRORS = update(outbox).where(owned(outbox), outbox.c.error.is_not(None)).values(error=None)


def erase(runner: Runner, owner: Owner, at: datetime) -> dict[str, int]:
    """Removes the subject's words from every table. Returns how many rows of each were there."""
    return {
        "turns": _TURNS.rewrite(runner, owner, lambda row: _turn(owner, row)),
        "proposals": _PROPOSALS.rewrite(runner, owner, _proposal),
        "facts": _FACTS.rewrite(runner, owner, lambda stored: _fact(stored, at)),
        "staged": _STAGED.rewrite(runner, owner, lambda stored: _item(stored, at)),
        "events": _EVENTS.rewrite(runner, owner, lambda row: _event(row, at)),
        "approvals": _APPROVALS.rewrite(runner, owner, lambda stored: _approval(stored, at)),
        "links": _links(runner, owner),
        "terms": runner.run(_DROP_TERMS, owner.params),
        "keys": runner.run(_DROP_KEYS, owner.params),
        "errors": runner.run(_DROP_ERRORS, owner.params),
    }


def _links(runner: Runner, owner: Owner) -> int:
    stored = [NativeLink.model_validate_json(body) for (body,) in runner.all(_LINKS, owner.params)]
    bare = [link.model_copy(update={"text": None}) for link in stored]
    rows = [
        {"of_projection": link.projection, "of_native": link.native_id, "body": body_of(link)}
        for link in bare
    ]
    runner.many(_WIPE_LINK, rows)
    return len(rows)


def _turn(owner: Owner, row: Row) -> dict[str, Any]:
    receipt = Receipt(subject=owner.subject, message_id=row[1], forward=None)
    return {"text": "", "speaker": None, "receipt": body_of(receipt), "answer": None}


def _event(row: Row, at: datetime) -> dict[str, Any]:
    _, held, told = row
    return {
        "staged": held and body_of(_item(StagedItem.model_validate_json(held), at)),
        "fact": told and body_of(_fact(Fact.model_validate_json(told), at)),
    }


def _proposal(stored: ProposalRecord) -> ProposalRecord:
    return stored.model_copy(
        update={
            "key": _key(stored.key),
            "candidate": stored.candidate.model_copy(update=_NO_CLAIM),
            "decision": stored.decision.model_copy(update={"reason": GONE}),
        }
    )


def _fact(stored: Fact, at: datetime) -> Fact:
    ends = {"status": FactStatus.REVOKED, "closed_at": stored.closed_at or at}
    return stored.model_copy(update={**_NO_CLAIM, **ends, "key": _key(stored.key)})


def _item(stored: StagedItem, at: datetime) -> StagedItem:
    conditions = {"promote_when": "", "discard_when": "", "reason": None}
    over = stored.status in _OVER
    ends = {} if over else {"status": StagedStatus.REVOKED, "resolved_at": at}
    return stored.model_copy(update={**_NO_CLAIM, **conditions, **ends, "key": _key(stored.key)})


def _approval(stored: Approval, at: datetime) -> Approval:
    if stored.status is not ApprovalStatus.AWAITING:
        return stored
    return stored.model_copy(update={"status": ApprovalStatus.VOID, "decided_at": at})


def _key(key: FieldKey) -> FieldKey:
    scope = key.scope.model_copy(update={"key": _hashed(key.scope.key) if key.scope.key else ""})
    return key.model_copy(update={"scope": scope, "normalized_key": _hashed(key.normalized_key)})


def _hashed(text: str) -> str:
    return text if text.startswith(f"{GONE}:") else f"{GONE}:{sha256_of(text)[:16]}"
