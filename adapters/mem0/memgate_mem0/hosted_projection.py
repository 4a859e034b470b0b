"""`HostedProjection`: carries ledger events to Mem0's hosted service, through its own client.

The service has one place for memories. Held items stay in the ledger; a fact that ends is deleted
there, and as-of reads are the ledger's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mem0.exceptions import MemoryNotFoundError

from memgate_core.fields.values import same_value
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FactStatus,
    FieldSpec,
    NativeLink,
    Subject,
)
from memgate_mem0.answers import scope_in
from memgate_mem0.legacy import Doubt, Reads
from memgate_mem0.payloads import OURS, fact_text
from memgate_mem0.scope import MemoryScope

MEMORY_KEY = "memgate_memory_id"
"""Metadata key by which a promotion is found again: a second delivery writes nothing."""

_NEAREST = 10


class HostedProjection:
    """One hosted project as the ledger sees it. Implements `memgate_core.projection.Projection`."""

    def __init__(
        self,
        client: Any,
        ledger: Ledger,
        name: str,
        *,
        tenant: str = "default",
        fields: Sequence[FieldSpec] = (),
        reads: Reads = lambda _subject, _text: (),
    ) -> None:
        """`client`: a plain sync `MemoryClient`. The rest as for `Mem0Projection`."""
        self.name = name
        self.scopes: dict[str, MemoryScope] = {}
        self.doubts: list[Doubt] = []
        self._client, self._ledger, self._reads = client, ledger, reads
        self._tenant = tenant
        self._phrases = {f.attribute: f.phrase for f in fields if f.phrase is not None}

    def text_of(self, fact: Fact) -> str:
        """How a fact reads as a memory."""
        return fact_text(fact, self._phrases)

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Carries one event to the service and returns what it wrote. Idempotent.

        Raises:
            Exception: whatever the client raises; the event stays due.
        """
        kind = event.event_type
        if event.subject.tenant != self._tenant:
            return ()
        if kind is EventType.ERASED:
            self._erase(event.subject)
            return ()
        if event.fact is None:
            return ()
        fact = self._ledger.fact(event.fact.fact_id) or event.fact
        holds = fact.status is FactStatus.CURRENT and fact.version == event.fact.version
        if kind in (EventType.PROMOTED, EventType.COMMITTED):
            ours = kind is EventType.PROMOTED or not fact.native
            return self._write(event, fact) if holds and ours else ()
        if not holds:
            self._delete(event.subject, event.fact)
        return ()

    def residue(self, needle: Event) -> Sequence[str]:
        """Memories of the service that are still there, by id."""
        if needle.subject.tenant != self._tenant:
            return []
        if needle.event_type is EventType.ERASED:
            rows = self._rows(MemoryScope.of_subject(needle.subject))
            return [f"service: memory {row['id']}" for row in rows]
        if needle.fact is None:
            return []
        ids = self._carriers(needle.subject, needle.fact)
        return [f"service: memory {native_id}" for native_id in ids if self._is_there(native_id)]

    # --- parts -------------------------------------------------------------------------------

    def _write(self, event: Event, fact: Fact) -> Sequence[NativeLink]:
        scope = self._scope_of(event.subject, fact, event.session)
        found = [row["id"] for row in self._rows(scope) if _is_version(row, fact)]
        if not found:
            answer = self._client.add(
                [{"role": "user", "content": self.text_of(fact)}],
                infer=False,
                metadata={
                    OURS: {
                        "fact_id": fact.fact_id,
                        "attribute": fact.attribute,
                        "value": fact.value,
                    },
                    MEMORY_KEY: fact.memory_id,
                    "valid_from": fact.valid_from.isoformat(),
                },
                timestamp=int(fact.valid_from.timestamp()),
                **scope.ids,
            )
            found = _ids_in(answer)
        return [
            NativeLink(
                projection=self.name,
                native_id=str(native_id),
                fact_ids=(fact.fact_id,),
                message_id=fact.evidence.message_id,
                text=self.text_of(fact),
            )
            for native_id in found
        ]

    def _delete(self, subject: Subject, fact: Fact) -> None:
        for native_id in self._carriers(subject, fact):
            self._forget(native_id)
        if fact.attribute is not None and fact.value is not None:
            self._delete_extracted(subject, fact)

    def _carriers(self, subject: Subject, fact: Fact) -> list[str]:
        linked = [link.native_id for link in self._ledger.links(self.name, fact_id=fact.fact_id)]
        rows = self._rows(MemoryScope.of_subject(subject))
        ours = [str(row["id"]) for row in rows if _fact_id(row) == fact.fact_id]
        return list(dict.fromkeys([*linked, *ours]))

    def _delete_extracted(self, subject: Subject, fact: Fact) -> None:
        """What the service's own extraction made of the fact's words: deleted when sure."""
        owner = MemoryScope.of_subject(subject).owner
        found = self._client.search(self.text_of(fact), filters=owner, top_k=_NEAREST)
        for row in found.get("results") or ():
            text, native_id = str(row.get("memory", "")), str(row.get("id"))
            if _fact_id(row) is not None or self._ledger.links(self.name, native_id=native_id):
                continue
            asserted = list(self._reads(subject, text))
            named = [
                value
                for attribute, value in asserted
                if attribute == fact.attribute and same_value(value, str(fact.value))
            ]
            if named and len(asserted) == 1:
                self._forget(native_id)
            elif named:
                self.doubts.append(Doubt(subject, native_id, text))

    def _erase(self, subject: Subject) -> None:
        try:
            self._client.delete_users(**MemoryScope.of_subject(subject).owner)
        except MemoryNotFoundError:
            return  # nothing was ever stored of this subject

    def _forget(self, native_id: str) -> None:
        try:
            self._client.delete(native_id)
        except MemoryNotFoundError:
            return  # an earlier delivery deleted it

    def _is_there(self, native_id: str) -> bool:
        try:
            return bool(self._client.get(native_id))
        except MemoryNotFoundError:
            return False

    def _rows(self, scope: MemoryScope) -> list[dict[str, Any]]:
        """The memories of a scope, page by page."""
        rows: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = self._client.get_all(filters=scope.owner, page=page, page_size=100)
            rows += answer.get("results") or []
            if not answer.get("next"):
                return rows
            page += 1

    def _scope_of(self, subject: Subject, fact: Fact, session: str | None) -> MemoryScope:
        message_id = fact.evidence.message_id
        if message_id in self.scopes:
            return self.scopes[message_id]
        recorded = scope_in(self._ledger.turn(subject, message_id), self.name)
        return recorded or MemoryScope.of_subject(subject, session)


def _is_version(row: Mapping[str, Any], fact: Fact) -> bool:
    return (row.get("metadata") or {}).get(MEMORY_KEY) == fact.memory_id


def _fact_id(row: Mapping[str, Any]) -> str | None:
    ours = (row.get("metadata") or {}).get(OURS)
    found = ours.get("fact_id") if isinstance(ours, Mapping) else None
    return found if isinstance(found, str) else None


def _ids_in(answer: Any) -> list[str]:
    """Ids that the service told; it may answer before it has any."""
    rows = answer.get("results") if isinstance(answer, Mapping) else None
    return [str(row["id"]) for row in rows or () if isinstance(row, Mapping) and row.get("id")]
