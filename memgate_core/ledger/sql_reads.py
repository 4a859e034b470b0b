"""Reading the ledger on SQL databases, the same for every backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from memgate_core.ledger import (
    approvals,
    backlog,
    deliveries,
    events,
    facts,
    measures,
    native_links,
    proposals,
    staging,
    subjects,
    turns,
)
from memgate_core.ledger.database import Database
from memgate_core.ledger.descent import descent_of
from memgate_core.ledger.protocol import Delivery, Ledger, ProposalRecord, TurnRecord
from memgate_core.ledger.records import (
    Approval,
    ApprovalStatus,
    AuditEntry,
    Counter,
    Descent,
    Rollout,
)
from memgate_core.ledger.scope import Owner, owner_of
from memgate_core.ledger.times import utc_now
from memgate_core.model import (
    Event,
    Evidence,
    Fact,
    FieldKey,
    HistoryTurn,
    NativeLink,
    Role,
    StagedItem,
    StagedStatus,
    Subject,
)

_PAGE = 500


class SqlReads(Ledger):
    """The reading half of `SqlLedger`; see `Ledger` for what each read answers."""

    def __init__(
        self, database: Database, url: str, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.url = url
        self._database = database
        self._clock = clock

    # --- turns and proposals -------------------------------------------------------------------

    def turn(self, subject: Subject, message_id: str) -> TurnRecord | None:
        with self._database.reading() as runner:
            return turns.get(runner, owner_of(subject), message_id)

    def turns(
        self, subject: Subject | None = None, *, after: int = 0, limit: int | None = None
    ) -> Iterator[TurnRecord]:
        found = self._all_turns(after) if subject is None else self._turns_of(subject, after)
        return islice(found, limit)

    def _all_turns(self, after: int) -> Iterator[TurnRecord]:
        while True:
            with self._database.reading() as runner:
                page = turns.page(runner, after, _PAGE)
            if not page:
                return
            yield from page
            after = page[-1].position

    def _turns_of(self, subject: Subject, after: int) -> Iterator[TurnRecord]:
        with self._database.reading() as runner:
            positions = turns.positions(runner, owner_of(subject), after)
        for start in range(0, len(positions), _PAGE):
            with self._database.reading() as runner:
                page = turns.at(runner, positions[start : start + _PAGE])
            yield from page

    def recent_turns(
        self, subject: Subject, *, before: datetime, session: str | None = None, limit: int = 2
    ) -> tuple[HistoryTurn, ...]:
        with self._database.reading() as runner:
            return turns.recent(runner, owner_of(subject), before, session, limit)

    def previous_turn(
        self,
        subject: Subject,
        *,
        before: datetime,
        session: str | None = None,
        role: Role = Role.USER,
    ) -> TurnRecord | None:
        with self._database.reading() as runner:
            return turns.previous(runner, owner_of(subject), before, session, role)

    def evidence_words(self, subject: Subject, evidence: Evidence) -> str | None:
        with self._database.reading() as runner:
            return turns.words(runner, owner_of(subject), evidence)

    def proposal(self, proposal_id: str) -> ProposalRecord | None:
        with self._database.reading() as runner:
            return proposals.get(runner, proposal_id)

    def proposals(
        self, subject: Subject, *, message_id: str | None = None, limit: int | None = None
    ) -> Sequence[ProposalRecord]:
        with self._database.reading() as runner:
            return proposals.of(runner, owner_of(subject), message_id, limit)

    # --- facts ---------------------------------------------------------------------------------

    def current(self, subject: Subject, key: FieldKey) -> Fact | None:
        with self._database.reading() as runner:
            return facts.current(runner, owner_of(subject), key)

    def facts(
        self,
        subject: Subject,
        *,
        attribute: str | None = None,
        as_of: datetime | None = None,
        include_closed: bool = False,
        include_pending_native: bool = False,
        limit: int | None = None,
    ) -> Sequence[Fact]:
        with self._database.reading() as runner:
            return facts.listing(
                runner,
                owner_of(subject),
                attribute=attribute,
                as_of=as_of,
                include_closed=include_closed,
                include_pending_native=include_pending_native,
                limit=limit,
            )

    def fact(self, fact_id: str) -> Fact | None:
        with self._database.reading() as runner:
            return facts.get(runner, fact_id)

    def expired_facts(self, before: datetime, *, limit: int = 1000) -> Sequence[Fact]:
        with self._database.reading() as runner:
            return facts.expired(runner, before, limit)

    def descent(self, subject: Subject, *parents: str, message_id: str | None = None) -> Descent:
        with self._database.reading() as runner:
            return descent_of(runner, owner_of(subject), parents, message_id)

    # --- held items ----------------------------------------------------------------------------

    def pending_on(self, subject: Subject, key: FieldKey) -> Sequence[StagedItem]:
        with self._database.reading() as runner:
            return staging.on_key(runner, owner_of(subject), key)

    def touched(
        self, subject: Subject, terms: frozenset[str], *, session: str | None, limit: int
    ) -> Sequence[StagedItem]:
        hits = self._database.backend.term_hits
        with self._database.reading() as runner:
            return staging.touched(runner, owner_of(subject), hits, terms, session, limit)

    def staged(
        self,
        subject: Subject,
        *,
        status: StagedStatus | None = StagedStatus.PENDING,
        limit: int | None = None,
    ) -> Sequence[StagedItem]:
        with self._database.reading() as runner:
            return staging.listing(runner, owner_of(subject), status, limit)

    def staged_item(self, staged_id: str) -> StagedItem | None:
        with self._database.reading() as runner:
            return staging.get(runner, staged_id)

    def pending_count(self, subject: Subject) -> int:
        with self._database.reading() as runner:
            return subjects.pending(runner, owner_of(subject))

    def due_for_review(self, before: datetime, *, limit: int = 1000) -> Sequence[StagedItem]:
        with self._database.reading() as runner:
            return staging.due_for_review(runner, before, limit)

    def oldest_pending(self) -> datetime | None:
        with self._database.reading() as runner:
            return staging.oldest_pending(runner)

    # --- events and native objects -------------------------------------------------------------

    def events(
        self, *, after: int = 0, subject: Subject | None = None, limit: int = 1000
    ) -> Sequence[Event]:
        with self._database.reading() as runner:
            if subject is not None or self._database.in_write:
                owner = _owner(subject)
                return events.after(runner, owner, after, limit)
            with self._database.backend.fence(runner):
                return events.after(runner, None, after, limit)

    def projections(self) -> Mapping[str, int]:
        with self._database.reading() as runner:
            return backlog.backlog(runner)

    def parked(self, projection: str | None = None) -> Sequence[Delivery]:
        with self._database.reading() as runner:
            return deliveries.parked(runner, projection)

    def links(
        self,
        projection: str,
        *,
        fact_id: str | None = None,
        staged_id: str | None = None,
        native_id: str | None = None,
        message_id: str | None = None,
        subject: Subject | None = None,
    ) -> Sequence[NativeLink]:
        with self._database.reading() as runner:
            return native_links.find(
                runner,
                projection,
                item_ids=tuple(item for item in (fact_id, staged_id) if item is not None),
                native_id=native_id,
                message_id=message_id,
                owner=_owner(subject),
            )

    # --- admission and operation ---------------------------------------------------------------

    def approval(self, approval_id: str) -> Approval | None:
        with self._database.reading() as runner:
            return approvals.get(runner, approval_id)

    def approvals(
        self,
        *,
        subject: Subject | None = None,
        status: ApprovalStatus | None = None,
        proposal_id: str | None = None,
        expired_before: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[Approval]:
        with self._database.reading() as runner:
            return approvals.listing(
                runner,
                owner=_owner(subject),
                status=status,
                proposal_id=proposal_id,
                expired_before=expired_before,
                limit=limit,
            )

    def counters(self) -> Sequence[Counter]:
        with self._database.reading() as runner:
            return measures.totals(runner)

    def rollout(self) -> Rollout | None:
        with self._database.reading() as runner:
            return measures.rollout(runner)

    def audit_log(
        self,
        *,
        subject: Subject | None = None,
        target: str | None = None,
        after: int = 0,
        limit: int | None = None,
    ) -> Sequence[AuditEntry]:
        owner = _owner(subject)
        with self._database.reading() as runner:
            return measures.audit_log(runner, owner, target, after, limit)

    def subjects(self, tenant: str | None = None) -> Sequence[Subject]:
        with self._database.reading() as runner:
            return subjects.known(runner, tenant)


def _owner(subject: Subject | None) -> Owner | None:
    return None if subject is None else owner_of(subject)
