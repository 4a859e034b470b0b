"""Requests for approval as people work with them: list, show, approve, decline, ask again, lapse.

What needs a person waits as a held item with a request. The request shows the fact as it would
stand, the user's words, what it would replace and when it would end; the answer binds proposal,
payload and approver (article). No model has a way in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memgate_core import telemetry, withheld
from memgate_core.acts import (
    act_of,
    act_on,
    acting,
    aware,
    pending_item,
    promotions,
    still_pending,
    utc_now,
)
from memgate_core.asking import ASKED, ask, fact_name, target_key
from memgate_core.book import Book
from memgate_core.errors import ApprovalError, NotFoundError
from memgate_core.ledger.records import Approval, ApprovalStatus, ProposalRecord
from memgate_core.model import (
    DecisionType,
    Fact,
    Instant,
    Model,
    StagedItem,
    Subject,
)
from memgate_core.policy.approvals import require_one, require_person
from memgate_core.tallies import APPROVALS

if TYPE_CHECKING:
    from memgate_core.assembly import Parts


class ApprovalRequest(Model):
    """A request with everything that its answer takes responsibility for."""

    approval_id: str
    status: ApprovalStatus
    proposal_id: str
    payload_hash: str
    """Has to be given with the answer: it names exactly what was shown here."""
    staged_id: str | None
    subject: Subject
    held_as: DecisionType
    why: str
    """Why the gate did not decide by itself."""
    entity: str
    attribute: str | None
    value: str | None
    fact: str
    """What would be true."""
    words: str | None
    """The source words, read again from the message; None when it no longer holds them, or when
    what was asked for has been revoked."""
    message_id: str
    said_by: str | None
    said_at: Instant | None
    effect: str
    """What an approval changes."""
    fact_expires_at: Instant | None
    """When the fact would end by itself."""
    requested_at: Instant
    answer_by: Instant | None
    """When the request lapses; None: never."""
    decided_at: Instant | None
    approver: str | None
    policy_version: str


class Approvals:
    """The open questions of a ledger, for people."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    # --- reading -------------------------------------------------------------------------------

    def list(
        self,
        *,
        subject: Subject | None = None,
        status: ApprovalStatus | None = ApprovalStatus.AWAITING,
        limit: int | None = None,
    ) -> Sequence[ApprovalRequest]:
        """Requests in the order they were made; open ones unless told, None for all."""
        found = self._parts.ledger.approvals(subject=subject, status=status, limit=limit)
        return [self._shown(asked) for asked in found]

    def show(self, approval_id: str) -> ApprovalRequest:
        """One request.

        Raises:
            NotFoundError: no such request.
        """
        return self._shown(self._require(approval_id))

    # --- answering -----------------------------------------------------------------------------

    def approve(
        self,
        approval_id: str,
        payload_hash: str,
        *,
        by: str,
        on: datetime | None = None,
    ) -> Fact:
        """Makes what was asked for a fact; the same answer again returns the same fact.

        `payload_hash`: as the request showed it. `on` (aware): since when it holds; without it,
        since it was said, or for a conflict between two values, since now.

        Raises:
            NotFoundError: no such request. InvalidInputError: nobody is named, `on` has no zone.
            ApprovalError: blanket, another payload, answered, void or lapsed, not an approver, the
                source words are gone, or the value it would replace changed since it was asked
                (it is then asked again, and the message names the new request).
        """
        person = self._parts.approvals.require_approver(by)
        asked = self._require(approval_id)
        if (done := self._approved_before(asked, payload_hash, person)) is not None:
            return done
        item = pending_item(self._parts, self._staged_id(asked))
        self._require_words(item)
        begins = aware(on, "on") or _since(item)
        with acting(self._parts, act_on(item, utc_now())) as book:
            again = self._ask_again_if_changed(book, asked, item)
            if again is None:
                return self._promote(book, asked, payload_hash, person, begins)
        raise ApprovalError(
            "the value that it would replace changed since approval was asked for",
            hint=f"look at the new request {again.approval_id}",
        )

    def decline(
        self, approval_id: str, payload_hash: str, *, by: str, reason: str | None = None
    ) -> StagedItem:
        """Ends what was asked for, unwritten.

        Raises:
            NotFoundError, InvalidInputError, ApprovalError: as `approve`.
        """
        person = self._parts.approvals.require_approver(by)
        asked = self._require(approval_id)
        item = pending_item(self._parts, self._staged_id(asked))
        with acting(self._parts, act_on(item, utc_now())) as book:
            fresh = still_pending(book, item)
            book.tx.decide_approval(
                approval_id, payload_hash, approver=person, approve=False, at=book.recorded_at
            )
            hand = promotions(self._parts, book, person)
            gone = hand.discard(fresh, reason or f"declined by {person}", fresh.evidence)
            book.tx.audit("decline", approval_id, by=person, detail=_bound(asked))
            _count(book, asked, ApprovalStatus.DECLINED)
        return gone

    def ask(self, staged_id: str, *, by: str) -> ApprovalRequest:
        """Asks (again) for approval of a held item that only a person can settle.

        Raises:
            NotFoundError: no such item. NotAllowedError: it is settled.
            ApprovalError: the item is a plan, which waits for the user's own words.
        """
        person = require_person(by)
        item = pending_item(self._parts, staged_id)
        if not item.held_as.asks:
            raise ApprovalError(
                "a plan waits for the user's own words",
                hint="or for `memgate staged confirm`, when a person knows that it came true",
            )
        with acting(self._parts, act_on(item, utc_now())) as book:
            fresh = still_pending(book, item)
            payload = self._proposal(item.proposal_id).payload_hash
            asked = ask(book, fresh, payload, self._parts.approvals)
            book.tx.audit("ask again", staged_id, by=person)
        return self._shown(asked)

    # --- nobody answered -----------------------------------------------------------------------

    def lapse(self, at: datetime) -> Sequence[Approval]:
        """Ends requests that nobody answered by `at` (aware), and the items they were for.

        Raises:
            InvalidInputError: `at` has no time zone.
        """
        aware(at, "at")
        overdue = self._parts.ledger.approvals(status=ApprovalStatus.AWAITING, expired_before=at)
        subjects = dict.fromkeys(asked.subject for asked in overdue)
        return [ended for subject in subjects for ended in self._lapse_of(subject, at)]

    def _lapse_of(self, subject: Subject, at: datetime) -> Sequence[Approval]:
        policy = self._parts.approvals.name
        with acting(self._parts, act_of(subject, at)) as book:
            ended = book.tx.lapse_approvals(at)
            for asked in ended:
                item = book.tx.staged(self._staged_id(asked))
                if item is not None and book.pending(item) is not None:
                    book.expire(item, "nobody answered in time")
                book.tx.audit("lapse", asked.approval_id, by=policy, detail=_bound(asked))
                _count(book, asked, ApprovalStatus.LAPSED)
        return ended

    # --- parts ---------------------------------------------------------------------------------

    def _promote(
        self, book: Book, asked: Approval, payload_hash: str, person: str, begins: datetime | None
    ) -> Fact:
        item = still_pending(book, pending_item(self._parts, self._staged_id(asked)))
        book.tx.decide_approval(
            asked.approval_id, payload_hash, approver=person, approve=True, at=book.recorded_at
        )
        hand = promotions(self._parts, book, person)
        fact = hand.promote(item, f"approved by {person}", item.evidence, begins=begins)
        book.tx.settle_proposal(asked.proposal_id, fact_id=fact.fact_id)
        detail = {**_bound(asked), "fact_id": fact.fact_id}
        book.tx.audit("approve", asked.approval_id, by=person, detail=detail)
        _count(book, asked, ApprovalStatus.APPROVED)
        return fact

    def _approved_before(self, asked: Approval, payload_hash: str, person: str) -> Fact | None:
        if asked.status is not ApprovalStatus.APPROVED or asked.approver != person:
            return None
        if asked.payload_hash != payload_hash:
            return None
        item = self._parts.ledger.staged_item(self._staged_id(asked))
        return self._parts.ledger.fact(item.fact_id) if item and item.fact_id else None

    def _ask_again_if_changed(
        self, book: Book, asked: Approval, item: StagedItem
    ) -> Approval | None:
        if asked.status is not ApprovalStatus.AWAITING:
            return None
        now = fact_name(book.state(target_key(book, item)).current)
        if now == self._replaces(asked):
            return None
        book.tx.void_approvals(asked.proposal_id, book.recorded_at)
        book.tx.audit("void", asked.approval_id, by="gate", detail=_bound(asked))
        return ask(book, item, asked.payload_hash, self._parts.approvals)

    def _replaces(self, asked: Approval) -> str | None:
        """The fact that the request was shown to replace."""
        noted = self._parts.ledger.audit_log(subject=asked.subject, target=asked.approval_id)
        detail = next((entry.detail for entry in noted if entry.action == ASKED), None) or {}
        return detail.get("replaces")

    def _require(self, approval_id: str) -> Approval:
        found = self._parts.ledger.approval(require_one(approval_id))
        if found is None:
            raise NotFoundError(
                f"no request for approval {approval_id!r}", hint="see `memgate approvals list`"
            )
        return found

    def _require_words(self, item: StagedItem) -> None:
        if self._parts.ledger.evidence_words(item.key.subject, item.evidence) is None:
            raise ApprovalError("the message no longer holds the words that it rests on")

    def _staged_id(self, asked: Approval) -> str:
        return self._proposal(asked.proposal_id).staged_id or ""

    def _proposal(self, proposal_id: str) -> ProposalRecord:
        found = self._parts.ledger.proposal(proposal_id)
        if found is None:
            raise NotFoundError(f"no proposal {proposal_id}")
        return found

    def _shown(self, asked: Approval) -> ApprovalRequest:
        proposal = self._proposal(asked.proposal_id)
        ledger = self._parts.ledger
        item = ledger.staged_item(proposal.staged_id) if proposal.staged_id else None
        item, gone = (withheld.item(item), withheld.is_gone(item)) if item else (None, False)
        candidate = proposal.candidate
        turn = ledger.turn(asked.subject, candidate.evidence.message_id)
        return ApprovalRequest(
            approval_id=asked.approval_id,
            status=asked.status,
            proposal_id=asked.proposal_id,
            payload_hash=asked.payload_hash,
            staged_id=proposal.staged_id,
            subject=asked.subject,
            held_as=proposal.decision.decision,
            why=proposal.decision.reason,
            entity=candidate.entity,
            attribute=item.attribute if item else candidate.attribute,
            value=None if gone else candidate.value,
            fact=item.text if item else candidate.text,
            words=None if gone else ledger.evidence_words(asked.subject, candidate.evidence),
            message_id=candidate.evidence.message_id,
            said_by=(turn.speaker or turn.role.value) if turn else None,
            said_at=turn.occurred_at if turn else None,
            effect=self._effect(item),
            fact_expires_at=candidate.expires_at,
            requested_at=asked.requested_at,
            answer_by=asked.expires_at,
            decided_at=asked.decided_at,
            approver=asked.approver,
            policy_version=asked.policy_version,
        )

    def _effect(self, item: StagedItem | None) -> str:
        if item is None:
            return "none: nothing is held any more"
        if item.attribute is None:
            return "stands beside what is known; replaces nothing"
        held = self._parts.ledger.facts(
            item.key.subject, attribute=item.attribute, include_pending_native=True
        )
        current = next((fact for fact in held if fact.key == item.key), None)
        if current is None:
            return f"{item.attribute} has no value yet"
        return f"ends “{current.text}”, which holds since {current.valid_from:%Y-%m-%d}"


def _since(item: StagedItem) -> datetime | None:
    """From when an approved value holds: since it was said, unless two sayings conflict."""
    return None if item.held_as is DecisionType.CONFLICT else item.created_at


def _bound(asked: Approval) -> dict[str, str]:
    return {"proposal_id": asked.proposal_id, "payload_hash": asked.payload_hash}


def _count(book: Book, asked: Approval, status: ApprovalStatus) -> None:
    book.tx.count(APPROVALS + status.value, asked.policy_version)
    telemetry.counted(APPROVALS + status.value, asked.policy_version)
