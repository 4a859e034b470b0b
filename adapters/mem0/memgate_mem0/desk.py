"""What both colours of gated memory do around Mem0's own calls. All of it is sync.

An add call goes: `receive` (the gate judges every message), `begin` (a claim, so that one worker
makes the call), Mem0's own call inside `calling`, `conclude` (links, recorded answer, delivery).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from memgate_core.gate import MemoryGate
from memgate_core.model import JsonObject, NativeLink, Receipt, Subject
from memgate_core.projection import DeliveryReport, deliver
from memgate_mem0 import answers
from memgate_mem0.answers import Claim
from memgate_mem0.calls import ActiveCall, active_call, under_way
from memgate_mem0.entries import Entry, doubtful, entries, mark_undelivered
from memgate_mem0.llm_proxy import JudgingLlm
from memgate_mem0.noting import NotingStore
from memgate_mem0.projection import Mem0Projection
from memgate_mem0.raw_messages import drop_repeated, scrub
from memgate_mem0.reception import Reception, receive
from memgate_mem0.scope import MemoryScope


class Desk:
    """The gate's side of one Mem0 memory."""

    def __init__(self, memory: Any, gate: MemoryGate, *, tenant: str, owns_gate: bool) -> None:
        self.gate, self.tenant, self.owns_gate = gate, tenant, owns_gate
        self.projection = Mem0Projection(memory, gate.ledger, gate.asserted)
        gate.attach(self.projection)
        self._memory = memory

    @property
    def name(self) -> str:
        """The projection's name, under which the ledger knows this memory."""
        return self.projection.name

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
            self.projection.scopes[message_id] = reception.scope
        if reception.minted:
            return Claim.FIRST
        found = answers.claim(
            self.gate.ledger,
            reception.subject,
            reception.message_ids[0],
            self.name,
            reception.scope,
            exclusive=bool(getattr(self._memory.vector_store, "is_local", False)),
        )
        if found is Claim.AGAIN:
            self._undo(reception)
        return found

    @contextmanager
    def calling(self, reception: Reception, *, notes: bool = True) -> Iterator[ActiveCall]:
        """Inside it Mem0's LLM is judged and native ids are noted. A failure frees the claim."""
        call = ActiveCall(
            owner=self,
            subject=reception.subject,
            message_ids=reception.message_ids,
            observed_on=reception.occurred_on,
            judges=not reception.shadow,
            notes=notes and not reception.minted,
        )
        try:
            with under_way(call):
                yield call
        except BaseException:
            self.give_up(reception)
            raise

    def give_up(self, reception: Reception) -> None:
        """Frees the claim of a call that failed."""
        self._forget(reception)
        if not reception.minted:
            answers.release(
                self.gate.ledger, reception.subject, reception.message_ids[0], self.name
            )

    def conclude(
        self, reception: Reception, result: JsonObject, call: ActiveCall | None
    ) -> JsonObject:
        """Records what Mem0 answered, delivers what is due, and gives the whole answer."""
        extra = [e for r in reception.receipts for e in entries(r, self.gate.ledger, self.name)]
        whole = {**result, "results": [*result.get("results", []), *extra]} if extra else result
        self._record(reception, whole, self._links(reception, result, call), call)
        if any(receipt.withheld for receipt in reception.receipts):
            scrub(self.projection.natives, self.gate, reception)
        if _has_effects(reception.receipts):
            self.deliver(reception.subject)
        self._forget(reception)
        return self.presented(whole)

    def recorded(self, reception: Reception) -> JsonObject | None:
        """The answer that the same call got before; None while it was not made."""
        record = self.gate.ledger.turn(reception.subject, reception.message_ids[0])
        return answers.result_in(record, self.name)

    def replayed(self, reception: Reception, result: JsonObject) -> JsonObject:
        """A recorded answer once more; what is still due is tried again."""
        self.deliver(reception.subject)
        self._forget(reception)
        return self.presented(result)

    def presented(self, result: JsonObject) -> JsonObject:
        """An answer as it is shown: undelivered promotions say so, doubts stand behind."""
        doubts = [doubtful(doubt) for doubt in self._take_doubts()]
        found = result.get("results")
        if not isinstance(found, list):
            return result
        shown = [*mark_undelivered(found, self.gate.ledger), *doubts]
        return result if shown == found else {**result, "results": shown}

    # --- inside Mem0's own call ----------------------------------------------------------------

    def llm_of(self, llm: Any) -> Any:
        """The LLM as Mem0 sees it: judged during one of our add calls."""
        call = active_call(self)
        return llm if call is None else JudgingLlm(llm, call, self.gate.judge_extracted)

    def store_of(self, store: Any) -> Any:
        """The vector store as Mem0 sees it: noting ids during one of our add calls."""
        call = active_call(self)
        if call is None or not call.notes:
            return store
        return NotingStore(store, call, self.gate.ledger, self.name)

    # --- delivery ----------------------------------------------------------------------------

    def deliver(self, subject: Subject | None = None) -> DeliveryReport:
        """Carries what is due into this memory. Never raises for a store's fault."""
        return deliver(self.gate.ledger, self.projection, subject=subject)

    # --- parts -------------------------------------------------------------------------------

    def _record(
        self,
        reception: Reception,
        whole: JsonObject,
        links: Sequence[NativeLink],
        call: ActiveCall | None,
    ) -> None:
        if not reception.receipts:
            return
        message_id, ledger = reception.message_ids[0], self.gate.ledger
        record = ledger.turn(reception.subject, message_id)
        answer = answers.answer_with(record, self.name, reception.scope, whole)
        self.gate.answered(reception.subject, message_id, answer, links)
        stale = set(call.noted if call else ()) - {link.native_id for link in links}
        if stale:
            self._unlink(reception.subject, stale)

    def _links(
        self, reception: Reception, result: JsonObject, call: ActiveCall | None
    ) -> list[NativeLink]:
        verdicts = call.verdicts if call is not None else {}
        spoken = [h for h in reception.forwarded if h.receipt is not None]
        links = []
        for at, entry in enumerate(result.get("results") or ()):
            verdict = verdicts.get(entry.get("memory", ""))
            if verdict is not None:
                ids, message_id = verdict.fact_ids, verdict.message_id
            else:
                receipt = spoken[at].receipt if at < len(spoken) and "role" in entry else None
                ids, message_id = _carried(receipt), receipt.message_id if receipt else None
            links.append(self._link(reception, entry, ids, message_id))
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

    def _undo(self, reception: Reception) -> None:
        """Takes out what an earlier try of the same call wrote before it broke off."""
        natives, ledger = self.projection.natives, self.gate.ledger
        links = ledger.links(
            self.name, message_id=reception.message_ids[0], subject=reception.subject
        )
        ids = {link.native_id for link in links if not link.fact_ids and not link.staged_ids}
        for native_id in ids:
            natives.remove(natives.main, native_id)
            natives.unlink_entities(native_id, reception.scope.owner)
        natives.purge_history(sorted(ids))
        self._unlink(reception.subject, ids)
        drop_repeated(natives, reception)

    def _unlink(self, subject: Subject, native_ids: set[str]) -> None:
        with self.gate.ledger.write(subject) as tx:
            for native_id in native_ids:
                tx.unlink(self.name, native_id)

    def _forget(self, reception: Reception) -> None:
        for message_id in reception.message_ids:
            self.projection.scopes.pop(message_id, None)

    def _take_doubts(self) -> list[Any]:
        taken, self.projection.doubts[:] = list(self.projection.doubts), []
        return taken


def _carried(receipt: Receipt | None) -> list[str]:
    """Facts of a turn whose words went on to Mem0."""
    if receipt is None:
        return []
    return [
        judged.fact_id
        for judged in receipt.judged
        if judged.fact_id is not None
        and not any(span.overlaps(judged.candidate.evidence.span) for span in receipt.withheld)
    ]


def _has_effects(receipts: Sequence[Receipt]) -> bool:
    """True when a delivery changes what reads show; a new hold alone can wait."""
    return any(
        receipt.resolved or receipt.closings or any(j.fact_id for j in receipt.judged)
        for receipt in receipts
        if not receipt.shadow
    )
