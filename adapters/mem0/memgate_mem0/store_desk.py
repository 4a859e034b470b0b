"""The desk of an open-source Mem0 memory: its stores are in our hands."""

from __future__ import annotations

from typing import Any

from memgate_core.gate import MemoryGate
from memgate_core.model import Subject
from memgate_mem0.calls import active_call
from memgate_mem0.desk import Desk
from memgate_mem0.legacy import all_unlinked
from memgate_mem0.llm_proxy import JudgingLlm
from memgate_mem0.noting import NotingStore
from memgate_mem0.projection import Mem0Projection
from memgate_mem0.raw_messages import drop_repeated, scrub
from memgate_mem0.reception import Reception
from memgate_mem0.scope import MemoryScope


class StoreDesk(Desk):
    """The gate's side of a `Memory` or `AsyncMemory`."""

    def __init__(self, memory: Any, gate: MemoryGate, *, tenant: str, owns_gate: bool) -> None:
        self.memory = memory
        self.projection = Mem0Projection(
            memory,
            gate.ledger,
            tenant=tenant,
            fields=gate.fields,
            reads=gate.asserted,
        )
        super().__init__(gate, self.projection, tenant=tenant, owns_gate=owns_gate)

    @property
    def exclusive(self) -> bool:  # type: ignore[override]
        """An embedded Qdrant folder lets no other process in."""
        return bool(getattr(self.memory.vector_store, "is_local", False))

    def memory_parts(self) -> dict[str, Any]:
        """The wrapped memory's own parts: config, embedder, LLM, reranker, database."""
        return dict(self.memory.__dict__)

    def before_get(self, memory_id: str) -> None:
        """Delivers what is due for the subject of a memory."""
        payload = self.projection.natives.get(self.projection.natives.main, memory_id)
        scope = MemoryScope.of_payload(payload or {})
        if scope is not None:
            self.deliver(scope.subject(self.tenant))

    # --- inside Mem0's own call ----------------------------------------------------------------

    def llm_of(self, llm: Any) -> Any:
        """The LLM as Mem0 sees it: judged during one of our add calls."""
        call = active_call(self)
        return llm if call is None else JudgingLlm(llm, call, self.gate.judge_extracted)

    def store_of(self, store: Any) -> Any:
        """The vector store as Mem0 sees it: noting ids during one of our add calls."""
        call = active_call(self)
        if call is None:
            return store
        strangers = self.projection.natives.strangers
        return NotingStore(store, call, self.gate.ledger, self.name, strangers)

    # --- around it ---------------------------------------------------------------------------

    def give_up(self, reception: Reception) -> None:
        """As for any desk; what Mem0 wrote before the call failed may have stayed unlinked."""
        self.projection.natives.strangers.forget()
        super().give_up(reception)

    def undo(self, reception: Reception) -> None:
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
        self.unlink(reception.subject, ids)
        drop_repeated(natives, reception)

    def older_may_stand(self, subject: Subject) -> bool:
        """False where every memory of the subject is known to the gate. A store that does not
        answer may hold anything: the delivery then meets the same fault, and reports it."""
        try:
            found = all_unlinked(self.projection, subject)
        except Exception:
            return True
        return found is None or bool(found)

    def tidy(self, reception: Reception) -> None:
        """Keeps held words out of Mem0's last raw messages."""
        if any(receipt.withheld for receipt in reception.receipts):
            scrub(self.projection.natives, self.gate, reception)
