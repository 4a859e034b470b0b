"""Steps 7 and 8 of a turn: decide under the key's lock, and write what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memgate_core.asking import ask
from memgate_core.book import Book, not_before
from memgate_core.endings import ended_facts
from memgate_core.extraction.open_key import open_key
from memgate_core.fields.plain_value import planned_value
from memgate_core.judgement.protocol import Realiser
from memgate_core.language.predicate import find_predicate
from memgate_core.language.tokens import tokenise
from memgate_core.ledger.identity import fact_id_of, payload_hash_of, proposal_id_of, staged_id_of
from memgate_core.ledger.protocol import KeyState, Ledger, ProposalRecord
from memgate_core.model import (
    USER_ENTITY,
    Candidate,
    Decision,
    DecisionType,
    EventType,
    Evidence,
    EvidenceType,
    Fact,
    FactStatus,
    FieldKey,
    Judged,
    ResolutionType,
    Sensitivity,
    StagedItem,
    Turn,
)
from memgate_core.policy.approvals import ApprovalPolicy, dropped
from memgate_core.policy.case import Case, Relation
from memgate_core.policy.lasting import is_lasting
from memgate_core.policy.matrix import Matrix
from memgate_core.policy.rollout import Reach
from memgate_core.promotions import Promotions, Slot, same_claim
from memgate_core.tallies import tally_taken_back
from memgate_core.weighing import Weighed

ISOLATED = "ISOLATED"
"""Status of a proposal that was recorded and not acted on (article: the isolation table)."""

ABSORBED = Decision(
    decision=DecisionType.REAFFIRM,
    rule="absorbed",
    reason="these words confirm a held item, which is written once, as that",
)


@dataclass
class Decisions:
    """Decides the candidates of one turn, in order, inside its transaction."""

    book: Book
    promotions: Promotions
    ledger: Ledger
    matrix: Matrix
    realiser: Realiser
    carried: bool
    """True when the framework's own call carries committed words; False: a projection writes."""
    seen: Mapping[FieldKey, str | None]
    """The current fact's id on each registered key when the turn was judged (races)."""
    hold_threshold: float
    """Speculation probability from which a registered value is not changed, whatever the class."""
    approvals: ApprovalPolicy = field(default_factory=ApprovalPolicy)
    reach: Reach = field(default_factory=Reach)
    withdrawn: frozenset[str] = frozenset()
    """Facts that this very turn took back: that they are gone is no race."""
    judged: list[Judged] = field(default_factory=list)

    def key(self, w: Weighed) -> FieldKey:
        """The key a fact is written under: events of an open key do not replace each other."""
        if w.registered or not _is_event(w):
            return w.key
        return self.book.event_key(w.key, w.candidate.words)

    def decide(self, w: Weighed) -> None:
        """Applies the matrix to one candidate and records what follows."""
        state = self.book.state(self.key(w))
        decision = self._decision(w, state)
        proposal_id = proposal_id_of(self.book.turn.subject, w.key, w.candidate)
        acts = self.reach.acts(w.key, w.match.field)
        staged_id = fact_id = None
        if not acts:
            pass
        elif decision.decision is DecisionType.COMMIT:
            fact_id = self._commit(w, decision, proposal_id, state)
        elif decision.decision is DecisionType.REAFFIRM and state.current is not None:
            fact_id = state.current.fact_id
        elif decision.decision.holds:
            staged_id = self._hold(w, decision, proposal_id)
        judged = Judged(
            candidate=w.candidate,
            judgement=w.judgement,
            standing=w.standing,
            match=w.match,
            key=w.key,
            decision=decision,
            proposal_id=proposal_id,
            staged_id=staged_id,
            fact_id=fact_id,
            recorded_only=not acts,
        )
        self._propose(judged)
        self._ask(judged)
        self.judged.append(judged)

    def _decision(self, w: Weighed, state: KeyState) -> Decision:
        if self._absorbed(w):
            return ABSORBED
        decision = self.matrix.decide(self.case(w, state))
        return dropped(decision) if self.approvals.drops(decision) else decision

    def case(self, w: Weighed, state: KeyState) -> Case:
        """The candidate as the matrix sees it, against what its key holds under the lock."""
        turn = self.book.turn
        return Case(
            evidence=w.judgement.evidence_type,
            source=turn.source,
            standing=w.standing.standing,
            relation=_relation(w, state),
            registered=w.registered,
            own_entity=w.candidate.entity == USER_ENTITY,
            lasting=is_lasting(w.candidate.words),
            sensitivity=w.match.field.sensitivity if w.match.field else Sensitivity.NORMAL,
            exact=w.unspoken or _is_exact(turn, w),
            inferred=not w.candidate.aligned,
            doubtful=w.judgement.hold_probability >= self.hold_threshold,
            unjudged=bool(w.judgement.fault or w.standing.fault),
            tainted=w.tainted or bool(turn.taint),
            secret=w.secret,
            cross_tenant=w.candidate.foreign,
            valid=w.refusal is None,
            raced=self._raced(w, state),
            late=state.current is not None and turn.occurred_at < state.current.valid_from,
        )

    def _commit(self, w: Weighed, decision: Decision, proposal_id: str, state: KeyState) -> str:
        held = None if decision.corrects else self._held_claim(w)
        if held is not None:
            reason = "the user stated the held value as a present fact"
            return self.promotions.promote(held, reason, w.candidate.evidence).fact_id
        if not decision.corrects and (open_plan := self._open_plan(w)) is not None:
            reason = "the user reports as done what was planned"
            slot = self._slot(w)
            return self.promotions.promote(
                open_plan, reason, w.candidate.evidence, slot=slot
            ).fact_id
        current = state.current
        begins = self.realiser.event_time(self.book.turn, w.candidate.words)
        if decision.corrects and current is not None:
            begins = current.valid_from
        fact = self.book.commit(
            self._fact(w, decision, proposal_id, state).model_copy(
                update={"valid_from": not_before(begins, current)}
            )
        )
        self.book.event(EventType.COMMITTED, fact=fact)
        if current is not None:
            status = FactStatus.NEVER_VALID if decision.corrects else FactStatus.SUPERSEDED
            if decision.corrects:
                tally_taken_back(self.book, self.ledger, current)
            self.book.close(current, fact.valid_from, status)
            self.book.states[fact.key] = KeyState(key=fact.key, current=fact, version=fact.version)
        if decision.closes and w.registered:
            self._discard_competitors(w, fact)
        if _is_event(w) and not w.registered:
            self._end_what_is_over(w)
        return fact.fact_id

    def _fact(self, w: Weighed, decision: Decision, proposal_id: str, state: KeyState) -> Fact:
        return Fact(
            fact_id=fact_id_of(proposal_id),
            version=state.version + 1,
            key=state.key,
            entity=w.candidate.entity,
            attribute=w.match.field.attribute if w.match.field else None,
            value=w.candidate.value,
            text=w.candidate.text,
            words=w.candidate.words,
            evidence=w.candidate.evidence,
            valid_from=self.book.turn.occurred_at,
            recorded_at=self.book.recorded_at,
            proposal_id=proposal_id,
            derived_from=(proposal_id,),
            supersedes=state.current.fact_id if state.current else None,
            approved_by=f"rule:{decision.rule}",
            expires_at=w.candidate.expires_at,
            native=self.carried,
        )

    def _hold(self, w: Weighed, decision: Decision, proposal_id: str) -> str:
        planned = self._planned(w)
        for item in self._pending(w):
            if _claims_the_same(item, w, planned.value):
                return self._restate(item, w)
        text = self._would_say(w, planned)
        promote_when, discard_when = self.realiser.conditions(text, planned)
        turn = self.book.turn
        item = StagedItem(
            staged_id=staged_id_of(proposal_id),
            proposal_id=proposal_id,
            key=w.key,
            entity=w.candidate.entity,
            attribute=w.match.field.attribute if w.match.field else None,
            value=planned.value,
            text=text,
            words=w.candidate.words,
            promote_when=promote_when,
            discard_when=discard_when,
            evidence=w.candidate.evidence,
            held_as=decision.decision,
            created_at=turn.occurred_at,
            last_stated_at=turn.occurred_at,
            review_at=self.realiser.review_at(turn, w.candidate),
            expires_at=w.candidate.expires_at,
            session=turn.session,
        )
        self.book.tx.stage(item)
        self.book.event(EventType.STAGED, staged=item)
        return item.staged_id

    def _restate(self, item: StagedItem, w: Weighed) -> str:
        turn = self.book.turn
        if item.evidence.message_id != turn.message_id:
            again = item.model_copy(
                update={
                    "times_stated": item.times_stated + 1,
                    "last_stated_at": max(item.last_stated_at, turn.occurred_at),
                    "review_at": self.realiser.review_at(turn, w.candidate) or item.review_at,
                }
            )
            self.book.move(again)
            self.book.event(EventType.RESTATED, staged=again)
        return item.staged_id

    def _discard_competitors(self, w: Weighed, fact: Fact) -> None:
        for item in self._pending(w):
            reason = f"another value holds now: {fact.text}"
            self.promotions.discard(item, reason, w.candidate.evidence)

    def _end_what_is_over(self, w: Weighed) -> None:
        """Closes open facts that a finished event names as over ("handed the under-9s over")."""
        turn = self.book.turn
        for fact in ended_facts(w.candidate.words, self.ledger, turn.subject):
            current = self.book.state(fact.key).current
            if current is not None and current.fact_id == fact.fact_id:
                at = not_before(self.realiser.event_time(turn, w.candidate.words), fact)
                self.book.close(fact, at, FactStatus.SUPERSEDED)

    def _held_claim(self, w: Weighed) -> StagedItem | None:
        if not w.registered and not (_is_event(w) or _is_result(w)):
            return None
        return next((item for item in self._pending(w) if _claims_the_same(item, w)), None)

    def _open_plan(self, w: Weighed) -> StagedItem | None:
        """A held open plan that this event of a registered field fulfils: the same doing, and the
        plan's own words name the value."""
        value = w.candidate.value
        if not w.registered or not _is_event(w) or value is None:
            return None
        key = FieldKey(subject=self.book.turn.subject, normalized_key=open_key(w.candidate.words))
        for item in self.book.tx.pending_on(key):
            if item.attribute is None and same_claim(value, item.words):
                return item
        return None

    def _slot(self, w: Weighed) -> Slot:
        return Slot(
            key=w.key,
            attribute=w.key.normalized_key,
            value=w.candidate.value,
            text=self._would_say(w, w.candidate),
        )

    def _would_say(self, w: Weighed, candidate: Candidate) -> str:
        return w.key.scope.label(self.realiser.realise(candidate, w.match.field))

    def _planned(self, w: Weighed) -> Candidate:
        """The candidate with the value that would hold, without its plan wording."""
        value = w.said or w.candidate.value
        if not value or not w.registered:
            return w.candidate
        current = self.book.state(w.key).current
        planned = w.said or planned_value(value, current.value if current else None)
        return w.candidate.model_copy(update={"value": planned})

    def _pending(self, w: Weighed) -> list[StagedItem]:
        return list(self.book.tx.pending_on(w.key))

    def _absorbed(self, w: Weighed) -> bool:
        own = w.candidate.entity == USER_ENTITY
        confirmed = [
            done
            for done in self.promotions.resolved
            if done.resolution is ResolutionType.CONFIRM
            and (self.promotions.entities[done.staged_id] == USER_ENTITY) is own
        ]
        if w.registered:
            return any(
                done.attribute == w.key.normalized_key and same_claim(done.value, w.candidate.value)
                for done in confirmed
            )
        speculative = w.judgement.evidence_type is EvidenceType.SPECULATION
        return not speculative and any(
            done.span is not None and done.span.overlaps(w.span) for done in confirmed
        )

    def _raced(self, w: Weighed, state: KeyState) -> bool:
        if not w.registered or w.key not in self.seen or self.seen[w.key] in self.withdrawn:
            return False
        now = state.current.fact_id if state.current else None
        mine = {judged.fact_id for judged in self.judged}
        mine |= {done.fact_id for done in self.promotions.resolved}
        return now != self.seen[w.key] and now not in mine

    def _propose(self, judged: Judged) -> None:
        self.book.tx.save_proposal(
            ProposalRecord(
                proposal_id=judged.proposal_id,
                payload_hash=payload_hash_of(judged.candidate, judged.candidate.expires_at),
                subject=self.book.turn.subject,
                key=judged.key,
                candidate=judged.candidate,
                decision=judged.decision,
                policy_version=self.matrix.version,
                status=ISOLATED if judged.recorded_only else "DECIDED",
                recorded_at=self.book.recorded_at,
                staged_id=judged.staged_id,
                fact_id=judged.fact_id,
            )
        )

    def _ask(self, judged: Judged) -> None:
        """Asks a person about what the gate may not decide; a merged item is asked about once."""
        if judged.staged_id is None or not judged.decision.decision.asks:
            return
        item = self.book.tx.staged(judged.staged_id)
        if item is not None and item.proposal_id == judged.proposal_id:
            payload = payload_hash_of(judged.candidate, judged.candidate.expires_at)
            ask(self.book, item, payload, self.approvals)


def _is_exact(turn: Turn, w: Weighed) -> bool:
    """True when the message holds the very words that the candidate names (article: evidence)."""
    if not w.span.start < w.span.end <= len(turn.text):
        return False
    same = w.candidate.evidence == Evidence.of(turn, w.span)
    return same and w.candidate.words == w.span.of(turn.text)


def _is_result(w: Weighed) -> bool:
    """A state that only an event leaves behind: "the lease is renewed"."""
    predicate = find_predicate(tokenise(w.candidate.words))
    stated = w.judgement.evidence_type is EvidenceType.OTHER and predicate is not None
    return (
        stated
        and predicate is not None
        and predicate.passive
        and not (predicate.negated or predicate.planned or predicate.former)
    )


def _is_event(w: Weighed) -> bool:
    return w.judgement.evidence_type is EvidenceType.COMPLETED_EVENT


def _relation(w: Weighed, state: KeyState) -> Relation:
    current = state.current
    if current is None:
        return Relation.NONE
    if w.registered:
        same = same_claim(current.value, w.candidate.value)
    else:
        same = same_claim(current.words, w.candidate.words)
    return Relation.SAME if same else Relation.DIFFERENT


def _claims_the_same(item: StagedItem, w: Weighed, planned: str | None = None) -> bool:
    """`planned`: the candidate's value as it would be held, where that is worded otherwise."""
    if item.attribute is None or not w.registered:
        return item.attribute is None and not w.registered
    return any(same_claim(item.value, value) for value in (w.candidate.value, planned))
