"""Who may approve, and what becomes of a request that nobody answers (article: confirmation).

An approval is a person's, for one proposal and one payload. That a deployment has nobody to ask
is a setting of its own, so that what then happens is chosen and never silent.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import Field

from memgate_core.errors import ApprovalError, InvalidInputError
from memgate_core.model import Decision, DecisionType, Model, Role

BLANKET = frozenset({"", "*", "%", "all", "any", "every", "everything"})
"""What people write when they mean "whatever there is": never an approval."""

_MACHINES = frozenset(
    {*(role.value for role in Role if role is not Role.USER), "model", "llm", "agent", "ai", "bot"}
)
_MACHINE_PREFIXES = tuple(f"{name}:" for name in (*sorted(_MACHINES), "rule", "policy"))


class Unanswered(StrEnum):
    """What becomes of what only a person can decide, while nobody does."""

    HOLD = "hold"
    """It waits, however long."""
    EXPIRE = "expire"
    """It waits for `days`, then ends, with a record."""
    DROP = "drop"
    """There is nobody to ask: it is refused at once, with a record."""


class ApprovalPolicy(Model):
    """A deployment's way with what needs a person."""

    unanswered: Unanswered = Unanswered.HOLD
    days: int = Field(default=30, ge=1)
    """With `expire`: how long a request stays open, counted from when it was made."""
    approvers: frozenset[str] = frozenset()
    """Names that may approve; empty: any person's."""

    @property
    def name(self) -> str:
        """How the policy is named in the audit trail."""
        wait = f" after {self.days} days" if self.unanswered is Unanswered.EXPIRE else ""
        return f"policy:unanswered approvals {self.unanswered.value}{wait}"

    def deadline(self, asked_at: datetime) -> datetime | None:
        """Until when a request may be answered; None: for ever."""
        if self.unanswered is not Unanswered.EXPIRE:
            return None
        return asked_at + timedelta(days=self.days)

    def drops(self, decision: Decision) -> bool:
        """True when the decision would wait for somebody who is not there."""
        return self.unanswered is Unanswered.DROP and decision.decision.asks

    def require_approver(self, name: str) -> str:
        """The name, when it is a person's who may approve here.

        Raises:
            InvalidInputError: nobody is named. ApprovalError: a program, or somebody without the
                right.
        """
        person = require_person(name)
        if self.approvers and person not in self.approvers:
            raise ApprovalError(f"{person} may not approve here", hint="see the setting approvers")
        return person


def dropped(decision: Decision) -> Decision:
    """What a decision that asks becomes where nobody can answer."""
    return decision.model_copy(
        update={
            "decision": DecisionType.REJECT,
            "reason": f"{decision.reason}; nobody can approve it here, so it is dropped",
        }
    )


def require_person(name: str) -> str:
    """The name of who acts, trimmed.

    Raises:
        InvalidInputError: it is empty. ApprovalError: it names a program: no model settles what
            it proposed.
    """
    person = name.strip()
    if not person:
        raise InvalidInputError("the name of who acts is empty", hint="pass by='…'")
    if person.casefold() in _MACHINES or person.casefold().startswith(_MACHINE_PREFIXES):
        raise ApprovalError(f"{person!r} is no person", hint="no model settles what it proposed")
    return person


def require_one(approval_id: str) -> str:
    """The id of one request, refused when it stands for many.

    Raises:
        ApprovalError: a blanket approval.
    """
    if approval_id.strip().casefold() in BLANKET:
        raise ApprovalError("a blanket approval", hint="each request is answered by itself")
    return approval_id
