"""What the gate does around Mem0's own calls, for a store or a hosted client. All of it is sync.

An add call goes: `receive` (the gate judges every message), `begin` (a claim, so that one worker
makes the call), Mem0's own call with `call_for` under way, `conclude` (links, recorded answer,
delivery).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Protocol

from memgate_core.errors import LedgerError
from memgate_core.gate import MemoryGate
from memgate_core.model import (
    DecisionType,
    Fact,
    FactStatus,
    JsonObject,
    Judged,
    NativeLink,
    Receipt,
    Subject,
)
from memgate_core.projection import DeliveryReport, Projection
from memgate_mem0 import answers
from memgate_mem0.answers import Claim
from memgate_mem0.calls import ActiveCall
from memgate_mem0.entries import Entry, doubtful, entries, mark_undelivered
from memgate_mem0.legacy import Doubt
from memgate_mem0.payloads import fact_id_in
from memgate_mem0.reception import Reception, receive
from memgate_mem0.scope import MemoryScope

_TAKEN_BACK = (FactStatus.REVOKED, FactStatus.NEVER_VALID)
_HISTORY_TEXTS = ("old_memory", "new_memory", "input")
"""Where a line of history holds words, in the open-source store and at the service."""


class Mem0Side(Projection, Protocol):
    """A projection as the desk uses it."""

    scopes: dict[str, MemoryScope]
    doubts: list[Doubt]

    def text_of(self, fact: Fact) -> str:
        """How a fact reads as a memory."""
        ...


class Desk:
    """The gate's side of one Mem0 memory."""

    exclusive = False
    """True when no other process can hold the store."""

    def __init__(
        self, gate: MemoryGate, projection: Mem0Side, *, tenant: str, owns_gate: bool
    ) -> None:
        self.gate, self.tenant, self.owns_gate = gate, tenant, owns_gate
        self.name = projection.name
        self._side = projection
        self._lock = threading.Lock()
        gate.attach(projection)

    # --- an add call -------------------------------------------------------------------------

    def receive(
        self,
        messages: Any,
        scope: MemoryScope,
        message_id: str | None,
        occurred_at: datetime | None,
    ) -> Reception:
        """Takes the messages through the gate; see `memgate_mem0.reception.receive`."""
        return receive(
            self.gate,
            messages,
            scope,
            tenant=self.tenant,
            message_id=message_id,
            occurred_at=occurred_at,
        )

    def begin(self, reception: Reception) -> Claim:
        """Claims the call. After a try that broke off, what it wrote is taken out first."""
        for message_id in reception.message_ids:
            self._side.scopes[message_id] = reception.scope
        if reception.minted:
            return Claim.FIRST
        found = answers.claim(
            self.gate.ledger,
            reception.subject,
            reception.message_ids[0],
            self.name,
            reception.scope,
            exclusive=self.exclusive,
        )
        if found is Claim.AGAIN:
            self._undo_or_give_up(reception)
        return found

    def call_for(self, reception: Reception) -> ActiveCall:
        """What stands inside Mem0's own call: its LLM is judged, its native ids are noted."""
        return ActiveCall(
            owner=self,
            subject=reception.subject,
            message_ids=reception.message_ids,
            observed_on=reception.occurred_on,
            judges=not reception.shadow,
            notes=not reception.minted,
        )

    def give_up(self, reception: Reception) -> None:
        """Frees the claim of a call that failed: the next try need not wait."""
        self._forget(reception)
        if not reception.minted:
            answers.release(
                self.gate.ledger, reception.subject, reception.message_ids[0], self.name
            )

    def conclude(self, reception: Reception, result: JsonObject, call: ActiveCall) -> JsonObject:
        """Records what Mem0 answered, delivers what is due, and gives the whole answer."""
        extra = self.entries(reception)
        whole = {**result, "results": [*result.get("results", []), *extra]} if extra else result
        self.tidy(reception)
        self._record(reception, whole, self._links(reception, result, call), call)
        if self._is_due(reception):
            self.deliver(reception.subject)
        self._forget(reception)
        return self.presented(whole, reception.subject)

    def replayed(self, reception: Reception) -> JsonObject:
        """The answer that the same call got before; what is still due is tried again."""
        record = self.gate.ledger.turn(reception.subject, reception.message_ids[0])
        self.deliver(reception.subject)
        self._forget(reception)
        result = answers.result_in(record, self.name) or {"results": []}
        return self.presented(result, reception.subject)

    def entries(self, reception: Reception) -> list[Entry]:
        """What the gate did with each turn, in its own order."""
        return [e for r in reception.receipts for e in entries(r, self.gate.ledger, self.name)]

    def presented(self, result: JsonObject, subject: Subject) -> JsonObject:
        """An answer as it is shown: undelivered promotions say so, and the subject's doubts stand
        behind."""
        found = result.get("results")
        if not isinstance(found, list):
            return result
        shown = [*mark_undelivered(found, self.gate.ledger), *self._doubts_of(subject)]
        return result if shown == found else {**result, "results": shown}

    def _doubts_of(self, subject: Subject) -> list[Entry]:
        """Takes out what was left in doubt about this subject, and nobody else."""
        with self._lock:
            mine = [doubt for doubt in list(self._side.doubts) if doubt.subject == subject]
            for doubt in mine:
                self._side.doubts.remove(doubt)
        return [doubtful(doubt) for doubt in mine]

    # --- what differs between a store and a hosted client -----------------------------------------

    def undo(self, reception: Reception) -> None:
        """Takes out what an earlier try of the same call wrote before it broke off."""

    def tidy(self, reception: Reception) -> None:
        """Looks after what Mem0 keeps beside its memories."""

    def older_may_stand(self, subject: Subject) -> bool:  # noqa: ARG002
        """False where no memory from before the gate can contradict what was said now."""
        return True

    # --- reads -------------------------------------------------------------------------------

    def before_read(self, filters: Mapping[str, Any] | None) -> None:
        """Delivers what is due for the subject that a read asks about."""
        scope = MemoryScope.of_filters(filters)
        self.deliver(scope.subject(self.tenant) if scope is not None else None)

    def readable(self, result: JsonObject) -> JsonObject:
        """A read's result without what the ledger says no read may show."""
        found = result.get("results")
        if not isinstance(found, list):
            return result
        shown = [row for row in found if self.may_be_read(row)]
        return result if len(shown) == len(found) else {**result, "results": shown}

    def readable_one(self, row: JsonObject | None) -> JsonObject | None:
        """A single memory, unless the ledger says that no read may show it."""
        return row if row is None or self.may_be_read(row) else None

    def readable_history(self, memory_id: str, rows: list[JsonObject]) -> list[JsonObject]:
        """Mem0's lines of a memory, without the texts of what was revoked: event and time stay."""
        facts = self.facts_of(memory_id, {})
        gone = [fact for fact in facts if fact.status is FactStatus.REVOKED]
        if not gone:
            return rows
        whole = len(gone) == len(facts)
        return [_without_texts(row, lambda text: whole or _tells(gone, text)) for row in rows]

    def may_be_read(self, row: JsonObject) -> bool:
        """False for a promotion whose native write is not acknowledged, and for a memory that
        ended facts alone rest on, or that still has revoked words (its change is due)."""
        facts = self.facts_of(str(row["id"]), row.get("metadata") or {})
        text = str(row.get("memory", ""))
        if any(f.status in _TAKEN_BACK and f.words and f.words in text for f in facts):
            return False
        return not facts or any(f.native and f.status is FactStatus.CURRENT for f in facts)

    def facts_of(self, native_id: str, metadata: Mapping[str, Any]) -> list[Fact]:
        """The facts that a memory carries, or did, as the ledger has them now."""
        ledger = self.gate.ledger
        links = ledger.links(self.name, native_id=native_id)
        ids = [fact_id for link in links for fact_id in link.fact_ids]
        if (own := fact_id_in(metadata)) is not None:
            ids.append(own)
        found = [ledger.fact(fact_id) for fact_id in dict.fromkeys(ids)]
        return [fact for fact in found if fact is not None]

    # --- delivery ----------------------------------------------------------------------------

    def deliver(self, subject: Subject | None = None) -> DeliveryReport:
        """Carries what is due into this memory, and into whatever else is attached to its gate: a
        promotion is readable once all of them took it. Never raises for a store's fault."""
        reports = {report.projection: report for report in self.gate.deliver(subject=subject)}
        return reports[self.name]

    def deliver_before_closing(self) -> None:
        """Delivers what is due. A ledger that is closed or busy must not keep Mem0 open: what is
        due stays due."""
        with suppress(LedgerError):
            self.deliver()

    # --- parts -------------------------------------------------------------------------------

    def _is_due(self, reception: Reception) -> bool:
        """True when a delivery changes what reads show. A new hold, or a fact that Mem0's own call
        has just carried, can wait for the next one: every read delivers first."""
        judged = [receipt for receipt in reception.receipts if not receipt.shadow]
        if any(_has_effects(receipt) for receipt in judged):
            return True
        return any(_gives_a_field(r) for r in judged) and self.older_may_stand(reception.subject)

    def _undo_or_give_up(self, reception: Reception) -> None:
        try:
            self.undo(reception)
        except BaseException:
            self.give_up(reception)
            raise

    def _record(
        self,
        reception: Reception,
        whole: JsonObject,
        links: Sequence[NativeLink],
        call: ActiveCall,
    ) -> None:
        if not reception.receipts:
            return
        message_id, ledger = reception.message_ids[0], self.gate.ledger
        record = ledger.turn(reception.subject, message_id)
        answer = answers.answer_with(record, self.name, reception.scope, whole)
        self.gate.answered(reception.subject, message_id, answer, links)
        self.unlink(reception.subject, set(call.noted) - {link.native_id for link in links})

    def _links(
        self, reception: Reception, result: JsonObject, call: ActiveCall
    ) -> list[NativeLink]:
        """Which of Mem0's new memories carries which facts: by the verdict on its text, or by the
        message that it is (infer=False stores one memory a message, in order)."""
        spoken = [h.receipt for h in reception.forwarded if h.receipt is not None]
        links = []
        for at, entry in enumerate(result.get("results") or ()):
            verdict = call.verdicts.get(entry.get("memory", ""))
            receipt = spoken[at] if at < len(spoken) and "role" in entry else None
            ids = verdict.fact_ids if verdict is not None else _carried(receipt)
            said_in = verdict.message_id if verdict is not None else _id(receipt)
            if entry.get("id") is not None and reception.message_ids:
                links.append(self._link(reception, entry, ids, said_in))
        return links

    def _link(
        self, reception: Reception, entry: Entry, ids: Sequence[str], message_id: str | None
    ) -> NativeLink:
        return NativeLink(
            projection=self.name,
            native_id=str(entry["id"]),
            fact_ids=tuple(dict.fromkeys(ids)),
            message_id=message_id or reception.message_ids[0],
            text=entry.get("memory"),
        )

    def unlink(self, subject: Subject, native_ids: Collection[str]) -> None:
        """Forgets native objects that are not there (any more)."""
        if not native_ids:
            return
        with self.gate.ledger.write(subject) as tx:
            for native_id in native_ids:
                tx.unlink(self.name, native_id)

    def _forget(self, reception: Reception) -> None:
        for message_id in reception.message_ids:
            self._side.scopes.pop(message_id, None)


def _carried(receipt: Receipt | None) -> tuple[str, ...]:
    """Facts of a turn whose words went on to Mem0."""
    if receipt is None:
        return ()
    return tuple(
        judged.fact_id
        for judged in receipt.judged
        if judged.fact_id is not None
        and not any(span.overlaps(judged.candidate.evidence.span) for span in receipt.withheld)
    )


def _id(receipt: Receipt | None) -> str | None:
    return receipt.message_id if receipt is not None else None


def _has_effects(receipt: Receipt) -> bool:
    """True for a turn that settled or ended something, or with a committed fact whose words were
    kept back."""
    carried = set(_carried(receipt))
    kept_back = any(j.fact_id not in carried for j in _committed(receipt))
    return bool(receipt.resolved or receipt.closings or receipt.withdrawn or kept_back)


def _gives_a_field(receipt: Receipt) -> bool:
    """True for a committed fact of a registered field: an older memory of it may still stand."""
    return any(j.match.field is not None for j in _committed(receipt))


def _committed(receipt: Receipt) -> list[Judged]:
    return [j for j in receipt.judged if j.decision.decision is DecisionType.COMMIT]


def _without_texts(row: JsonObject, hidden: Callable[[str], bool]) -> JsonObject:
    """A line of history with None in place of each hidden text."""
    texts = {name: row.get(name) for name in _HISTORY_TEXTS}
    return {**row, **{name: None for name, text in texts.items() if text and hidden(str(text))}}


def _tells(facts: Iterable[Fact], text: str) -> bool:
    """True when the text holds the words, the wording or the value of one of the facts."""
    told = (part for fact in facts for part in (fact.words, fact.text, fact.value) if part)
    return any(part.casefold() in text.casefold() for part in told)
