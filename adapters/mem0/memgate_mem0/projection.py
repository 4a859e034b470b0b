"""`Mem0Projection`: carries ledger events into Mem0's collections.

Each event is applied towards what the ledger says *now* of the fact or item it names, so that a
second or late delivery changes nothing: main holds what is current, `_staged` what is held,
`_closed` what was superseded; what was corrected or revoked is nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memgate_core.ledger.protocol import Ledger
from memgate_core.model import (
    Event,
    EventType,
    Fact,
    FactStatus,
    FieldSpec,
    NativeLink,
    StagedItem,
    StagedStatus,
    Subject,
)
from memgate_mem0 import legacy, residue
from memgate_mem0.answers import scope_in
from memgate_mem0.carriers import Carriers
from memgate_mem0.erasing import erase_subject
from memgate_mem0.natives import Natives
from memgate_mem0.payloads import (
    closed_payload,
    fact_payload,
    fact_text,
    promoted_id,
    staged_native_id,
    staged_payload,
)
from memgate_mem0.scope import MemoryScope


class Mem0Projection:
    """One Mem0 memory as the ledger sees it. Implements `memgate_core.projection.Projection`."""

    def __init__(
        self,
        memory: Any,
        ledger: Ledger,
        *,
        tenant: str = "default",
        fields: Sequence[FieldSpec] = (),
        reads: legacy.Reads = lambda _subject, _text: (),
    ) -> None:
        """`tenant`: whose memory this is; events of others pass it by, though one ledger may
        serve many. `fields`: how facts of registered fields are worded. `reads`: what a text
        asserts of a subject, for memories from before the gate (`MemoryGate.asserted`)."""
        self.name = f"mem0:{memory.collection_name}"
        self.natives = Natives(memory)
        self.carriers = Carriers(self.natives, ledger, self.name, self.text_of)
        self.scopes: dict[str, MemoryScope] = {}
        """Scopes of calls that are under way, by message id."""
        self.doubts: list[legacy.Doubt] = []
        """Older memories that may contradict a new fact and were left alone."""
        self._ledger, self._reads, self._tenant = ledger, reads, tenant
        self._phrases = {f.attribute: f.phrase for f in fields if f.phrase is not None}

    # --- the Projection contract -------------------------------------------------------------

    def apply(self, event: Event) -> Sequence[NativeLink]:
        """Carries one event natively and returns what it wrote. Idempotent.

        Raises:
            Exception: whatever Mem0's stores raise; the event stays due.
        """
        kind = event.event_type
        if event.subject.tenant != self._tenant:
            return ()
        if kind is EventType.ERASED:
            erase_subject(self.natives, self._ledger, self.name, event.subject)
            return ()
        if event.staged is not None:
            self._hold(event)
        if event.fact is None:
            return self._held_links(event)
        if kind in (EventType.PROMOTED, EventType.COMMITTED):
            return [*self._write(event, event.fact), *self._held_links(event)]
        return self._take_out(event, event.fact)

    def residue(self, needle: Event) -> Sequence[str]:
        """Where traces of what was taken away are still found, by name; empty when clean."""
        if needle.subject.tenant != self._tenant:
            return ()
        return residue.find(self.natives, self._ledger, self.name, needle)

    # --- held items --------------------------------------------------------------------------

    def _hold(self, event: Event) -> None:
        """Brings the staging collection in step with the item as it is now."""
        assert event.staged is not None
        item = self._ledger.staged_item(event.staged.staged_id) or event.staged
        native_id = staged_native_id(self.name, item.staged_id)
        if item.status is not StagedStatus.PENDING:
            self.natives.remove(self.natives.staged, native_id)
            return
        ids = self.scope_of(event.subject, item.evidence.message_id, item.session).stored
        payload = staged_payload(item, ids)
        words = f"{item.text}\n{item.words}"
        self.natives.put(self.natives.staged, native_id, payload, words=words)

    def _held_links(self, event: Event) -> Sequence[NativeLink]:
        if event.staged is None or not _is_held(event.staged):
            return ()
        return [
            NativeLink(
                projection=self.name,
                native_id=staged_native_id(self.name, event.staged.staged_id),
                staged_ids=(event.staged.staged_id,),
                message_id=event.staged.evidence.message_id,
            )
        ]

    # --- facts -------------------------------------------------------------------------------

    def _write(self, event: Event, told: Fact) -> Sequence[NativeLink]:
        """Writes a fact natively, unless Mem0's own call carried it or it no longer holds."""
        fact = self._ledger.fact(told.fact_id) or told
        if fact.status is not FactStatus.CURRENT or fact.version != told.version:
            return ()
        if event.event_type is EventType.PROMOTED and event.staged is None:
            self.carriers.reopen(fact)
        legacy.close_older(self, event.subject, fact, self._reads)
        if not self._is_ours_to_write(event, fact):
            return ()
        return [self.write_fact(fact, event.subject, event.session)]

    def text_of(self, fact: Fact) -> str:
        """How a fact reads as a memory."""
        return fact_text(fact, self._phrases)

    def write_fact(self, fact: Fact, subject: Subject, session: str | None) -> NativeLink:
        """Puts a fact into the main collection under its own id.

        The point itself comes last: until it is there, no reader can see anything.
        """
        native_id = promoted_id(self.name, fact)
        ids = self.scope_of(subject, fact.evidence.message_id, session).stored
        text = self.text_of(fact)
        payload = fact_payload(fact, text, ids)
        at = payload["created_at"]
        self.natives.note_history(native_id, "ADD", old=None, new=text, at=at)
        self.natives.put(self.natives.main, native_id, payload, words=text)
        return self._link_to(native_id, fact, text)

    def _link_to(self, native_id: str, fact: Fact, text: str) -> NativeLink:
        return NativeLink(
            projection=self.name,
            native_id=native_id,
            fact_ids=(fact.fact_id,),
            message_id=fact.evidence.message_id,
            text=text,
        )

    def _is_ours_to_write(self, event: Event, fact: Fact) -> bool:
        """A promotion is written once, unless a live memory of the same words carries the fact
        already (a later message that repeats it is a memory of its own, whichever of the two
        comes first: test_a_repetition_that_overtakes_the_promotion); a commit only where the
        words were kept from Mem0's own call."""
        confirmed_now = event.event_type is EventType.PROMOTED and event.staged is not None
        told_by = fact.evidence.message_id if confirmed_now else None
        carried = self.carriers.live(fact, told_by=told_by)
        if carried:
            return carried == [promoted_id(self.name, fact)]
        if event.event_type is EventType.PROMOTED or not fact.native:
            return True
        record = self._ledger.turn(event.subject, fact.evidence.message_id)
        withheld = record.receipt.withheld if record is not None else ()
        return any(span.overlaps(fact.evidence.span) for span in withheld)

    def _take_out(self, event: Event, told: Fact) -> Sequence[NativeLink]:
        fact = self._ledger.fact(told.fact_id) or told
        if fact.status is FactStatus.CURRENT and fact.version == told.version:
            return ()
        if told.status is FactStatus.SUPERSEDED and fact.status is FactStatus.SUPERSEDED:
            if moved := self.carriers.close(told):
                return moved
            legacy.close_named(self, event.subject, told, self._reads)
            return self._past(event, told)
        return self.carriers.delete(told)

    def _past(self, event: Event, fact: Fact) -> Sequence[NativeLink]:
        """Writes a superseded fact straight into the closed collection where no memory ever
        carried it: it was promoted and ended before anything could be delivered."""
        if self.carriers.known(fact):
            return ()
        native_id, text = promoted_id(self.name, fact), self.text_of(fact)
        ids = self.scope_of(event.subject, fact.evidence.message_id, event.session).stored
        payload = closed_payload(fact_payload(fact, text, ids), fact)
        self.natives.put(self.natives.closed, native_id, payload, words=text)
        return [self._link_to(native_id, fact, text)]

    def linked(self, subject: Subject) -> frozenset[str]:
        """Ids of all memories that the gate knows of a subject."""
        links = self._ledger.links(self.name, subject=subject)
        return frozenset(link.native_id for link in links)

    def is_linked(self, native_id: str) -> bool:
        """True when the gate knows where this memory came from."""
        return bool(self._ledger.links(self.name, native_id=native_id))

    def scope_of(self, subject: Subject, message_id: str, session: str | None) -> MemoryScope:
        """The scope that a memory made of this message belongs to: that of the message's call."""
        if message_id in self.scopes:
            return self.scopes[message_id]
        recorded = scope_in(self._ledger.turn(subject, message_id), self.name)
        return recorded or MemoryScope.of_subject(subject, session)


def _is_held(item: StagedItem) -> bool:
    return item.status is StagedStatus.PENDING
