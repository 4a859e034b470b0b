"""What a ledger is: the transactional single source of truth behind the gate.

Two halves. `Ledger` is opened once a process, safe to share between threads, and answers reads.
`LedgerTransaction` is one short write transaction on one subject: everything in it lands together
or not at all, and no lock of it is ever held across a model or framework call. Transactions of one
subject follow each other on every backend; those of different subjects may run side by side.
Reads made by the thread that holds a transaction see what it wrote.

When a promotion becomes readable. A fact with `native=False` and its staged item (PROMOTING) wait
for the PROMOTED (or COMMITTED) event that carries them. The moment every projection that was
registered when the event was appended has acknowledged it, the fact's `native` turns true and the
item PROMOTED; where none was registered, that is when the transaction commits. Until then no read
shows the fact, and what it replaces is still shown as holding.

Every backend passes the same suite: tests/conformance/test_ledger.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from memgate_core.ledger.operations import AdmissionWrites, Operations
from memgate_core.ledger.records import Delivery, KeyState, ProposalRecord, TurnRecord
from memgate_core.model import (
    Event,
    EventType,
    Evidence,
    Fact,
    FieldKey,
    HistoryTurn,
    JsonObject,
    NativeLink,
    Receipt,
    Role,
    StagedItem,
    StagedStatus,
    Subject,
    Turn,
)

__all__ = [
    "Delivery",
    "KeyState",
    "Ledger",
    "LedgerTransaction",
    "ProposalRecord",
    "TurnRecord",
]


class LedgerTransaction(AdmissionWrites, Protocol):
    """One write transaction. Leaving the block commits; an exception rolls all of it back."""

    def turn(self, message_id: str) -> TurnRecord | None:
        """The turn recorded under this id, read inside the transaction (the race on a retry)."""
        ...

    def save_turn(self, turn: Turn, masked_text: str, receipt: Receipt) -> None:
        """Records the turn and the receipt that a retry gets. The id must be free.

        Raises:
            NotAllowedError: the message id is taken.
        """
        ...

    def save_proposal(self, proposal: ProposalRecord) -> ProposalRecord:
        """Insert-or-get on (tenant, proposal_id). Returns what is recorded.

        Raises:
            ProtocolConflictError: the id is there with another payload hash (also counted).
        """
        ...

    def lock(self, keys: Iterable[FieldKey]) -> dict[FieldKey, KeyState]:
        """Creates missing key rows and locks all of them, in one fixed order (no deadlocks)."""
        ...

    def commit_fact(self, fact: Fact, *, expected_version: int) -> Fact:
        """Writes a new version of a locked key's value and closes nothing by itself: the fact it
        takes the place of has to be closed in the same transaction, before or after.

        Raises:
            NotAllowedError: the key moved on since `expected_version` (CAS): decide again.
        """
        ...

    def close_fact(self, fact: Fact) -> None:
        """Replaces the stored status, valid_to and closed_at of an existing fact by these.

        Raises:
            NotFoundError: no such fact. InvalidInputError: valid_to lies before valid_from.
        """
        ...

    def stage(self, item: StagedItem) -> None:
        """Inserts a held item with its search terms.

        Raises:
            NotAllowedError: it is held already.
        """
        ...

    def update_staged(self, item: StagedItem, *, expected: StagedStatus) -> None:
        """Replaces a held item, provided its stored status is still `expected`.

        Raises:
            NotAllowedError: somebody else moved it first; the loser reads the winner's result.
        """
        ...

    def staged(self, staged_id: str) -> StagedItem | None:
        """The item, read inside the transaction."""
        ...

    def pending_on(self, key: FieldKey) -> Sequence[StagedItem]:
        """Pending items on one key, oldest first, read inside the transaction."""
        ...

    def fact(self, fact_id: str) -> Fact | None:
        """The fact's newest version, read inside the transaction."""
        ...

    def append(
        self,
        event_type: EventType,
        *,
        occurred_at: datetime,
        staged: StagedItem | None = None,
        fact: Fact | None = None,
        session: str | None = None,
        policy_version: str = "",
    ) -> Event:
        """Appends an event and makes it due for every registered projection (outbox)."""
        ...

    def link(self, link: NativeLink) -> None:
        """Records which native object carries which facts; replaces the same native id's link."""
        ...

    def unlink(self, projection: str, native_id: str) -> None:
        """Forgets a native object."""
        ...

    def save_answer(self, message_id: str, answer: JsonObject) -> None:
        """Records what the framework answered, for replays of the same turn."""
        ...

    def audit(self, action: str, target: str, *, by: str, detail: JsonObject | None = None) -> None:
        """Appends to the audit trail: ids, hashes and times, never a user's words."""
        ...

    def erase(self) -> JsonObject:
        """Removes every word of this subject from every table; keeps ids, hashes, times.

        Facts end REVOKED, open items REVOKED, open requests for approval VOID. Native links keep
        their ids, which the ERASED event's delivery needs. Returns counts by table.
        """
        ...


class Ledger(Operations, Protocol):
    """Reads and transactions. All reads are scoped by subject, and fail closed without one."""

    url: str

    def write(
        self, subject: Subject, *, relaxed: bool = False
    ) -> AbstractContextManager[LedgerTransaction]:
        """Opens a write transaction on one subject.

        `relaxed`: its commit does not wait for the disk, so that a power cut (never a crash of the
        process) may undo it until the next commit that does wait. For callers whose next act is
        such a commit.

        Raises:
            LedgerBusyError: locked for longer than the timeout. LedgerError: anything else.
        """
        ...

    def turn(self, subject: Subject, message_id: str) -> TurnRecord | None:
        """A recorded turn."""
        ...

    def recent_turns(
        self, subject: Subject, *, before: datetime, session: str | None = None, limit: int = 2
    ) -> tuple[HistoryTurn, ...]:
        """The last turns of this subject and session up to a time, oldest first; without a
        session, those that have none.

        Turns recorded with exactly that time count: a whole session may carry one date.
        """
        ...

    def previous_turn(
        self,
        subject: Subject,
        *,
        before: datetime,
        session: str | None = None,
        role: Role = Role.USER,
    ) -> TurnRecord | None:
        """The last turn of a role in this session up to a time; without a session, of those that
        have none."""
        ...

    def current(self, subject: Subject, key: FieldKey) -> Fact | None:
        """The current, readable fact on a key: never one that waits for its native write, but
        what that one will replace.

        Raises:
            NotAllowedError: the key is another subject's.
        """
        ...

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
        """Facts of a subject by valid_from; current ones unless told, or those valid `as_of`.

        `include_closed` adds superseded, corrected and revoked ones; `as_of` never shows the last
        two kinds. Of more than `limit` the newest come.
        """
        ...

    def fact(self, fact_id: str) -> Fact | None:
        """A fact's newest version by id."""
        ...

    def pending_on(self, subject: Subject, key: FieldKey) -> Sequence[StagedItem]:
        """Pending items on one key, oldest first."""
        ...

    def touched(
        self, subject: Subject, terms: frozenset[str], *, session: str | None, limit: int
    ) -> Sequence[StagedItem]:
        """Pending items that a turn could settle: those sharing most and rarest terms first, then
        the newest (of the same session first), which always get a quarter of the places.

        Answered from an index: the cost does not grow with the number of held items.
        """
        ...

    def staged(
        self,
        subject: Subject,
        *,
        status: StagedStatus | None = StagedStatus.PENDING,
        limit: int | None = None,
    ) -> Sequence[StagedItem]:
        """Held items of a subject by created_at; None for all statuses."""
        ...

    def staged_item(self, staged_id: str) -> StagedItem | None:
        """A held item by id."""
        ...

    def pending_count(self, subject: Subject) -> int:
        """How many items are pending."""
        ...

    def proposal(self, proposal_id: str) -> ProposalRecord | None:
        """A proposal by id."""
        ...

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
        """Native objects by what they carry."""
        ...

    def evidence_words(self, subject: Subject, evidence: Evidence) -> str | None:
        """Re-reads the message and returns the words, or None where hash or offsets disagree."""
        ...

    def events(
        self, *, after: int = 0, subject: Subject | None = None, limit: int = 1000
    ) -> Sequence[Event]:
        """Events in order. Whoever goes on from the last `seq` he saw misses none."""
        ...

    def register(self, projection: str) -> None:
        """From now on, events become due for this projection. Idempotent."""
        ...

    def due(
        self, projection: str, *, subject: Subject | None = None, limit: int = 100
    ) -> Sequence[Delivery]:
        """Events to deliver now, in order; none of a subject behind a failed one of that subject.

        The events are leased to the calling thread for a minute, or as long as `keeping` lasts,
        their subjects with them, so that several workers may ask at once (SKIP LOCKED on
        PostgreSQL) and still deliver each subject's events one after another. A parked event holds
        back only later ones on its own key, and never one that takes something away.
        """
        ...

    def keeping(self, batch: Sequence[Delivery]) -> AbstractContextManager[Iterable[Delivery]]:
        """Leased events of the calling thread, kept for as long as the block lasts, however long a
        native write takes; what is left of them at its end is free for others at once.

        Iterating ends early when the lease was lost (the process stood still for a whole lease):
        ask `due` again.
        """
        ...

    def acknowledge(self, delivery: Delivery, links: Sequence[NativeLink] = ()) -> None:
        """Marks an event delivered and records native ids, in one transaction.

        For PROMOTED this is also what turns PROMOTING into PROMOTED and makes the fact readable,
        once every registered projection acknowledged it (see the top of this module).

        Raises:
            NotFoundError: the event was never due for this projection.
        """
        ...

    def fail(self, delivery: Delivery, error: str, *, park_after: int = 8) -> None:
        """Records a failed try with backoff; parks the event after too many."""
        ...

    def projections(self) -> Mapping[str, int]:
        """Registered projections, each with the number of events that it still has to take."""
        ...

    def parked(self, projection: str | None = None) -> Sequence[Delivery]:
        """Events that were given up on and wait for a person."""
        ...

    def retry_parked(self, projection: str) -> int:
        """Makes parked events due again. Returns how many."""
        ...

    def subjects(self, tenant: str | None = None) -> Sequence[Subject]:
        """Every subject the ledger knows."""
        ...

    def close(self) -> None:
        """Closes connections. The ledger is not usable afterwards."""
        ...
