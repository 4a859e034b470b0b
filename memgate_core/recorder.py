"""Steps 7 and 8 of a turn: one transaction that decides, writes what follows, and the receipt.

The rollout is read inside it: once commits are stopped, no later turn commits anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from memgate_core.book import Book
from memgate_core.commit_switch import reach_of
from memgate_core.errors import ProtocolConflictError
from memgate_core.forwarding import forwardable, merged, widened
from memgate_core.judgement.sitting import Sitting
from memgate_core.ledger.protocol import TurnRecord
from memgate_core.model import (
    Candidate,
    Decision,
    DecisionType,
    FieldKey,
    FieldSpec,
    Judged,
    Receipt,
    ResolutionType,
    Source,
    Span,
    StagedItem,
    Turn,
    sha256_of,
)
from memgate_core.policy.rollout import Reach
from memgate_core.promotions import Promotions
from memgate_core.recording import Decisions
from memgate_core.retraction import retraction_in, take_back
from memgate_core.screening.screener import Screening, mask
from memgate_core.settling import Settled
from memgate_core.tallies import tally_turn
from memgate_core.weighing import Weighed

if TYPE_CHECKING:
    from memgate_core.assembly import Parts


@dataclass(frozen=True)
class Judgements:
    """Everything steps 2 to 6 found out about a turn, before the transaction."""

    statements: tuple[Candidate, ...]
    screening: Screening
    weighed: tuple[Weighed, ...]
    seen: Mapping[FieldKey, str | None]
    settled: Settled
    account: Sitting
    """What the judges' models cost."""


@dataclass(frozen=True)
class Recording:
    """One turn with what was found out about it, on its way into the ledger."""

    parts: Parts
    turn: Turn
    judgements: Judgements
    carried: bool
    started: float
    """`perf_counter` of when the turn came in."""

    def write(self, *, relaxed: bool = False) -> Receipt:
        """Decides and records, all or nothing; a turn that another worker recorded is replayed.

        `relaxed`: as in `Ledger.write`.

        Raises:
            ProtocolConflictError: the message id is known with other words.
            LedgerError: nothing was written.
        """
        with self.parts.ledger.write(self.turn.subject, relaxed=relaxed) as tx:
            if (winner := tx.turn(self.turn.message_id)) is not None:
                return replayed(winner, self.turn)
            reach = reach_of(self.parts.ledger.rollout())
            book = Book(
                tx, self.turn, datetime.now(UTC), self.parts.matrix.version, acts=reach.commits
            )
            receipt = self._decide(book, reach)
            tally_turn(book, receipt)
            tx.save_turn(self.turn, mask(self.turn.text, self._unspoken()), receipt)
        return receipt

    def _unspoken(self) -> list[Span]:
        """Words that the ledger never stores."""
        refused = [w.span for w in self.judgements.weighed if w.unspoken]
        screened = self.judgements.screening.refused
        beyond = [span for span in refused if not any(span.overlaps(s) for s in screened)]
        return [*screened, *beyond]

    def _decide(self, book: Book, reach: Reach) -> Receipt:
        decisions = self._decisions(book, reach)
        retraction = retraction_in(self.turn, self.judgements.weighed)
        marked = retraction.marked if retraction else {}
        weighed = [marked.get(n, w) for n, w in enumerate(self.judgements.weighed)]
        book.lock(self._keys(decisions, weighed))
        reaches_back = retraction is not None and retraction.reaches_back and reach.commits
        withdrawn = take_back(book, self.parts.ledger) if reaches_back else None
        decisions.withdrawn = frozenset(withdrawn.facts) if withdrawn else frozenset()
        for settlement in self.judgements.settled.settlements:
            if reach.acts(settlement.item.key, self._field_of(settlement.item)):
                decisions.promotions.settle(settlement)
            elif not reach.commits:
                decisions.promotions.note_only(settlement)
        for one in weighed:
            decisions.decide(one)
        return self._receipt(decisions, reach, withdrawn.ids if withdrawn else ())

    def _decisions(self, book: Book, reach: Reach) -> Decisions:
        parts = self.parts
        return Decisions(
            book,
            Promotions(book, parts.realiser, f"user:{self.turn.message_id}"),
            parts.ledger,
            parts.matrix,
            parts.realiser,
            carried=self.carried,
            seen=self.judgements.seen,
            hold_threshold=parts.hold_threshold,
            approvals=parts.approvals,
            reach=reach,
        )

    def _receipt(self, decisions: Decisions, reach: Reach, withdrawn: tuple[str, ...]) -> Receipt:
        judged, promotions = decisions.judged, decisions.promotions
        acted = withdrawn or promotions.resolved or any(not j.recorded_only for j in judged)
        shadow = not reach.commits or not (reach.everywhere or acted)
        withheld = () if shadow else self._withheld(judged, promotions)
        account = self.judgements.account
        return Receipt(
            subject=self.turn.subject,
            message_id=self.turn.message_id,
            minted=self.turn.minted,
            judged=tuple(judged),
            resolved=tuple(promotions.resolved),
            withdrawn=withdrawn,
            forward=forwardable(self.turn.text, withheld),
            withheld=withheld,
            shadow=shadow,
            faults=self._faults(reach),
            model_calls=max(account.calls, self._reported_calls()),
            model_tokens=account.tokens,
            model_ms=round(account.ms, 3),
            gate_ms=round((perf_counter() - self.started) * 1000, 3),
        )

    def _withheld(self, judged: Sequence[Judged], promotions: Promotions) -> tuple[Span, ...]:
        """Statements that must not reach the framework: held, refused, absorbed, echoed."""
        turn = self.turn
        statements = [candidate.evidence.span for candidate in self.judgements.statements]
        spans = [x.candidate.evidence.span for x in judged if _kept_back(x)]
        spans += self.judgements.screening.refused
        spans += [
            done.span
            for done in promotions.resolved
            if done.span is not None and done.resolution is ResolutionType.CONFIRM
        ]
        if turn.source is Source.ASSISTANT:
            spans += self.parts.echoes(turn, statements)
        if turn.source in (Source.TOOL, Source.WEB):
            spans = [Span(start=0, end=len(turn.text))]
        return widened(merged(spans), statements)

    def _keys(self, decisions: Decisions, weighed: Iterable[Weighed]) -> set[FieldKey]:
        book = decisions.book
        keys = {decisions.key(one) for one in weighed}
        for settlement in self.judgements.settled.settlements:
            item = settlement.item
            keys.add(item.key if item.attribute else book.event_key(item.key, item.words))
        return keys

    def _field_of(self, item: StagedItem) -> FieldSpec | None:
        fields = self.parts.scales.fields
        return next((field for field in fields if field.attribute == item.attribute), None)

    def _faults(self, reach: Reach) -> tuple[str, ...]:
        j = self.judgements
        found = [f for w in j.weighed for f in (w.judgement.fault, w.standing.fault) if f]
        stopped = [f"commits are stopped: {reach.tripped}"] if reach.tripped else []
        return tuple(dict.fromkeys([*found, *j.settled.faults, *j.account.faults, *stopped]))

    def _reported_calls(self) -> int:
        """Calls of judges that were handed in as objects and keep no account."""
        judged = sum(w.judgement.model_calls for w in self.judgements.weighed)
        return judged + self.judgements.settled.model_calls


def replayed(recorded: TurnRecord, turn: Turn) -> Receipt:
    """The receipt of a turn that is recorded.

    Raises:
        ProtocolConflictError: it was recorded with other words.
    """
    if recorded.text_sha256 != sha256_of(turn.text):
        raise ProtocolConflictError(turn.message_id, recorded.text_sha256, sha256_of(turn.text))
    return recorded.receipt.model_copy(update={"replayed": True})


def _kept_back(judged: Judged) -> bool:
    decision: Decision = judged.decision
    refused = decision.decision is DecisionType.REJECT and decision.rule != "other_person"
    kept = decision.decision.holds or refused or decision.rule == "absorbed"
    return kept and not judged.recorded_only
