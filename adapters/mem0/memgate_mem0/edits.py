"""Changes that the application makes to stored memories itself: the ledger keeps step."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memgate_core.model import Fact, FactStatus, JsonObject, NativeLink, Role, Subject
from memgate_mem0.entries import Entry
from memgate_mem0.natives import CLOSED, STAGED
from memgate_mem0.payloads import OURS, closed_payload, part_id
from memgate_mem0.reception import Reception
from memgate_mem0.scope import MemoryScope
from memgate_mem0.siblings import has_entity_store
from memgate_mem0.store_desk import StoreDesk
from memgate_mem0.taking_back import revoke, revoke_subject

# --- update ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Update:
    """An update that the gate has judged."""

    desk: StoreDesk
    memory_id: str
    payload: dict[str, Any]
    reception: Reception
    given: dict[str, Any] | None
    extra: list[Entry] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """The words that may stand; None when all of them are held."""
        return self.reception.heard[0].forward

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The caller's metadata; a memory of the gate's own now carries what the new words say."""
        if OURS not in self.payload:
            return self.given
        fact_ids = self._new_facts()
        return {**(self.given or {}), OURS: {"fact_id": fact_ids[0] if fact_ids else None}}

    def refused(self) -> JsonObject:
        """The answer for a text that is held as a whole."""
        return {"message": "Memory not updated: held, not yet a fact.", "results": self.extra}

    def done(self, result: JsonObject) -> JsonObject:
        """Brings links, closed copies and facts in step with what the memory says now."""
        desk, subject, ledger = self.desk, self.reception.subject, self.desk.gate.ledger
        before = desk.facts_of(self.memory_id, self.payload)
        now = self._new_facts()
        links = [self._link(self.memory_id, now), *self._closed_copies(before, now)]
        answer = {**result, "results": self.extra} if self.extra else result
        desk.gate.answered(subject, self.reception.message_ids[0], {desk.name: answer}, links)
        dropped = [fact.fact_id for fact in before if fact.fact_id not in now]
        current = [i for i in dropped if (f := ledger.fact(i)) and f.status is FactStatus.CURRENT]
        revoke(desk.gate, subject, current)
        desk.deliver(subject)
        return answer

    def _closed_copies(self, before: list[Fact], now: list[str]) -> list[NativeLink]:
        """The old text, kept where the fact it carried was superseded by the new one."""
        natives, links = self.desk.projection.natives, []
        for fact in before:
            fresh = self.desk.gate.ledger.fact(fact.fact_id)
            if fact.fact_id in now or fresh is None or fresh.status is not FactStatus.SUPERSEDED:
                continue
            part = part_id(self.memory_id, fact.fact_id)
            ended = closed_payload(self.payload, fresh)
            natives.put(natives.closed, part, ended, words=str(self.payload.get("data", "")))
            links.append(self._link(part, [fact.fact_id]))
        return links

    def _new_facts(self) -> list[str]:
        receipt = self.reception.receipts[0]
        return [judged.fact_id for judged in receipt.judged if judged.fact_id is not None]

    def _link(self, native_id: str, fact_ids: list[str]) -> NativeLink:
        return NativeLink(
            projection=self.desk.name,
            native_id=native_id,
            fact_ids=tuple(dict.fromkeys(fact_ids)),
            message_id=self.reception.message_ids[0],
        )


def take_update(
    desk: StoreDesk,
    memory_id: str,
    text: str | None,
    metadata: dict[str, Any] | None,
    message_id: str | None,
    occurred_at: datetime | None,
) -> Update | None:
    """Judges an update's new text; None where there is none, or nothing to compare it with."""
    natives = desk.projection.natives
    payload = natives.get(natives.main, memory_id) if text is not None else None
    scope = MemoryScope.of_payload(payload or {})
    if payload is None or scope is None or payload.get("data") == text:
        return None
    role = payload.get("role") if payload.get("role") == Role.ASSISTANT else Role.USER
    said = {"role": str(role), "content": text}
    if payload.get("actor_id"):
        said["name"] = str(payload["actor_id"])
    reception = desk.receive(said, scope, message_id, occurred_at)
    return Update(desk, memory_id, payload, reception, metadata, desk.entries(reception))


# --- delete ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deleted:
    """Where a memory was that the application deletes."""

    subject: Subject | None
    in_main: bool
    """True when it is still there, for Mem0's own delete."""

    @property
    def answer(self) -> JsonObject | None:
        """Mem0's answer for a memory that went with its facts; None for one that never was."""
        return None if self.subject is None else {"message": "Memory deleted successfully!"}


def delete_everywhere(desk: StoreDesk, memory_id: str) -> Deleted:
    """Revokes what a memory carried, in the main or the closed collection; the delivery takes it
    out. A memory that carried no fact is left to Mem0's own delete."""
    natives = desk.projection.natives
    current = natives.get(natives.main, memory_id)
    payload = current if current is not None else natives.get(natives.closed, memory_id)
    scope = MemoryScope.of_payload(payload or {})
    if payload is None or scope is None:
        return Deleted(None, in_main=False)
    subject = scope.subject(desk.tenant)
    open_entity_store(desk)
    revoke(desk.gate, subject, [f.fact_id for f in desk.facts_of(memory_id, payload)])
    natives.remove(natives.closed, memory_id)
    return Deleted(subject, in_main=natives.get(natives.main, memory_id) is not None)


def empty_scope(desk: StoreDesk, scope: MemoryScope) -> None:
    """Revokes everything of a scope and empties the further collections of it; what no fact rests
    on is left to Mem0's own delete_all."""
    subject, natives = scope.subject(desk.tenant), desk.projection.natives
    desk.deliver(subject)
    open_entity_store(desk)
    if scope.ids == scope.owner:
        revoke_subject(desk.gate, subject)
    else:
        revoke(desk.gate, subject, _carried_in(desk, scope))
    for store in (natives.staged, natives.closed):
        for native_id, payload in natives.rows(store, scope.ids):
            if scope.holds(payload):
                natives.remove(store, native_id)


def forget_everything(desk: StoreDesk) -> None:
    """Revokes everything of the tenant and drops the further collections, before Mem0's reset."""
    for subject in desk.gate.ledger.subjects(desk.tenant):
        revoke_subject(desk.gate, subject)
    open_entity_store(desk)
    for suffix in (STAGED, CLOSED):
        desk.projection.natives.drop(suffix)
    desk.projection.natives.forget_siblings()


def open_entity_store(desk: StoreDesk) -> None:
    """Mem0 cleans entity links only in a process that has opened their collection."""
    if has_entity_store(desk.memory):
        _ = desk.memory.entity_store


def _carried_in(desk: StoreDesk, scope: MemoryScope) -> list[str]:
    """What the memories of a run or an agent carry; the subject's other facts stay."""
    natives = desk.projection.natives
    rows = [
        row for store in (natives.main, natives.closed) for row in natives.rows(store, scope.ids)
    ]
    facts = [f.fact_id for row_id, payload in rows for f in desk.facts_of(row_id, payload)]
    held = [
        str(payload.get(OURS, {}).get("staged_id"))
        for _id, payload in natives.rows(natives.staged, scope.ids)
    ]
    return [*facts, *held]
