"""MemoryGate: the way of a turn.

Read `observe` top to bottom: it is the whole way, one step a line. The steps have a module each:

    1 intake      memgate_core/intake.py        identify the turn, refuse what is malformed
    2 extract     memgate_core/extraction/      statements with evidence; extractors never decide
    3 screen      memgate_core/screening/       secrets, payment data, foreign words
    4 classify    memgate_core/judgement/       what kind of evidence each statement is
    5 match       memgate_core/fields/          which slot it belongs to, and whose it is
    6 resolve     memgate_core/settling.py      what it does to held items
    7 decide      memgate_core/policy/          the rule matrix, a pure table
    8 record      memgate_core/recording.py     one transaction: holds, facts, events, receipt
    9 forward     memgate_core/forwarding.py    what may go on to the framework
                  memgate_core/extracted.py     and what it extracted, judged again
   10 project     memgate_core/projection.py    native writes, at least once, idempotent
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

from memgate_core.async_entry import AsyncEntry
from memgate_core.book import Book
from memgate_core.errors import ProtocolConflictError
from memgate_core.extracted import Extracted, judge_extracted
from memgate_core.extraction.align import align
from memgate_core.forwarding import forwardable, merged, widened
from memgate_core.intake import checked, identify, subject_of
from memgate_core.ledger.protocol import Ledger, TurnRecord
from memgate_core.model import (
    Candidate,
    Decision,
    DecisionType,
    Evidence,
    FieldKey,
    FieldSpec,
    HistoryTurn,
    JsonObject,
    Judged,
    NativeLink,
    Receipt,
    ResolutionType,
    Source,
    Span,
    Subject,
    Turn,
    sha256_of,
)
from memgate_core.profile import Profile
from memgate_core.projection import DeliveryReport, Projection, deliver
from memgate_core.promotions import Promotions
from memgate_core.recording import Decisions
from memgate_core.review import Review
from memgate_core.screening.screener import Screening, mask
from memgate_core.settling import Settled, settle
from memgate_core.weighing import KnownValues, Weighed

if TYPE_CHECKING:
    from memgate_core.assembly import Parts


@dataclass(frozen=True)
class _Judgements:
    """Everything steps 2 to 6 found out about a turn, before the transaction."""

    statements: tuple[Candidate, ...]
    screening: Screening
    weighed: tuple[Weighed, ...]
    seen: Mapping[FieldKey, str | None]
    settled: Settled


class MemoryGate(AsyncEntry):
    """Decides for every statement, at write time, whether memory may hold it as true.

    One gate serves many subjects and threads. Open it once a process:

        gate = MemoryGate.open("sqlite:///memgate.db")
        receipt = gate.observe(gate.turn("I might move to Seattle", user_id="ana", ...))
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._projections: dict[str, Projection] = {}
        self.review = Review(parts)

    @classmethod
    def open(cls, url: str = "sqlite:///memgate.db", **options: Any) -> MemoryGate:
        """Opens the ledger at `url` and assembles the judges.

        `url`: `sqlite:///file.db`, `sqlite://` (in memory) or `postgresql+psycopg://…`.
        `options`: see `memgate_core.assembly.assemble`.

        Raises:
            ConfigurationError: an option or url that cannot be used. LedgerError: no ledger there.
        """
        from memgate_core.assembly import assemble

        return cls(assemble(url, **options))

    # --- the way of a turn ----------------------------------------------------------------

    def observe(
        self,
        turn: Turn,
        proposals: Sequence[Mapping[str, Any]] | None = None,
        *,
        carried: bool | None = None,
    ) -> Receipt:
        """Takes one turn the whole way up to step 8 and returns the receipt.

        `proposals` are an extractor's, with keys entity, attribute, value, text, span; without
        them the local extractor and field reader speak alone. `carried`: a framework's own call
        will carry the committed words, so no projection has to write them (None: true when no
        projection is attached). The same message id again returns the first receipt.

        Raises:
            InvalidTurnError: malformed; nothing was written.
            ProtocolConflictError: the message id is known with other words.
            LedgerError: nothing was written; the same call may be retried.
        """
        started = perf_counter()
        turn = checked(turn)
        recorded = self._parts.ledger.turn(turn.subject, turn.message_id)
        if recorded is not None:
            return _replay(recorded, turn)
        turn = self._with_history(turn)
        judgements = self._judge(turn, proposals)
        carries = not self._projections if carried is None else carried
        return self._record(turn, judgements, carries, started)

    def _judge(self, turn: Turn, proposals: Sequence[Mapping[str, Any]] | None) -> _Judgements:
        parts = self._parts
        statements = parts.extractor.extract(turn)
        candidates = align(turn, proposals) if proposals else []
        screening = parts.screener.screen(turn, [*statements, *candidates])
        known, seen = self._known(turn.subject)
        candidates += self._unproposed(candidates, parts.scales.read(turn, screening, known))
        everything = _in_order([*candidates, *_unclaimed(statements, candidates)])
        weighed = parts.scales.weigh(turn, everything, screening, known)
        settled = settle(turn, parts.ledger, parts.checker)
        return _Judgements(tuple(statements), screening, tuple(weighed), seen, settled)

    def _record(self, turn: Turn, j: _Judgements, carried: bool, started: float) -> Receipt:
        parts = self._parts
        with parts.ledger.write(turn.subject) as tx:
            if (winner := tx.turn(turn.message_id)) is not None:
                return _replay(winner, turn)
            book = Book(tx, turn, datetime.now(UTC), parts.matrix.version)
            promotions = Promotions(book, parts.realiser, f"user:{turn.message_id}")
            decisions = Decisions(
                book,
                promotions,
                parts.ledger,
                parts.matrix,
                parts.realiser,
                carried=carried,
                seen=j.seen,
                hold_threshold=parts.hold_threshold,
            )
            book.lock(_keys(decisions, j))
            for settlement in j.settled.settlements:
                promotions.settle(settlement)
            for weighed in j.weighed:
                decisions.decide(weighed)
            receipt = self._receipt(turn, j, decisions.judged, promotions, started)
            tx.save_turn(turn, mask(turn.text, j.screening.refused), receipt)
        return receipt

    def _receipt(
        self,
        turn: Turn,
        j: _Judgements,
        judged: Sequence[Judged],
        promotions: Promotions,
        started: float,
    ) -> Receipt:
        withheld = self._withheld(turn, j, judged, promotions)
        return Receipt(
            subject=turn.subject,
            message_id=turn.message_id,
            minted=turn.minted,
            judged=tuple(judged),
            resolved=tuple(promotions.resolved),
            forward=forwardable(turn.text, withheld),
            withheld=withheld,
            faults=_faults(j),
            model_calls=sum(w.judgement.model_calls for w in j.weighed) + j.settled.model_calls,
            gate_ms=round((perf_counter() - started) * 1000, 3),
        )

    # --- after the framework's own call (step 9) --------------------------------------------

    def judge_extracted(
        self, subject: Subject, message_ids: Sequence[str], texts: Sequence[str]
    ) -> list[Extracted]:
        """What a framework's own LLM extracted from forwarded words, judged again.

        One verdict a text, in order; only those with `.allowed` may be stored.
        """
        return judge_extracted(self._parts, subject, message_ids, texts)

    def asserted(self, subject: Subject, text: str) -> list[tuple[str, str]]:
        """(attribute, value) of every registered field that a text asserts of the subject now.

        For memories that a framework stored before the gate: nothing is recorded.
        """
        parts = self._parts
        turn = identify(text, subject=subject, occurred_at=datetime.now(UTC))
        screening = parts.screener.screen(turn, [])
        known, _seen = self._known(subject)
        read = parts.scales.read(turn, screening, known)
        return [
            (w.match.field.attribute, w.candidate.value)
            for w in parts.scales.weigh(turn, read, screening, known)
            if w.match.field is not None and w.candidate.value is not None and w.asserted
        ]

    def answered(
        self,
        subject: Subject,
        message_id: str,
        answer: JsonObject,
        links: Sequence[NativeLink] = (),
    ) -> None:
        """Records what the framework answered and which native objects carry which facts."""
        with self._parts.ledger.write(subject) as tx:
            for link in links:
                tx.link(link)
            tx.save_answer(message_id, answer)

    # --- projections (step 10) -----------------------------------------------------------------

    def attach(self, projection: Projection) -> None:
        """From now on events become due for this projection, and `deliver` carries them."""
        self._parts.ledger.register(projection.name)
        self._projections[projection.name] = projection

    def deliver(self, *, subject: Subject | None = None) -> list[DeliveryReport]:
        """Carries what is due into every attached projection. Never raises for a store's fault."""
        return [
            deliver(self._parts.ledger, projection, subject=subject)
            for projection in self._projections.values()
        ]

    # --- conveniences -----------------------------------------------------------------------

    def turn(
        self,
        text: str,
        *,
        user_id: str,
        occurred_at: datetime,
        tenant: str = "default",
        actor: str | None = None,
        **rest: Any,
    ) -> Turn:
        """Builds a checked turn; `rest` as in `memgate_core.intake.identify`.

        Raises:
            InvalidTurnError: names the part that is malformed.
        """
        subject = subject_of(user_id, tenant=tenant, actor=actor)
        return identify(text, subject=subject, occurred_at=occurred_at, **rest)

    def profile(self, subject: Subject | str, *, tenant: str = "default") -> Profile:
        """Reads of one subject (a `Subject`, or a user id of `tenant`)."""
        whose = subject if isinstance(subject, Subject) else subject_of(subject, tenant=tenant)
        return Profile(self._parts.ledger, whose)

    @property
    def ledger(self) -> Ledger:
        """The ledger behind the gate."""
        return self._parts.ledger

    @property
    def fields(self) -> Sequence[FieldSpec]:
        """The registered fields."""
        return self._parts.scales.fields

    def close(self) -> None:
        """Closes the ledger and stops the executor of the async entry."""
        if self._executor is not None:
            self._executor.shutdown(wait=True)
        self._parts.ledger.close()

    def __enter__(self) -> MemoryGate:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- parts of steps ------------------------------------------------------------------------

    def _with_history(self, turn: Turn) -> Turn:
        if turn.history:
            return turn
        history: tuple[HistoryTurn, ...] = self._parts.ledger.recent_turns(
            turn.subject, before=turn.occurred_at, session=turn.session, limit=2
        )
        return turn.model_copy(update={"history": history}) if history else turn

    def _known(self, subject: Subject) -> tuple[KnownValues, dict[FieldKey, str | None]]:
        seen: dict[FieldKey, str | None] = {}
        fields = {field.attribute: field for field in self._parts.scales.fields}

        def look_up(attribute: str) -> str | None:
            key = FieldKey(subject=subject, kind=fields[attribute].kind, normalized_key=attribute)
            facts = self._parts.ledger.facts(
                subject, attribute=attribute, include_pending_native=True
            )
            fact = facts[-1] if facts else None
            seen[key] = fact.fact_id if fact else None
            return fact.value if fact else None

        return KnownValues(look_up, tuple(fields)), seen

    def _unproposed(
        self, proposed: Sequence[Candidate], read: Sequence[Candidate]
    ) -> list[Candidate]:
        """What the field reader found and no extractor proposed."""
        if not proposed or not read:
            return list(read)
        matches = self._parts.scales.matcher.match(proposed, self._parts.scales.fields)
        taken = {match.field.attribute for match in matches if match.field}
        return [candidate for candidate in read if candidate.attribute not in taken]

    def _withheld(
        self,
        turn: Turn,
        j: _Judgements,
        judged: Sequence[Judged],
        promotions: Promotions,
    ) -> tuple[Span, ...]:
        """Statements that must not reach the framework: held, refused, absorbed, echoed."""
        statements = [candidate.evidence.span for candidate in j.statements]
        spans = [x.candidate.evidence.span for x in judged if _kept_back(x.decision)]
        spans += j.screening.refused
        spans += [
            done.span
            for done in promotions.resolved
            if done.span is not None and done.resolution is ResolutionType.CONFIRM
        ]
        if turn.source is Source.ASSISTANT:
            spans += self._parts.echoes(turn, statements)
        if turn.source in (Source.TOOL, Source.WEB):
            spans = [Span(start=0, end=len(turn.text))]
        return widened(merged(spans), statements)


def _replay(recorded: TurnRecord, turn: Turn) -> Receipt:
    if recorded.text_sha256 != sha256_of(turn.text):
        raise ProtocolConflictError(turn.message_id, recorded.text_sha256, sha256_of(turn.text))
    return recorded.receipt.model_copy(update={"replayed": True})


def _kept_back(decision: Decision) -> bool:
    refused = decision.decision is DecisionType.REJECT and decision.rule != "other_person"
    return decision.decision.holds or refused or decision.rule == "absorbed"


def _unclaimed(statements: Sequence[Candidate], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Statements that no candidate with an attribute rests on: kept as open ones, never dropped."""
    claimed = [candidate.evidence.span for candidate in candidates]
    return [s for s in statements if not any(s.evidence.span.overlaps(c) for c in claimed)]


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.evidence.start, c.evidence.end, c.ordinal))


def _keys(decisions: Decisions, j: _Judgements) -> set[FieldKey]:
    book = decisions.book
    keys = {decisions.key(weighed) for weighed in j.weighed}
    for settlement in j.settled.settlements:
        item = settlement.item
        keys.add(item.key if item.attribute else book.event_key(item.key, item.words))
    return keys


def _faults(j: _Judgements) -> tuple[str, ...]:
    found = [w.judgement.fault for w in j.weighed if w.judgement.fault]
    return tuple(dict.fromkeys([*found, *j.settled.faults]))


__all__ = ["Evidence", "Extracted", "MemoryGate"]
