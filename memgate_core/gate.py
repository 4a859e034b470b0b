"""MemoryGate: the way of a turn.

Read `observe` top to bottom: it is the whole way, one step a line. The steps have a module each:

    1 intake      memgate_core/intake.py        identify the turn, refuse what is malformed
    2 extract     memgate_core/extraction/      statements with evidence; extractors never decide
    3 screen      memgate_core/screening/       secrets, payment data, foreign words
    4 classify    memgate_core/judgement/       what kind of evidence each statement is
    5 match       memgate_core/fields/          which slot it belongs to, and whose it is
    6 resolve     memgate_core/settling.py      what it does to held items
    7 decide      memgate_core/policy/          the rule matrix, a pure table
    8 record      memgate_core/recorder.py      one transaction: holds, facts, events, receipt
    9 forward     memgate_core/forwarding.py    what may go on to the framework
                  memgate_core/extracted.py     and what it extracted, judged again
   10 project     memgate_core/projection.py    native writes, at least once, idempotent
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

from memgate_core import telemetry
from memgate_core.async_entry import AsyncEntry
from memgate_core.commit_switch import CommitSwitch
from memgate_core.extracted import Extracted, judge_extracted
from memgate_core.incoming import candidates_of, refuse_other_payloads
from memgate_core.intake import checked, identify, subject_of
from memgate_core.judgement.sitting import Sitting, sitting
from memgate_core.ledger.protocol import Ledger, TurnRecord
from memgate_core.maintenance import Maintenance
from memgate_core.model import (
    Candidate,
    Evidence,
    Fact,
    FieldKey,
    FieldSpec,
    HistoryTurn,
    JsonObject,
    NativeLink,
    Receipt,
    Source,
    Subject,
    Turn,
)
from memgate_core.per_catalogue import per_catalogue
from memgate_core.plain_reading import read_plainly
from memgate_core.profile import Profile
from memgate_core.projection import DeliveryReport, Projection, deliver
from memgate_core.recorder import Judgements, Recording, replayed
from memgate_core.review import Review
from memgate_core.revocation import Revocation
from memgate_core.settling import beside_known, offered_item, settle, settleable
from memgate_core.tallies import REPLAYS
from memgate_core.tripwires import trip_on_crossing, trip_on_secret
from memgate_core.weighing import KnownValues, masked

if TYPE_CHECKING:
    from memgate_core.assembly import Parts

_Proposals = Sequence[Mapping[str, Any]] | None


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
        """What people do with held items and open questions."""
        self.revocation = Revocation(parts, self._projections)
        """The way back of everything that was let through."""
        self.rollout = CommitSwitch(parts.ledger, parts.matrix.version)
        """How far decisions reach, and why they were stopped."""
        self.maintenance = Maintenance(parts, self.review)
        """Expiries, unanswered requests, a second look for secrets."""

    @classmethod
    def open(cls, url: str = "sqlite:///memgate.db", **options: Any) -> MemoryGate:
        """Opens the ledger at `url` and assembles the judges.

        `url`: `sqlite:///file.db`, `sqlite://` (in memory) or `postgresql+psycopg://…`.
        `options`: see `memgate_core.assembly.assemble`.

        Raises:
            ConfigurationError: an option or url that cannot be used. LedgerError: no ledger there.
        """
        from memgate_core.assembly import assemble

        parts = assemble(url, **options)
        telemetry.watch(parts.ledger)
        return cls(parts)

    # --- the way of a turn ----------------------------------------------------------------

    def observe(
        self,
        turn: Turn,
        proposals: Sequence[Mapping[str, Any]] | None = None,
        *,
        carried: bool | None = None,
        settles: bool = True,
    ) -> Receipt:
        """Takes one turn the whole way up to step 8 and returns the receipt.

        `proposals` are an extractor's, with keys entity, attribute, value, text, span, expires_at
        (or whole `MemoryProposal`s); without them the local extractor and field reader speak
        alone. `carried`: a framework's own call will carry the committed words, so no projection
        has to write them (None: true when no projection is attached). `settles`: False for words
        that may be a model's paraphrase, which confirm and end nothing. The same message id again
        returns the first receipt.

        Raises:
            InvalidTurnError: malformed; nothing was written.
            ProtocolConflictError: the message id is known with other words, or one of its proposals
                with another payload. InvalidInputError: a malformed proposal.
            LedgerError: nothing was written; the same call may be retried.
        """
        return self._observe(turn, proposals, carried, settles, relaxed=False)

    def observe_all(self, turns: Sequence[Turn], *, carried: bool | None = None) -> list[Receipt]:
        """`observe` for the turns of one call, in order, with one wait for the disk: when it
        returns, all of them are there.

        Raises:
            As `observe`. Turns before the one that failed may be recorded; the call may be retried.
        """
        last = len(turns) - 1
        receipts = [self._observe(t, None, carried, True, n < last) for n, t in enumerate(turns)]
        if receipts and receipts[-1].replayed and not all(r.replayed for r in receipts):
            with self._parts.ledger.write(turns[last].subject) as tx:
                tx.count(REPLAYS, self._parts.matrix.version, 0)  # its commit waits for the others
        return receipts

    def _observe(
        self, turn: Turn, proposals: _Proposals, carried: bool | None, settles: bool, relaxed: bool
    ) -> Receipt:
        started = perf_counter()
        turn = checked(turn)
        recorded = self._parts.ledger.turn(turn.subject, turn.message_id)
        if recorded is not None:
            return self._again(recorded, turn, proposals)
        turn = self._with_history(turn)
        carries = not self._projections if carried is None else carried
        with telemetry.span("memgate.observe"), sitting() as account:
            judgements = self._judge(turn, proposals, account, settles)
            recording = Recording(self._parts, turn, judgements, carries, started)
            receipt = recording.write(relaxed=relaxed)
            telemetry.spent(receipt)
        if not receipt.replayed:
            telemetry.observed(receipt, self._parts.matrix.version)
        return receipt

    def _judge(
        self,
        turn: Turn,
        proposals: Sequence[Mapping[str, Any]] | None,
        account: Sitting,
        settles: bool,
    ) -> Judgements:
        parts = self._parts
        statements = parts.extractor.extract(turn)
        proposed = self._proposed(turn, proposals)
        screening = parts.screener.screen(turn, [*statements, *proposed])
        shown = masked(turn, screening)
        known, seen = self._known(turn.subject)
        seen |= self._known_in_scopes(turn.subject, proposed)
        read = _one_field_a_value(parts.scales.read(turn, screening, known))
        items = beside_known(settleable(shown, parts.ledger), known) if settles else ()
        maybe = _with_statements(statements, [*proposed, *read])
        parts.scales.foresee(shown, maybe, screening, known, items, offered_item(shown, items))
        candidates = [*proposed, *self._unproposed(proposed, read)]
        everything = _with_statements(statements, candidates)
        weighed = parts.scales.weigh(shown, everything, screening, known)
        weighed = read_plainly(weighed, statements, turn.role)
        settled = settle(shown, parts.checker, items)
        return Judgements(tuple(statements), screening, tuple(weighed), seen, settled, account)

    def _again(
        self, recorded: TurnRecord, turn: Turn, proposals: Sequence[Mapping[str, Any]] | None
    ) -> Receipt:
        receipt = replayed(recorded, turn)
        if proposals:
            refuse_other_payloads(self._parts.ledger, turn, proposals)
        self._parts.ledger.count(REPLAYS, self._parts.matrix.version)
        telemetry.counted(REPLAYS, self._parts.matrix.version)
        return receipt

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
        """Records what the framework answered and which native objects carry which facts.

        A native object of another subject, or a stored text with a secret in it, stops all commits.
        """
        ledger = self._parts.ledger
        own = [link for link in links if not trip_on_crossing(ledger, subject, [link])]
        trip_on_secret(ledger, self._parts.screener, own)
        with ledger.write(subject) as tx:
            for link in own:
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
        fields = _by_attribute(self._parts.scales.fields)

        def look_up(attribute: str) -> str | None:
            key = FieldKey(subject=subject, kind=fields[attribute].kind, normalized_key=attribute)
            fact = self._holding(key)
            seen[key] = fact.fact_id if fact else None
            return fact.value if fact else None

        return KnownValues(look_up, fields.keys()), seen

    def _holding(self, key: FieldKey) -> Fact | None:
        """What a registered key holds, a promotion that waits for its native write included."""
        facts = self._parts.ledger.facts(
            key.subject, attribute=key.normalized_key, include_pending_native=True
        )
        return next((fact for fact in reversed(facts) if fact.key == key), None)

    def _known_in_scopes(
        self, subject: Subject, proposed: Sequence[Candidate]
    ) -> dict[FieldKey, str | None]:
        """Which facts the keys of scoped proposals hold before anything is judged."""
        fields = _by_attribute(self._parts.scales.fields)
        keys = [
            FieldKey(subject=subject, scope=c.scope, kind=field.kind, normalized_key=c.attribute)
            for c in proposed
            if not c.scope.everywhere and c.attribute and (field := fields.get(c.attribute))
        ]
        held = {key: self._holding(key) for key in keys}
        return {key: fact.fact_id if fact else None for key, fact in held.items()}

    def _proposed(
        self, turn: Turn, proposals: Sequence[Mapping[str, Any]] | None
    ) -> list[Candidate]:
        """The caller's proposals, or those of the gate's own proposer, laid on the words."""
        proposer = self._parts.proposer
        if proposals is None and proposer is not None and turn.source is Source.USER:
            screening = self._parts.screener.screen(turn)
            proposals = proposer.propose(masked(turn, screening))
        return candidates_of(turn, proposals, self._parts.scales.fields) if proposals else []

    def _unproposed(
        self, proposed: Sequence[Candidate], read: Sequence[Candidate]
    ) -> list[Candidate]:
        """What the field reader found and no extractor proposed."""
        if not proposed or not read:
            return list(read)
        matches = self._parts.scales.matcher.match(proposed, self._parts.scales.fields)
        taken = {match.field.attribute for match in matches if match.field}
        return [candidate for candidate in read if candidate.attribute not in taken]


@per_catalogue
def _by_attribute(fields: tuple[FieldSpec, ...]) -> dict[str, FieldSpec]:
    return {field.attribute: field for field in fields}


def _unclaimed(statements: Sequence[Candidate], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Statements that no candidate with an attribute rests on: kept as open ones, never dropped."""
    claimed = [candidate.evidence.span for candidate in candidates]
    return [s for s in statements if not any(s.evidence.span.overlaps(c) for c in claimed)]


def _with_statements(
    statements: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate]:
    return _in_order([*candidates, *_unclaimed(statements, candidates)])


def _one_field_a_value(read: Sequence[Candidate]) -> list[Candidate]:
    """The surest reading of each value: "Seattle" is not both the city and the suburb."""
    best: dict[tuple[int, int, str | None], Candidate] = {}
    for candidate in read:
        at = (candidate.evidence.start, candidate.evidence.end, candidate.value)
        if at not in best or candidate.confidence > best[at].confidence:
            best[at] = candidate
    return list(best.values())


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: (c.evidence.start, c.evidence.end, c.ordinal))


__all__ = ["Evidence", "Extracted", "MemoryGate"]
