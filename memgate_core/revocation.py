"""Revocation: a fact, a held item, a proposal, a message, or everything of a subject (article).

Status first and the event with it, in one transaction; then every attached framework; then a search
for what is still found there. What is left in a place that a read can reach stops all commits.
Places that a framework keeps outside its reads (histories, raw messages) are reported by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from memgate_core import telemetry
from memgate_core.acts import act_of, acting, utc_now
from memgate_core.errors import NotFoundError
from memgate_core.model import (
    Event,
    EventType,
    FactStatus,
    JsonObject,
    Model,
    Subject,
)
from memgate_core.policy.approvals import require_person
from memgate_core.projection import DeliveryReport, Projection, deliver, is_outside_reads
from memgate_core.tallies import REVOCATIONS
from memgate_core.tripwires import trip_on_residue
from memgate_core.withdrawal import Withdrawal

if TYPE_CHECKING:
    from memgate_core.assembly import Parts
    from memgate_core.book import Book


class Residue(Model):
    """A place where a trace of something revoked is still found. Names ids, never words."""

    projection: str
    place: str
    readable: bool
    """True when a read of the framework can reach it; False for what it keeps on the side."""


class Revoked(Model):
    """What a revocation did, everywhere."""

    target: str
    subject: Subject
    facts: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    """Facts and plans that stand again as before."""
    erased: JsonObject | None = None
    """After an erasure: how many rows of each table lost their words."""
    deliveries: tuple[DeliveryReport, ...] = ()
    waiting: tuple[str, ...] = ()
    """Projections that still have to take it: their own process delivers."""
    residue: tuple[Residue, ...] = ()

    @property
    def clean(self) -> bool:
        """True when no read of any attached framework can reach a trace, and none has to wait."""
        return not self.waiting and not any(place.readable for place in self.residue)


class Revocation:
    """The way back of everything that the gate let through."""

    def __init__(self, parts: Parts, projections: Mapping[str, Projection]) -> None:
        self._parts, self._projections = parts, projections

    def revoke(
        self, found_id: str, *, by: str, reopen: bool | None = None, reason: str | None = None
    ) -> Revoked:
        """Takes back a fact, a held item or a proposal by its id, and all that came of it.

        `reopen`: whether a value that it had replaced holds again. By default only for a proposal:
        what was never rightly proposed leaves things as they were, while a fact that somebody
        wants forgotten does not make an older value true. Repeatable.

        Raises:
            NotFoundError: nothing has this id. InvalidInputError: `by` is empty.
            ApprovalError: `by` names a program.
        """
        person = require_person(by)
        subject, is_proposal = self._owner(found_id)
        reopens = is_proposal if reopen is None else reopen
        with acting(self._parts, act_of(subject, utc_now())) as book:
            hand = self._hand(book, reopens, reason or f"revoked by {person}")
            hand.thing(found_id)
            self._note(book, hand, "revoke", found_id, person)
        return self._follow_up(found_id, subject, hand, book.events)

    def revoke_all(
        self, subject: Subject, found_ids: Iterable[str], *, by: str, reason: str | None = None
    ) -> Revoked:
        """Takes back several facts and held items of one subject in one transaction, and all that
        came of them. Ids that name nothing of the subject's are passed over. Repeatable.

        Raises:
            InvalidInputError, ApprovalError: as `revoke`.
        """
        person = require_person(by)
        with acting(self._parts, act_of(subject, utc_now())) as book:
            hand = self._hand(book, False, reason or f"revoked by {person}")
            for found_id in dict.fromkeys(found_ids):
                known = book.tx.fact(found_id) or book.tx.staged(found_id)
                if known is not None and known.key.subject == subject:
                    hand.thing(found_id)
                    self._note(book, hand, "revoke", found_id, person)
        return self._follow_up(str(subject), subject, hand, book.events)

    def message(
        self, subject: Subject, message_id: str, *, by: str, reason: str | None = None
    ) -> Revoked:
        """Takes back everything that came of one message; what it had replaced holds again, and
        plans that it had settled are open again. Repeatable.

        Raises:
            NotFoundError: the subject has no such message. InvalidInputError, ApprovalError: as
                `revoke`.
        """
        person = require_person(by)
        turn = self._parts.ledger.turn(subject, message_id)
        if turn is None:
            raise NotFoundError(f"{subject} has no message {message_id!r}")
        with acting(self._parts, act_of(subject, utc_now())) as book:
            hand = self._hand(book, True, reason or f"revoked by {person}")
            hand.message(message_id, turn.receipt.resolved)
            self._note(book, hand, "revoke message", message_id, person)
        return self._follow_up(message_id, subject, hand, book.events)

    def erase(self, subject: Subject, *, by: str) -> Revoked:
        """Removes every word of a subject, here and in every attached framework. The audit trail
        keeps ids, hashes and times. Repeatable.

        Raises:
            NotFoundError: the ledger does not know the subject.
            InvalidInputError, ApprovalError: as `revoke`.
        """
        person = require_person(by)
        if subject not in self._parts.ledger.subjects(subject.tenant):
            raise NotFoundError(f"the ledger knows no {subject}")
        with acting(self._parts, act_of(subject, utc_now())) as book:
            counts = book.tx.erase()
            book.event(EventType.ERASED)
            book.tx.audit("erase", subject.subject_id, by=person, detail=counts)
            book.tx.count(REVOCATIONS, book.policy_version)
        telemetry.counted(REVOCATIONS, self._parts.matrix.version)
        report = Revoked(target=str(subject), subject=subject, erased=counts)
        return self._reported(report, book.events)

    def check(self, events: Iterable[Event]) -> tuple[Residue, ...]:
        """Searches the attached frameworks again for traces of what these events took away; one
        that a read can reach stops all commits."""
        gone, found = list(events), []
        for projection in self._projections.values():
            places = self._residue(projection, gone)
            readable = [one.place for one in places if one.readable]
            trip_on_residue(self._parts.ledger, projection.name, readable)
            found += places
        return tuple(found)

    # --- parts ---------------------------------------------------------------------------------

    def _owner(self, found_id: str) -> tuple[Subject, bool]:
        ledger = self._parts.ledger
        proposal = ledger.proposal(found_id)
        keyed = ledger.fact(found_id) or ledger.staged_item(found_id) or proposal
        if keyed is None:
            raise NotFoundError(
                f"nothing has the id {found_id!r}",
                hint="see `memgate facts` and `memgate staged list`",
            )
        return keyed.key.subject, proposal is not None

    def _hand(self, book: Book, reopens: bool, reason: str) -> Withdrawal:
        return Withdrawal(book, self._parts.ledger, FactStatus.REVOKED, reopens, reason)

    def _note(self, book: Book, hand: Withdrawal, action: str, target: str, person: str) -> None:
        detail = {
            "facts": hand.facts,
            "staged": hand.staged,
            "proposals": hand.proposals,
            "reopened": hand.reopened,
        }
        book.tx.audit(action, target, by=person, detail=detail)
        book.tx.count(REVOCATIONS, book.policy_version)

    def _follow_up(
        self, target: str, subject: Subject, hand: Withdrawal, events: Sequence[Event]
    ) -> Revoked:
        telemetry.counted(REVOCATIONS, self._parts.matrix.version)
        report = Revoked(
            target=target,
            subject=subject,
            facts=tuple(hand.facts),
            staged=tuple(hand.staged),
            proposals=tuple(hand.proposals),
            reopened=tuple(hand.reopened),
        )
        return self._reported(report, events)

    def _reported(self, report: Revoked, events: Sequence[Event]) -> Revoked:
        """Delivers, which also looks for what is left."""
        ledger = self._parts.ledger
        delivered = tuple(
            deliver(ledger, projection, subject=report.subject)
            for projection in self._projections.values()
        )
        waiting = {one.projection for one in delivered if one.failed}
        if events:
            due = {name for name, count in ledger.projections().items() if count}
            waiting |= due - self._projections.keys()
        return report.model_copy(
            update={
                "deliveries": delivered,
                "waiting": tuple(sorted(waiting)),
                "residue": tuple(_places(delivered)),
            }
        )

    def _residue(self, projection: Projection, events: Iterable[Event]) -> list[Residue]:
        return [
            _place(projection.name, place)
            for event in events
            for place in projection.residue(event)
        ]


def _places(deliveries: Iterable[DeliveryReport]) -> Iterator[Residue]:
    for report in deliveries:
        for place in report.residue:
            yield _place(report.projection, place)


def _place(projection: str, place: str) -> Residue:
    return Residue(projection=projection, place=place, readable=not is_outside_reads(place))
